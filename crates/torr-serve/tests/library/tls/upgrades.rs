//! A connection over TLS that becomes something else: the bytes of a WebSocket, by way of hyper.

use super::scene::{Scene, Secure};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use torr_serve::App;
use torr_test_support::client::get;

/// Switches protocols, then sends back whatever comes.
async fn switch(mut request: Request) -> Response {
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let mut stream = TokioIo::new(upgrade.await.expect("the connection is given up"));
        let mut bytes = vec![0; 100_000];
        while let Ok(n @ 1..) = stream.read(&mut bytes).await {
            stream.write_all(&bytes[..n]).await.expect("the client takes it");
            stream.flush().await.expect("the client takes it");
        }
        stream.shutdown().await.expect("the end can be told");
    });
    Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header("Connection", "Upgrade")
        .header("Upgrade", "websocket")
        .body(axum::body::Body::empty())
        .expect("it is an answer")
}

fn router() -> axum::Router {
    axum::Router::new().route("/socket", axum::routing::get(switch)).fallback(|| async { "router" })
}

#[test]
fn frames_go_both_ways() {
    go_both_ways(&Scene::with(App::new().router(router()), |_, _| {}));
}

#[test]
fn frames_go_both_ways_where_the_handler_runs_on_another_thread() {
    let app = App::new().metrics("/metrics").router(router()).computes("/socket").computes("/");
    let scene = Scene::with(app, |_, _| {});
    go_both_ways(&scene);
    let metrics = scene.client().get("/metrics");
    assert!(metrics.contains("\ntorr_handler_moved_total 6\n"), "{metrics}");
}

/// Upgrades connections on which there were requests before, and others.
fn go_both_ways(scene: &Scene) {
    let ask = "GET /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    // A masked text frame, as RFC 6455, section 5.7 has it, and a large one.
    let hello = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
    let large: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 253) as u8).collect();
    for before in [0, 3] {
        let mut client = scene.client();
        for _ in 0..before {
            assert_eq!(client.get("/"), "router");
        }
        // The first frame may come with the request.
        client.send([ask.as_bytes(), &hello].concat());
        let head = String::from_utf8(client.until(b"\r\n\r\n")).expect("a head is text");
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        assert_eq!(client.exactly(hello.len()), hello);
        for piece in large.chunks(60_000) {
            client.send(piece);
            assert!(client.exactly(piece.len()) == piece);
        }
        client.stream.conn.send_close_notify();
        client.stream.conn.complete_io(&mut client.stream.sock).expect("the server takes it");
        assert_eq!(client.ends(), (true, vec![]));
    }
    let mut client = scene.client();
    client.send(get("/"));
    assert_eq!(client.response().1, b"router");
}

#[test]
fn an_unused_offer_leaves_the_connection_secured_and_strict() {
    let router = axum::Router::new().fallback(|| async { "router" });
    let scene = Scene::with(App::new().router(router), |_, _| {});
    let offer = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n";
    let mut client = scene.client();
    // hyper writes the names of fields in its own way.
    let answered = |client: &mut Secure| {
        let head = String::from_utf8(client.until(b"\r\n\r\n")).expect("a head is text").to_ascii_lowercase();
        assert!(head.starts_with("http/1.1 200 ") && head.contains("\r\ncontent-length: 6\r\n"), "{head}");
        assert_eq!(client.exactly(6), b"router");
    };
    for _ in 0..3 {
        client.send(offer.to_owned() + &get("/") + offer);
        (0..3).for_each(|_| answered(&mut client));
        assert_eq!(client.get("/"), "router");
    }
    client.send(offer.to_owned() + "GET / HTTP/1.1\r\n\r\n" + &get("/"));
    answered(&mut client);
    let head = String::from_utf8(client.until(b"\r\n\r\n")).expect("a head is text");
    assert!(head.starts_with("HTTP/1.1 400 "), "{head}");
}
