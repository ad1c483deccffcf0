//! What axum programs commonly do, moved by the line alone.

use super::scene::{compare, flavours, free_port, in_time};
use crate::support::PATIENCE;
use axum::Router;
use axum::extract::ws::{Message, WebSocket};
use axum::extract::{State, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::Sse;
use axum::response::sse::Event;
use axum::routing::{get, post};
use futures_util::stream;
use std::convert::Infallible;
use std::net::{SocketAddr, TcpStream as StdTcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{sleep, timeout};
use torr_serve::Settings;
use torr_test_support::client::Client;
use tungstenite::Message as ClientMessage;
use ureq::Agent;

/// A pool of connections to a server that echoes bytes; both belong to the runtime that makes the pool.
#[derive(Clone)]
struct Pool {
    connections: Arc<Mutex<Vec<TcpStream>>>,
    free: Arc<Semaphore>,
}

impl Pool {
    async fn new(connections: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.split();
                    tokio::io::copy(&mut from, &mut to).await
                });
            }
        });
        let mut open = Vec::new();
        for _ in 0..connections {
            open.push(TcpStream::connect(address).await.expect("it listens"));
        }
        Self { connections: Arc::new(Mutex::new(open)), free: Arc::new(Semaphore::new(connections)) }
    }

    /// Sends a byte over a connection and waits for its echo, at most for three seconds as the pool of sqlx does.
    async fn query(&self) -> Result<(), &'static str> {
        let query = async {
            let _permit = self.free.acquire().await.expect("it is never closed");
            let mut connection = self.connections.lock().expect("nothing panics").pop().expect("the permit is for one");
            connection.write_all(b"x").await.expect("it is open");
            let echo = connection.read_u8().await.expect("it is open");
            assert_eq!(echo, b'x');
            self.connections.lock().expect("nothing panics").push(connection);
        };
        timeout(Duration::from_secs(3), query).await.map_err(|_| "stalled")
    }
}

#[test]
fn a_pool_that_was_made_before_serves_all_workers() {
    let make = async || {
        let query = |State(pool): State<Pool>| async move {
            pool.query().await.map_or_else(|why| (StatusCode::INTERNAL_SERVER_ERROR, why), |()| (StatusCode::OK, "row"))
        };
        (Router::new().route("/", get(query)).with_state(Pool::new(3).await), ())
    };
    let talk = |address: SocketAddr, _stop| {
        let ask = move || (0..20).map(|_| Client::connect(address).get("/").status).collect::<Vec<_>>();
        let clients: Vec<_> = (0..6).map(|_| thread::spawn(ask)).collect();
        let mut said: Vec<_> = clients.into_iter().flat_map(|client| client.join().expect("no panic")).collect();
        // One after the other, with idle workers in between.
        let mut client = Client::connect(address);
        said.extend((0..40).map(|_| client.get("/").status));
        said
    };
    let (said, ()) = compare(make, talk, async |()| ());
    assert_eq!(said, [200; 160]);
}

#[test]
fn tasks_timers_and_blocking_calls_of_handlers_work() {
    let make = async || {
        let spawned = || async {
            let task = tokio::spawn(async {
                sleep(Duration::from_millis(2)).await;
                "spawned"
            });
            task.await.expect("it does not panic")
        };
        let blocking = || async { spawn_blocking(|| "blocked").await.expect("it does not panic") };
        let slept = || async {
            sleep(Duration::from_millis(2)).await;
            "slept"
        };
        let own = || async {
            spawn_blocking(|| {
                tokio::runtime::Handle::current().block_on(async {
                    sleep(Duration::from_millis(2)).await;
                    "driven"
                })
            })
            .await
            .expect("it does not panic")
        };
        let router = Router::new().route("/spawned", get(spawned)).route("/blocking", get(blocking));
        (router.route("/slept", get(slept)).route("/own", get(own)), ())
    };
    let talk = |address: SocketAddr, _stop| {
        let mut client = Client::connect(address);
        ["/spawned", "/blocking", "/slept", "/own"].map(|path| client.get(path).text().to_owned())
    };
    let (said, ()) = compare(make, talk, async |()| ());
    assert_eq!(said, ["spawned", "blocked", "slept", "driven"]);
}

#[test]
fn work_that_a_handler_leaves_behind_is_finished_in_the_program() {
    type Tracker = Arc<Mutex<JoinSet<&'static str>>>;
    let make = async || {
        let tracker = Tracker::default();
        let leave = |State(tracker): State<Tracker>| async move {
            tracker.lock().expect("nothing panics").spawn(async {
                sleep(Duration::from_millis(50)).await;
                "done"
            });
            "later"
        };
        (Router::new().route("/", post(leave)).with_state(Arc::clone(&tracker)), tracker)
    };
    let talk = |address: SocketAddr, stop| {
        let mut client = Client::connect(address);
        client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
        let said = client.response().text().to_owned();
        drop(stop);
        said
    };
    let after = async |tracker: Tracker| {
        let tasks = std::mem::take(&mut *tracker.lock().expect("nothing panics"));
        tasks.join_all().await
    };
    let (said, done) = compare(make, talk, after);
    assert_eq!((&*said, &*done), ("later", &["done"][..]));
}

#[test]
fn a_request_in_flight_is_answered_after_the_signal() {
    let make = async || {
        let slow = || async {
            sleep(Duration::from_millis(100)).await;
            "in time"
        };
        (Router::new().route("/", get(slow)), ())
    };
    let talk = |address: SocketAddr, stop: oneshot::Sender<()>| {
        let mut client = Client::connect(address);
        // Its end shows that the server has received the request behind it.
        client.send("GET /none HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n");
        let first = client.response().status;
        drop(stop);
        let said = client.response().text().to_owned();
        client.ends();
        (first, said)
    };
    let (said, ()) = compare(make, talk, async |()| ());
    assert_eq!(said, (404, "in time".to_owned()));
}

async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        sleep(Duration::from_millis(1)).await;
        if matches!(message, Message::Text(_)) && socket.send(message).await.is_err() {
            return;
        }
    }
}

#[test]
fn a_websocket_is_served_by_a_task_of_the_program() {
    let make = async || {
        let upgrade = |upgrade: WebSocketUpgrade| async { upgrade.on_upgrade(echo) };
        (Router::new().route("/", get(upgrade)), ())
    };
    let talk = |address: SocketAddr, _stop| {
        let stream = StdTcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        let (mut socket, _) = tungstenite::client(format!("ws://{address}/"), stream).expect("it is upgraded");
        let said: Vec<_> = (0..20)
            .map(|number| {
                socket.send(ClientMessage::text(number.to_string())).expect("it is open");
                socket.read().expect("it echoes").into_text().expect("it is text").to_string()
            })
            .collect();
        socket.close(None).expect("it is open");
        while socket.read().is_ok() {}
        said
    };
    let (said, ()) = compare(make, talk, async |()| ());
    assert_eq!(said, (0..20).map(|number| number.to_string()).collect::<Vec<_>>());
}

/// `axum::serve` ends without waiting for WebSockets, whose tasks go on as long as the program does. This server ends them, after
/// `stream_stop_timeout`, and then ends itself.
#[test]
fn a_stop_ends_websockets_which_axum_leaves_open() {
    for is_ours in [false, true] {
        let runtime = flavours().into_iter().next().expect("there is a runtime");
        in_time(&runtime, async {
            let upgrade = |upgrade: WebSocketUpgrade| async { upgrade.on_upgrade(echo) };
            let app = Router::new().route("/", get(upgrade));
            let (listener, address) = free_port().await;
            let (stop, stopped) = oneshot::channel::<()>();
            let connect = spawn_blocking(move || {
                let stream = StdTcpStream::connect(address).expect("it listens");
                stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
                let (mut socket, _) = tungstenite::client(format!("ws://{address}/"), stream).expect("it is upgraded");
                socket.send(ClientMessage::text("before")).expect("it is open");
                assert_eq!(socket.read().expect("it echoes"), ClientMessage::text("before"));
                drop(stop);
                socket
            });
            let signal = async { drop(stopped.await) };
            let mut settings = Settings::default();
            settings.stream_stop_timeout = Duration::from_millis(200);
            let served = async {
                match is_ours {
                    false => axum::serve(listener, app).with_graceful_shutdown(signal).await,
                    true => torr_serve::serve(listener, app).settings(settings).with_graceful_shutdown(signal).await,
                }
            };
            let (served, socket) = tokio::join!(served, connect);
            served.expect("it ends well");
            let mut socket = socket.expect("it does not panic");
            let echoes = spawn_blocking(move || {
                let sent = socket.send(ClientMessage::text("after"));
                sent.is_ok() && socket.read().is_ok_and(|message| message == ClientMessage::text("after"))
            });
            assert_eq!(echoes.await.expect("it does not panic"), !is_ours);
        });
    }
}

#[test]
fn server_sent_events_wait_on_timers_of_the_program() {
    let make = async || {
        let events = || async {
            Sse::new(stream::unfold(0, |number| async move {
                sleep(Duration::from_millis(2)).await;
                (number < 5).then(|| (Ok::<_, Infallible>(Event::default().data(number.to_string())), number + 1))
            }))
        };
        (Router::new().route("/", get(events)), ())
    };
    let talk = |address: SocketAddr, _stop| {
        let agent: Agent = Agent::config_builder().proxy(None).timeout_global(Some(PATIENCE)).build().into();
        let mut response = agent.get(format!("http://{address}/")).call().expect("it is served");
        response.body_mut().read_to_string().expect("the body is text")
    };
    let (said, ()) = compare(make, talk, async |()| ());
    assert_eq!(said, "data: 0\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\n");
}
