//! Sockets, timers and tasks that handlers make on a worker's runtime, while the worker is idle and when the server stops;
//! and servers that are started where a runtime is.

use crate::support::{PATIENCE, Running};
use axum::Router;
use axum::extract::Path;
use axum::routing::get as on_get;
use bytes::Bytes;
use http_body::Frame;
use http_body_util::StreamBody;
use std::convert::Infallible;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Handle};
use tokio::sync::watch;
use tokio::task::{block_in_place, spawn_blocking};
use tokio::time::{sleep, timeout};
use torr_serve::{App, Request, Response, ServeError, Server};
use torr_test_support::client::Client;

/// How long a handler waits for what takes a millisecond.
const STALLED: Duration = Duration::from_secs(5);

/// The name of the calling thread.
fn this_thread() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

/// A server that sends back what it receives, one byte at a time.
fn echo_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a client connects");
            thread::spawn(move || {
                let mut byte = [0];
                while stream.read_exact(&mut byte).is_ok() && stream.write_all(&byte).is_ok() {}
            });
        }
    });
    address
}

/// Sends a byte and waits until it comes back.
async fn ping(stream: &mut TcpStream) -> Result<(), String> {
    let exchange = async {
        stream.write_all(b"x").await?;
        stream.read_u8().await
    };
    match timeout(STALLED, exchange).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("stalled".to_owned()),
    }
}

/// One client for each of two workers.
fn one_of_each(server: &Running) -> [Client; 2] {
    let mut found: [Option<Client>; 2] = [None, None];
    // The kernel spreads connections by a hash of their ports.
    for _ in 0..200 {
        let mut client = server.client();
        let number = match client.get("/who").text() {
            "serve-0" => 0,
            "serve-1" => 1,
            other => panic!("{other} is no worker"),
        };
        found[number].get_or_insert(client);
        if let [Some(_), Some(_)] = found {
            break;
        }
    }
    found.map(|client| client.expect("each worker gets some of 200 connections"))
}

fn two_workers(app: App) -> Running {
    Running::start_with(app, |settings| settings.workers = 2)
}

/// A pool of connections as most drivers of databases have one, which hands out the connection that was returned last.
#[test]
fn a_connection_of_a_pool_works_on_every_worker() {
    let (pool, backend) = (Arc::new(Mutex::new(Vec::<TcpStream>::new())), echo_server());
    let (give, take) = (Arc::clone(&pool), pool);
    let connect = move || {
        let pool = Arc::clone(&give);
        async move {
            let stream = TcpStream::connect(backend).await.expect("the backend listens");
            pool.lock().expect("nobody has panicked").push(stream);
            "connected"
        }
    };
    let ask = move || {
        let pool = Arc::clone(&take);
        async move {
            let stream = pool.lock().expect("nobody has panicked").pop();
            let mut stream = stream.expect("there is a connection");
            let received = ping(&mut stream).await;
            pool.lock().expect("nobody has panicked").push(stream);
            received.map_or_else(|error| error, |()| "pong".to_owned())
        }
    };
    let router = Router::new()
        .route("/who", on_get(|| async { this_thread() }))
        .route("/connect", on_get(connect))
        .route("/ask", on_get(ask));
    let server = two_workers(App::new().router(router));
    let mut clients = one_of_each(&server);
    for order in [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1], [0, 0, 1, 1], [1, 1, 0, 0]] {
        let [makes, then @ ..] = order;
        assert_eq!(clients[makes].get("/connect").text(), "connected", "{order:?}");
        for worker in then {
            assert_eq!(clients[worker].get("/ask").text(), "pong", "worker {worker} in {order:?}");
        }
    }
}

/// What a handler leaves to others: a thing of one kind at a time, since one that is driven would drive the others.
struct Left {
    ended: Sender<()>,
    sockets: Sender<TcpStream>,
    backend: SocketAddr,
}

const KINDS: [&str; 5] = ["task", "blocking", "thread", "timer", "socket"];

impl Left {
    /// Leaves something behind that needs the runtime which the calling handler runs on.
    fn leave(&self, what: &str) {
        let (pause, ended) = (Duration::from_millis(20), self.ended.clone());
        let end = move || ended.send(()).unwrap_or_default();
        let handle = Handle::current();
        match what {
            "task" => drop(tokio::spawn(async move {
                sleep(pause).await;
                end();
            })),
            "blocking" => drop(spawn_blocking(move || {
                handle.block_on(sleep(pause));
                end();
            })),
            "thread" => drop(thread::spawn(move || {
                handle.block_on(async { sleep(pause).await });
                end();
            })),
            // It belongs to this runtime, and is awaited on another one.
            "timer" => {
                let timer = sleep(pause);
                thread::spawn(move || {
                    Builder::new_current_thread().build().expect("it starts").block_on(timer);
                    end();
                });
            }
            _ => {
                let stream = std::net::TcpStream::connect(self.backend).expect("the backend listens");
                stream.set_nonblocking(true).expect("a socket takes options");
                self.sockets.send(TcpStream::from_std(stream).expect("a socket can be watched")).unwrap_or_default();
            }
        }
    }
}

/// The test's end of [`Left`].
struct Seen {
    ended: Receiver<()>,
    sockets: Receiver<TcpStream>,
}

impl Seen {
    /// Whether what a handler left comes to its end, without further requests.
    fn ends(&self, what: &str, of: &str) {
        if what == "socket" {
            let runtime = Builder::new_current_thread().enable_time().build().expect("it starts");
            let mut socket = self.sockets.recv_timeout(PATIENCE).expect("the handler makes a socket");
            assert_eq!(runtime.block_on(ping(&mut socket)), Ok(()), "{what} of {of}");
        } else {
            assert_eq!(self.ended.recv_timeout(STALLED), Ok(()), "{what} of {of}");
        }
    }
}

fn leaver() -> (Arc<Left>, Seen) {
    let ((ended, end), (sockets, socket)) = (channel(), channel());
    (Arc::new(Left { ended, sockets, backend: echo_server() }), Seen { ended: end, sockets: socket })
}

fn simple(left: &Left, request: &Request<'_>) -> Response {
    left.leave(request.param("what").unwrap_or_default());
    Response::text("left")
}

#[test]
fn what_a_handler_leaves_to_others_is_driven_while_its_worker_is_idle() {
    type Make = fn(Arc<Left>) -> App;
    let apps: [(&str, Make); 5] = [
        ("a controller alone", |left| App::new().get("/{what}", move |request| simple(&left, request))),
        ("a controller beside a blocking handler", |left| {
            let app = App::new().get("/{what}", move |request| simple(&left, request));
            app.get_blocking("/a/b", |_| Response::text("done"))
        }),
        ("a controller beside a router", |left| {
            App::new().get("/{what}", move |request| simple(&left, request)).router(Router::new())
        }),
        ("an async handler", |left| {
            App::new().get_async("/{what}", move |request| {
                let (left, what) = (Arc::clone(&left), request.param("what").unwrap_or_default().to_owned());
                async move {
                    left.leave(&what);
                    Response::text("left")
                }
            })
        }),
        ("a router", |left| {
            let handler = |Path(what): Path<String>| async move {
                left.leave(&what);
                "left"
            };
            App::new().router(Router::new().route("/{what}", on_get(handler)))
        }),
    ];
    for (of, make) in apps {
        let (left, seen) = leaver();
        let server = Running::start(make(left));
        let mut client = server.client();
        for what in KINDS.into_iter().chain(KINDS.into_iter().rev()) {
            assert_eq!(client.get(&format!("/{what}")).text(), "left", "{what} of {of}");
            seen.ends(what, of);
        }
        server.stop();
        server.wait().expect("it ends well");
    }
}

/// Whether the thread waits in a poller that watches another poller, as tokio's does that watches the engine's.
fn waits_through_tokio(thread: &str) -> bool {
    let start = Instant::now();
    loop {
        assert!(start.elapsed() < PATIENCE, "{thread} never waits");
        let call = fs::read_to_string(format!("/proc/{thread}/syscall")).expect("a thread may be looked at");
        // The number of the call, and its first argument, a descriptor; or a word, if the thread is running.
        let argument = call.split_whitespace().nth(1).and_then(|argument| argument.strip_prefix("0x"));
        let descriptor = argument.and_then(|argument| u32::from_str_radix(argument, 16).ok());
        let watched = descriptor.and_then(|fd| fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).ok());
        let watched = watched.unwrap_or_default();
        let watched: Vec<_> =
            watched.lines().filter_map(|line| line.strip_prefix("tfd:")?.split_whitespace().next()).collect();
        if !watched.is_empty() {
            let is_poller = |fd: &&str| {
                fs::read_link(format!("/proc/self/fd/{fd}")).is_ok_and(|of| of.ends_with("anon_inode:[eventpoll]"))
            };
            return watched.iter().any(is_poller);
        }
        thread::yield_now();
    }
}

fn this_task() -> String {
    fs::read_link("/proc/thread-self").expect("there is /proc").display().to_string()
}

#[test]
fn an_idle_worker_waits_without_tokio_only_where_nothing_can_need_tokio() {
    let who = || App::new().get("/", |_| Response::text(this_task()));
    let frames = || {
        futures_util::stream::once(Box::pin(async {
            sleep(Duration::from_millis(1)).await;
            Ok::<_, Infallible>(Frame::data(Bytes::from_static(b"late")))
        }))
    };
    let cases = [
        (false, who()),
        (false, who().get_blocking("/blocking", |_| Response::text("done")).metrics("/metrics")),
        (
            false,
            who().get("/spawn", |_| {
                tokio::spawn(std::future::pending::<()>());
                Response::text("spawned")
            }),
        ),
        // The body is polled in the context of the background runtime, as the controller is called.
        (false, who().get("/stream", move |_| Response::stream("a/b", StreamBody::new(frames())))),
        // From here on code of the application has run on the worker's runtime.
        (true, who().get_async("/async", |_| async { Response::text("done") })),
        (true, who().router(Router::new())),
    ];
    for (number, (expected, app)) in cases.into_iter().enumerate() {
        let server = Running::start_with(app, |settings| settings.task_stop_timeout = Duration::ZERO);
        let mut client = server.client();
        for path in ["/spawn", "/blocking"] {
            client.get(path);
        }
        let mut once = server.client().sender();
        once.write_all(b"GET /stream HTTP/1.0\r\n\r\n").expect("it is connected");
        once.read_to_end(&mut Vec::new()).expect("it ends");
        for _ in 0..3 {
            let thread = client.get("/").text().to_owned();
            assert_eq!(waits_through_tokio(&thread), expected, "{number}");
        }
    }
}

/// The server itself asks a body for its frames, so they are the application's code as well.
#[test]
fn what_the_body_of_a_response_leaves_to_others_is_driven() {
    for what in KINDS {
        for pause in [None, Some(Duration::from_millis(1))] {
            let (left, seen) = leaver();
            let app = App::new().get("/", move |_| {
                let left = Arc::clone(&left);
                let frames = futures_util::stream::once(async move {
                    if let Some(pause) = pause {
                        sleep(pause).await;
                    }
                    left.leave(what);
                    Ok::<_, Infallible>(Frame::data(Bytes::from_static(b"left")))
                });
                Response::stream("text/plain", StreamBody::new(Box::pin(frames)))
            });
            let server = Running::start(app);
            let mut client = server.client();
            client.send("GET / HTTP/1.0\r\n\r\n");
            seen.ends(what, &format!("a body that waits for {pause:?}"));
        }
    }
}

/// What starts a task and responds at once.
type Spawn = Arc<dyn Fn() + Send + Sync>;

/// Applications of each kind, with a handler that calls this.
fn spawning(spawn: &Spawn) -> [(&'static str, App); 3] {
    let handler = |spawn: &Spawn| {
        let spawn = Arc::clone(spawn);
        move || {
            spawn();
            Response::text("spawned")
        }
    };
    let (controller, waiting, routed) = (handler(spawn), handler(spawn), Arc::clone(spawn));
    let routed = || async move {
        routed();
        "spawned"
    };
    [
        ("a controller alone", App::new().get("/", move |_| controller())),
        ("an async handler", App::new().get_async("/", move |_| std::future::ready(waiting()))),
        ("a router", App::new().router(Router::new().route("/", on_get(routed)))),
    ]
}

#[test]
fn tasks_that_handlers_have_spawned_end_before_the_server_does() {
    let (ended, end) = channel();
    let spawn: Spawn = Arc::new(move || {
        let (one, two) = (ended.clone(), ended.clone());
        tokio::spawn(async move {
            sleep(Duration::from_millis(300)).await;
            one.send("task").unwrap_or_default();
        });
        spawn_blocking(move || {
            thread::sleep(Duration::from_millis(600));
            two.send("blocking").unwrap_or_default();
        });
    });
    for (of, app) in spawning(&spawn) {
        let server = Running::start(app);
        assert_eq!(server.client().get("/").text(), "spawned", "{of}");
        server.stop();
        server.wait().expect("it ends well");
        assert_eq!(end.try_iter().collect::<Vec<_>>(), ["task", "blocking"], "{of}");
    }
}

#[test]
fn tasks_that_never_end_are_dropped_when_time_is_up() {
    const SHORT: Duration = Duration::from_millis(400);
    let (dropped, drops) = channel();
    struct Guard(Sender<()>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.send(()).unwrap_or_default();
        }
    }
    let spawn: Spawn = Arc::new(move || {
        let guard = Guard(dropped.clone());
        tokio::spawn(async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        });
    });
    for (of, app) in spawning(&spawn) {
        let server = Running::start_with(app, |settings| settings.stop_timeout = SHORT);
        assert_eq!(server.client().get("/").text(), "spawned", "{of}");
        let start = Instant::now();
        server.stop();
        server.wait().expect("it ends well");
        let took = start.elapsed();
        assert!(took + Duration::from_millis(20) >= SHORT && took < Duration::from_secs(15), "{of}: it took {took:?}");
        drops.try_recv().unwrap_or_else(|error| panic!("{of}: the task was not dropped: {error}"));
    }
}

/// As a driver's task does that serves a connection as long as there is a handle of it.
#[test]
fn tasks_that_serve_what_the_application_holds_do_not_hold_up_the_end() {
    let (open, closed) = watch::channel(());
    let open = Arc::new(open);
    let spawn: Spawn = Arc::new(move || {
        // The application has the sender.
        let (_held, mut closed) = (Arc::clone(&open), closed.clone());
        tokio::spawn(async move { while closed.changed().await.is_ok() {} });
    });
    let apps = spawning(&spawn);
    drop(spawn);
    let mut servers = Vec::new();
    for (of, app) in apps {
        // Two workers: each lets go of its part.
        let server = two_workers(app);
        for _ in 0..20 {
            assert_eq!(server.client().get("/").text(), "spawned", "{of}");
        }
        servers.push(server);
    }
    // They share what they hold.
    let start = Instant::now();
    servers.iter().for_each(Running::stop);
    servers.iter().for_each(|server| server.wait().expect("it ends well"));
    assert!(start.elapsed() < Duration::from_secs(15), "it took {:?}", start.elapsed());
}

#[test]
fn a_server_is_refused_where_it_would_block_async_code() {
    let refused = || {
        let app = || App::new().get("/", |_| Response::text("fine"));
        let bound = || Server::new(app()).bind("127.0.0.1:0").expect("a port is free");
        for refused in [app().serve("127.0.0.1:0"), bound().run(), bound().run_until_signal()] {
            assert!(matches!(refused, Err(ServeError::InAsync)), "{refused:?}");
            let line = refused.expect_err("it is an error").to_string();
            assert!(line.contains("tokio::task::spawn_blocking") && !line.contains('\n'), "{line}");
        }
    };
    let single = Builder::new_current_thread().build().expect("it starts");
    let many = tokio::runtime::Runtime::new().expect("it starts");
    single.block_on(async { refused() });
    many.block_on(async { refused() });
    many.block_on(async { tokio::spawn(async move { refused() }).await.expect("it does not panic") });
    // As soon as a budget is used up, it is limited as well.
    single.block_on(async {
        for _ in 0..1000 {
            tokio::task::coop::consume_budget().await;
        }
        refused();
    });
}

#[test]
fn a_server_runs_where_blocking_is_allowed() {
    let runs = || {
        let app = App::new().get("/", |_| Response::text("fine"));
        let bound = Server::new(app).bind("127.0.0.1:0").expect("a port is free");
        bound.stop().stop();
        bound.run().expect("it is allowed to run");
    };
    runs();
    let many = tokio::runtime::Runtime::new().expect("it starts");
    many.block_on(async move { spawn_blocking(runs).await.expect("it does not panic") });
    many.block_on(async move { tokio::spawn(async move { block_in_place(runs) }).await.expect("it does not panic") });
    let _context = many.enter();
    runs();
}
