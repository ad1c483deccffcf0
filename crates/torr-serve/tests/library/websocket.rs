//! A WebSocket of axum's through the hand-over, by the rules of RFC 6455: its frames on the wire.

mod cases;
pub mod frames;

use crate::support::Running;
use axum::Router;
use axum::extract::WebSocketUpgrade;
use axum::extract::ws::{Message, WebSocket};
use axum::routing::any;
use cases::{Case, End, MOST};
use frames::{CLOSE, Client, Frame, TEXT, frame};
use futures_util::{SinkExt, StreamExt};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};
use torr_serve::App;

async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if matches!(message, Message::Text(_) | Message::Binary(_)) && socket.send(message).await.is_err() {
            return;
        }
    }
}

fn start() -> Running {
    let upgrade =
        |upgrade: WebSocketUpgrade| async { upgrade.max_message_size(MOST).max_frame_size(MOST).on_upgrade(echo) };
    Running::start(App::new().router(Router::new().route("/", any(upgrade))))
}

/// The code of a close.
fn code(close: &Frame) -> Option<u16> {
    assert_eq!(close.opcode, CLOSE, "{close:?}");
    Some(u16::from_be_bytes([*close.payload.first()?, *close.payload.get(1)?]))
}

/// What goes wrong with a case, if anything does.
fn check(case: &Case, server: &Running) -> Result<(), String> {
    // Shown if the test fails, and then the last one may be what it waited for.
    println!("{} {}", case.section, case.name);
    let mut client = Client::open(server.address, "/");
    let (mut sender, sent, pieces) = (Client::on(&client), case.sent.clone(), case.pieces.min(case.sent.len().max(1)));
    // The echo comes while more is being sent.
    let sending = thread::spawn(move || sender.send_in(&sent, pieces));
    for expected in &case.back {
        match client.frame() {
            Some(got) if got == *expected => {}
            got => return Err(format!("expected {expected:?}, got {got:?}")),
        }
    }
    let ended = |client: &mut Client| match client.frame() {
        None => Ok(()),
        more => Err(format!("expected the end, got {more:?}")),
    };
    match case.end {
        End::Open => {
            sending.join().expect("it does not panic");
            client.send(frame(TEXT, "still here"));
            let (got, expected) = (client.frame(), Frame { opcode: TEXT, payload: b"still here".to_vec() });
            if got.as_ref() != Some(&expected) {
                return Err(format!("expected it to be open, got {got:?}"));
            }
        }
        End::Closes(expected) => {
            let got = client.frame().ok_or("no close came back")?;
            if code(&got) != expected {
                return Err(format!("expected a close with {expected:?}, got {got:?}"));
            }
            ended(&mut client)?;
        }
        End::Fails => match client.frame() {
            None => {}
            Some(close) if close.opcode == CLOSE && matches!(code(&close), Some(1002 | 1007 | 1009)) => {
                ended(&mut client)?;
            }
            other => return Err(format!("expected it to fail, got {other:?}")),
        },
    }
    Ok(())
}

#[test]
fn every_case_has_its_end() {
    let server = start();
    let cases = cases::all();
    let failures: Vec<_> = cases
        .iter()
        .filter_map(|case| Some(format!("{} {}: {}", case.section, case.name, check(case, &server).err()?)))
        .collect();
    assert!(failures.is_empty(), "{} of {} fail:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// The task that serves a WebSocket need not be on the worker's runtime, and its worker may be idle otherwise.
#[test]
fn a_websocket_that_is_handed_to_another_runtime_is_served_there() {
    let (give, mut sockets) = tokio::sync::mpsc::unbounded_channel::<WebSocket>();
    let serving = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("it starts");
        runtime.block_on(async {
            let mut tasks = tokio::task::JoinSet::new();
            while let Some(socket) = sockets.recv().await {
                tasks.spawn(echo(socket));
            }
            while tasks.join_next().await.is_some() {}
        });
    });
    let upgrade = move |upgrade: WebSocketUpgrade| {
        let give = give.clone();
        async move { upgrade.on_upgrade(|socket| async move { drop(give.send(socket)) }) }
    };
    let app = App::new().router(Router::new().route("/", any(upgrade)));
    let server = Running::start_with(app, |settings| settings.stream_stop_timeout = Duration::from_millis(200));
    let mut clients = [(); 3].map(|()| Client::open(server.address, "/"));
    for _ in 0..3 {
        for client in &mut clients {
            client.send(frame(TEXT, "hello"));
            assert_eq!(client.frame(), Some(Frame { opcode: TEXT, payload: b"hello".to_vec() }));
        }
    }
    let start = Instant::now();
    server.stop();
    server.wait().expect("it ends well");
    clients.iter_mut().for_each(|client| assert_eq!(client.frame(), None));
    assert!(start.elapsed() < Duration::from_secs(15), "it took {:?}", start.elapsed());
    serving.join().expect("it does not panic");
}

#[test]
fn a_websocket_sees_the_end_when_the_server_stops_and_its_handler_may_finish() {
    let (ended, end) = channel();
    let upgrade = move |upgrade: WebSocketUpgrade| {
        let ended = ended.clone();
        async move {
            upgrade.on_upgrade(|socket| async move {
                echo(socket).await;
                tokio::time::sleep(Duration::from_millis(100)).await;
                ended.send("finished").unwrap_or_default();
            })
        }
    };
    let app = App::new().router(Router::new().route("/", any(upgrade)));
    let server = Running::start_with(app, |settings| settings.stream_stop_timeout = Duration::from_millis(300));
    let mut client = Client::open(server.address, "/");
    server.stop();
    // As long as it may go on, it does.
    client.send(frame(TEXT, "hello"));
    assert_eq!(client.frame(), Some(Frame { opcode: TEXT, payload: b"hello".to_vec() }));
    let start = Instant::now();
    server.wait().expect("it ends well");
    assert_eq!(end.try_recv(), Ok("finished"));
    assert_eq!(client.frame(), None);
    assert!(start.elapsed() < Duration::from_secs(15), "it took {:?}", start.elapsed());
}

/// The end has to wake the task that reads, whichever of the two has last waited for the socket.
#[test]
fn a_websocket_that_two_tasks_share_sees_the_end_in_both() {
    let (ended, end) = channel();
    let upgrade = move |upgrade: WebSocketUpgrade| {
        let ended = ended.clone();
        async move {
            upgrade.on_upgrade(|socket| async move {
                let (mut sink, mut stream) = socket.split();
                let writing = tokio::spawn(async move {
                    while sink.send(Message::Text("tick".into())).await.is_ok() {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                });
                while let Some(Ok(_)) = stream.next().await {}
                ended.send("read to the end").unwrap_or_default();
                writing.await.expect("it does not panic");
                ended.send("written to the end").unwrap_or_default();
            })
        }
    };
    let app = App::new().router(Router::new().route("/", any(upgrade)));
    let server = Running::start_with(app, |settings| settings.stream_stop_timeout = Duration::from_millis(300));
    let mut client = Client::open(server.address, "/");
    assert!(client.frame().is_some());
    let start = Instant::now();
    server.stop();
    while client.frame().is_some() {}
    server.wait().expect("it ends well");
    assert_eq!(end.try_iter().collect::<Vec<_>>(), ["read to the end", "written to the end"]);
    assert!(start.elapsed() < Duration::from_secs(15), "it took {:?}", start.elapsed());
}
