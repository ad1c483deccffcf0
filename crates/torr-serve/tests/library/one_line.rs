//! `torr_serve::serve` instead of `axum::serve`: the same programs under both, in runtimes of both flavours.

mod applications;
mod patterns;
mod reloads;
mod scene;

use crate::router::http2;
use crate::support::PATIENCE;
use axum::extract::ConnectInfo;
use axum::routing::get;
use axum::{Extension, Router};
use scene::{flavours, free_port, in_time};
use std::future::{IntoFuture, pending};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use tokio::task::spawn_blocking;
use torr_serve::{App, ConnectionInfo, Response, Server, Settings, serve};
use torr_test_support::client::Client;

fn hello() -> Router {
    Router::new().route("/", get(|| async { "hello" }))
}

/// What a server says to a `GET /` that ends its connection.
fn ask(mut stream: impl Read + Write) -> String {
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("it takes the request");
    let mut all = String::new();
    stream.read_to_string(&mut all).expect("it responds");
    all.rsplit("\r\n\r\n").next().unwrap_or_default().to_owned()
}

async fn ask_at(address: SocketAddr) -> String {
    let request = spawn_blocking(move || {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        ask(stream)
    });
    request.await.expect("it does not panic")
}

#[test]
fn the_client_has_an_address_as_under_axum() {
    let who = |ConnectInfo(address): ConnectInfo<SocketAddr>| async move { address.to_string() };
    let app = Router::new().route("/", get(who));
    for runtime in flavours() {
        in_time(&runtime, async {
            let (listener, address) = free_port().await;
            let (stop, stopped) = oneshot::channel::<()>();
            let client = async {
                let (said, expected) = spawn_blocking(move || {
                    let stream = TcpStream::connect(address).expect("it listens");
                    let local = stream.local_addr().expect("it is connected");
                    (ask(stream), local.to_string())
                })
                .await
                .expect("it does not panic");
                assert_eq!(said, expected);
                drop(stop);
            };
            let app = app.clone().into_make_service_with_connect_info::<SocketAddr>();
            let served = serve(listener, app).with_graceful_shutdown(async { drop(stopped.await) });
            let (served, ()) = tokio::join!(served.into_future(), client);
            served.expect("it ends well");
        });
    }
}

#[test]
fn every_listener_and_every_kind_of_application_is_served() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let paths = [folder.path().join("std"), folder.path().join("tokio")];
    for runtime in flavours() {
        in_time(&runtime, async {
            let tcp = TcpListener::bind("127.0.0.1:0").expect("a port is free");
            let address = tcp.local_addr().expect("it is bound");
            let of_std = serve(tcp, hello().into_make_service());
            assert_eq!(of_std.local_addr().expect("it is bound"), address);
            paths.iter().for_each(|path| drop(std::fs::remove_file(path)));
            let unix = UnixListener::bind(&paths[0]).expect("the folder takes a socket");
            let of_unix = serve(unix, hello());
            assert_eq!(of_unix.local_addr().expect("it is bound").as_pathname(), Some(&*paths[0]));
            let unix = tokio::net::UnixListener::bind(&paths[1]).expect("the folder takes a socket");
            let of_tokio = serve(unix, App::new().get("/", |_| Response::text("hello"))).own_runtimes();
            let paths = paths.clone();
            let clients = async {
                assert_eq!(ask_at(address).await, "hello");
                let requests = paths.map(|path| spawn_blocking(|| ask(UnixStream::connect(path).expect("it listens"))));
                for request in requests {
                    assert_eq!(request.await.expect("it does not panic"), "hello");
                }
            };
            // Dropping the servers ends them.
            tokio::select! {
                ended = of_std.into_future() => panic!("it ended: {ended:?}"),
                ended = of_unix.into_future() => panic!("it ended: {ended:?}"),
                ended = of_tokio.into_future() => panic!("it ended: {ended:?}"),
                () = clients => {}
            }
        });
    }
}

#[test]
fn handlers_know_the_process_at_the_other_end_of_a_unix_socket() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("socket");
    let peer = |Extension(info): Extension<ConnectionInfo>| async move { format!("{info:?}") };
    let runtime = flavours().into_iter().next().expect("there is a runtime");
    in_time(&runtime, async {
        let listener = UnixListener::bind(&path).expect("the folder takes a socket");
        let app = App::new().router(Router::new().route("/", get(peer))).connection_as(|info: &ConnectionInfo| *info);
        let client = spawn_blocking(|| ask(UnixStream::connect(path).expect("it listens")));
        tokio::select! {
            ended = serve(listener, app).into_future() => panic!("it ended: {ended:?}"),
            said = client => {
                let own = std::fs::metadata("/proc/self").expect("there is /proc");
                let (pid, uid, gid) = (std::process::id(), own.uid(), own.gid());
                let peer = format!("Some(UnixPeer {{ pid: Some({pid}), uid: {uid}, gid: {gid} }})");
                let info = format!("ConnectionInfo {{ peer: None, local: None, unix_peer: {peer} }}");
                assert_eq!(said.expect("it does not panic"), info);
            }
        }
    });
}

#[test]
fn a_server_that_is_dropped_leaves_its_port_at_once() {
    for runtime in flavours() {
        in_time(&runtime, async {
            let (listener, address) = free_port().await;
            tokio::select! {
                ended = serve(listener, hello()).into_future() => panic!("it ended: {ended:?}"),
                said = ask_at(address) => assert_eq!(said, "hello"),
            }
            assert!(TcpStream::connect(address).is_err(), "nothing listens there any more");
            let again = tokio::net::TcpListener::bind(address).await.expect("the port is free again");
            tokio::select! {
                ended = serve(again, hello()).into_future() => panic!("it ended: {ended:?}"),
                said = ask_at(address) => assert_eq!(said, "hello"),
            }
        });
    }
}

#[test]
fn a_server_that_was_never_awaited_has_served_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    drop(serve(listener, hello()));
    assert!(TcpStream::connect(address).is_err(), "the listener was dropped with it");
}

#[test]
fn handlers_run_in_the_chosen_runtime() {
    let id = || async { Handle::current().id().to_string() };
    let app = || Router::new().route("/", get(id));
    for runtime in flavours() {
        let other = tokio::runtime::Runtime::new().expect("it starts");
        let (mine, others) = (runtime.handle().id().to_string(), other.handle().id().to_string());
        in_time(&runtime, async {
            let [one, two, three, four] = [free_port().await, free_port().await, free_port().await, free_port().await];
            let simple = App::new().get("/", |_| Response::text(Handle::current().id().to_string()));
            let clients = async {
                assert_eq!(ask_at(one.1).await, mine);
                assert_eq!(ask_at(two.1).await, others);
                let own = ask_at(three.1).await;
                assert!(own != mine && own != others);
                assert_eq!(ask_at(four.1).await, mine);
                // Over HTTP/2 a handler is called elsewhere.
                let reported =
                    spawn_blocking(move || http2::Client::connect(one.1).get("/").response().text().to_owned());
                assert_eq!(reported.await.expect("it does not panic"), mine);
            };
            tokio::select! {
                ended = serve(one.0, app()).into_future() => panic!("it ended: {ended:?}"),
                ended = serve(two.0, app()).runtime(other.handle().clone()).into_future() => panic!("it ended: {ended:?}"),
                ended = serve(three.0, app()).own_runtimes().into_future() => panic!("it ended: {ended:?}"),
                ended = serve(four.0, simple).into_future() => panic!("it ended: {ended:?}"),
                () = clients => {}
            }
        });
        other.shutdown_background();
    }
}

#[test]
fn a_stop_gives_requests_the_time_of_the_settings() {
    let begun = Arc::new(Notify::new());
    let begins = Arc::clone(&begun);
    let never = move || {
        begins.notify_one();
        pending::<&str>()
    };
    let app = Router::new().route("/", get(never));
    for runtime in flavours() {
        let (app, begun) = (app.clone(), Arc::clone(&begun));
        in_time(&runtime, async move {
            let (listener, address) = free_port().await;
            let mut settings = Settings::default();
            settings.stop_timeout = Duration::from_millis(50);
            let request = spawn_blocking(move || {
                let mut client = Client::connect(address);
                client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
                client.ends();
            });
            let signal = async move { begun.notified().await };
            let served = serve(listener, app).with_graceful_shutdown(signal).settings(settings);
            served.await.expect("a request that was cut off is no error");
            request.await.expect("it does not panic");
        });
    }
}

#[test]
fn what_cannot_be_served_is_an_error_of_io() {
    for runtime in flavours() {
        in_time(&runtime, async {
            let mut settings = Settings::default();
            settings.processes = 2;
            let (listener, _) = free_port().await;
            let error =
                serve(listener, hello()).settings(settings).await.expect_err("they need listeners of their own");
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert!(error.to_string().contains("processes"), "{error}");
        });
    }
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = taken.local_addr().expect("it is bound");
    let error = io::Error::from(Server::new(App::new()).bind(address).expect_err("the port is taken"));
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    // Without a runtime there is nothing that handlers could run in.
    let served = futures_util::FutureExt::now_or_never(serve(taken, hello()).into_future());
    assert!(served.expect("nothing is waited for").is_err());
}

#[test]
fn a_builder_runs_beside_async_code_and_adopts_a_unix_socket() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("socket");
    for runtime in flavours() {
        let _ = std::fs::remove_file(&path);
        in_time(&runtime, async {
            let listener = UnixListener::bind(&path).expect("the folder takes a socket");
            let bound = Server::new(App::new().router(hello())).on(listener).expect("it listens");
            assert_eq!(bound.unix_path(), Some(&*path));
            let running = bound.run_async();
            let (socket, stop) = (path.clone(), running.stop());
            let request = spawn_blocking(|| ask(UnixStream::connect(socket).expect("it listens")));
            assert_eq!(request.await.expect("it does not panic"), "hello");
            stop.stop();
            running.await.expect("it ends well");
        });
    }
}

#[test]
fn a_runtime_that_ends_ends_its_server() {
    for runtime in flavours() {
        let address = in_time(&runtime, async {
            let (listener, address) = free_port().await;
            tokio::spawn(serve(listener, hello()).into_future());
            assert_eq!(ask_at(address).await, "hello");
            address
        });
        thread::spawn(move || drop(runtime)).join().expect("it does not panic");
        assert!(TcpStream::connect(address).is_err(), "nothing listens there any more");
    }
}
