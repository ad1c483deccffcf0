//! Requests and responses through TLS, in any sizes and pieces.

use super::scene::{Scene, VERSIONS, app};
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::routing::post as axum_post;
use bytes::Bytes;
use futures_util::stream;
use std::convert::Infallible;
use std::io::Write;
use std::process::Command;
use std::sync::Arc;
use torr_serve::{App, Response};
use torr_test_support::client::{get, post};

#[test]
fn large_bodies_go_both_ways_over_either_version() {
    let scene = Scene::with(app(), |settings, _| settings.max_body = 20_000_000);
    for version in VERSIONS {
        let mut client = scene.connect(Arc::new(scene.config(&[version], None)));
        let body: Vec<u8> = (0..10_000_000_u32).map(|n| (n % 251) as u8).collect();
        client.send(format!("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len()));
        client.send(&body);
        assert!(client.response().1 == body, "{version:?}");
        client.send(get("/large/10000001"));
        let (_, response) = client.response();
        assert!(response.len() == 10_000_001 && response.iter().all(|&byte| byte == b'p'), "{version:?}");
        assert_eq!(client.get("/"), "fine", "{version:?}");
    }
}

/// A response of so many frames, which come one by one.
fn frames(count: usize, size: usize) -> Body {
    let frame = move |n| Ok::<_, Infallible>(Bytes::from(vec![b'a' + (n % 26) as u8; size]));
    Body::from_stream(stream::unfold(0, move |n| async move {
        if n % 3 == 0 {
            tokio::task::yield_now().await;
        }
        (n < count).then(|| (frame(n), n + 1))
    }))
}

#[test]
fn streams_go_both_ways() {
    let upload = axum_post(|request: Request| async {
        let body = to_bytes(request.into_body(), usize::MAX).await.expect("it comes to its end");
        format!("{} {}", body.len(), body.iter().map(|&byte| u64::from(byte)).sum::<u64>())
    });
    let router = axum::Router::new().route("/upload", upload).route(
        "/stream/{count}/{size}",
        axum::routing::get(|axum::extract::Path((count, size)): axum::extract::Path<(usize, usize)>| async move {
            frames(count, size)
        }),
    );
    let scene = Scene::with(App::new().router(router), |_, _| {});
    let mut client = scene.client();
    for (count, size) in [(3, 1), (500, 100), (40, 100_000)] {
        client.send(get(&format!("/stream/{count}/{size}")));
        let (head, body) = client.response();
        assert!(head.contains("transfer-encoding: chunked\r\n"), "{head}");
        let whole: Vec<u8> = (0..count).flat_map(|n| vec![b'a' + (n % 26) as u8; size]).collect();
        assert!(body == whole, "{count} of {size}");
    }
    // A client that waits for 100 Continue is sent it.
    client.send("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
    assert_eq!(client.until(b"\r\n\r\n"), b"HTTP/1.1 100 Continue\r\n\r\n");
    client.send("abc");
    assert_eq!(client.response().1, b"3 294");
    client.send("POST /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for _ in 0..50 {
        client.send(format!("186a0\r\n{}\r\n", "b".repeat(100_000)));
    }
    client.send("0\r\n\r\n");
    assert_eq!(
        String::from_utf8(client.response().1).expect("text"),
        format!("5000000 {}", 5_000_000 * u64::from(b'b'))
    );
}

/// What does not fit the socket is kept encrypted, and sent as the client takes it.
#[test]
fn a_client_that_reads_late_gets_everything() {
    let scene = Scene::set();
    let mut late: Vec<_> = (0..10).map(|_| scene.client()).collect();
    // More than sockets hold, in few responses and in many.
    for (n, client) in late.iter_mut().enumerate() {
        match n % 2 {
            0 => client.send(get("/large/9000001").repeat(3)),
            _ => client.send((get("/large/1000") + &get("/soon/5")).repeat(3000)),
        }
    }
    assert_eq!(scene.client().get("/"), "fine");
    for (n, client) in late.iter_mut().enumerate() {
        for _ in 0..if n % 2 == 0 { 3 } else { 3000 } {
            let body = client.response().1;
            assert!(body.len() == if n % 2 == 0 { 9_000_001 } else { 1000 } && body.iter().all(|&byte| byte == b'p'));
            if n % 2 == 1 {
                assert_eq!(client.response().1, b"5");
            }
        }
        assert_eq!(client.get("/"), "fine");
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let scene = Scene::set();
    let mut client = scene.client();
    let mut requests = String::new();
    for n in 0..200 {
        requests += &get(&format!("/soon/{n}"));
        requests += &post("/echo", &format!("echo {n}"));
        requests += &get("/large/20000");
    }
    client.send(requests);
    for n in 0..200 {
        assert_eq!(client.response().1, n.to_string().into_bytes());
        assert_eq!(client.response().1, format!("echo {n}").into_bytes());
        assert_eq!(client.response().1.len(), 20_000);
    }
}

#[test]
fn a_request_may_be_in_any_records() {
    let scene = Scene::set();
    let requests = post("/echo", "abcdefgh") + &get("/") + &get("/soon/7");
    let answered = |client: &mut super::scene::Secure, how: &str| {
        for response in ["abcdefgh", "fine", "7"] {
            assert_eq!(client.response().1, response.as_bytes(), "{how}");
        }
    };
    // All of it on one connection: each split in two records, and a record for each byte.
    let mut client = scene.client();
    for at in 0..requests.len() {
        client.send(&requests[..at]);
        client.send(&requests[at..]);
        answered(&mut client, &format!("split at {at}"));
    }
    requests.bytes().for_each(|byte| client.send([byte]));
    answered(&mut client, "a record for each byte");
    // Records that come in part.
    for size in [1, 2, 3, 5, 7, 100] {
        let mut records = Vec::new();
        client.stream.conn.writer().write_all(requests.as_bytes()).expect("there is room");
        while client.stream.conn.wants_write() {
            client.stream.conn.write_tls(&mut records).expect("memory can be written to");
        }
        for piece in records.chunks(size) {
            client.stream.sock.write_all(piece).expect("the server takes it");
        }
        answered(&mut client, &format!("{size} bytes at a time"));
    }
}

#[test]
fn handlers_know_how_the_connection_is_secured() {
    let described = |tls: Option<&torr_serve::Tls>| match tls {
        None => "not at all".to_owned(),
        Some(tls) => format!("{} {} {:?} {}", tls.version, tls.cipher, tls.server_name, tls.client_certificates.len()),
    };
    let router = axum::Router::new().fallback(move |request: Request| async move {
        described(request.extensions().get::<Arc<torr_serve::Tls>>().map(|tls| &**tls))
    });
    let app = || App::new().get("/own", move |request| Response::ok("a/b", described(request.tls()).into_bytes()));
    let scene = Scene::with(app().router(router.clone()), |_, _| {});
    for (version, begin) in VERSIONS.iter().zip(["TLSv1.2 TLS_ECDHE_ECDSA_WITH_", "TLSv1.3 TLS13_AES_"]) {
        let mut client = scene.connect(Arc::new(scene.config(&[version], None)));
        for path in ["/own", "/router"] {
            let described = client.get(path);
            assert!(
                described.starts_with(begin) && described.ends_with(" Some(\"localhost\") 0"),
                "{path}: {described}"
            );
        }
    }
    // A connection of HTTP/2 is served by hyper, and tells the same.
    let trust = scene.folder.path().join("server.pem");
    for path in ["/own", "/router"] {
        let url = format!("https://localhost:{}{path}", scene.server.address.port());
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--show-error", "--http2", "--tlsv1.3", "--write-out", " %{http_version}", "--cacert"]);
        let ended = curl.arg(&trust).arg(&url).output().expect("curl runs");
        let described = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
        assert!(
            described.starts_with("TLSv1.3 TLS13_") && described.ends_with(" Some(\"localhost\") 0 2"),
            "{path}: {described}"
        );
    }
    let plain = crate::support::Running::start(app().router(router));
    assert_eq!(plain.client().get("/own").text(), "not at all");
    assert_eq!(plain.client().get("/router").text(), "not at all");
}
