//! What the access log says of responses and bodies that come in pieces.

use crate::support::Running;
use axum::body::Body;
use axum::extract::Request;
use axum::routing::{get as axum_get, post as axum_post};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use serde_json::Value;
use std::convert::Infallible;
use std::path::PathBuf;
use std::time::Duration;
use torr_serve::{App, LogFormat, LogTarget};
use torr_test_support::client::{Client, get};
use torr_test_support::wait_until;

/// So many frames of a hundred bytes, which come one by one, with an end or without.
fn frames(count: usize, ends: bool) -> Body {
    let some = stream::unfold(0, move |n| async move {
        tokio::task::yield_now().await;
        (n < count).then(|| (Ok::<_, Infallible>(Bytes::from_static(&[b'f'; 100])), n + 1))
    });
    match ends {
        true => Body::from_stream(some),
        false => Body::from_stream(some.chain(stream::pending())),
    }
}

fn start() -> (tempfile::TempDir, PathBuf, Running) {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let log = folder.path().join("log");
    let router = axum::Router::new()
        .route("/frames", axum_get(|| async { frames(50, true) }))
        .route("/never", axum_get(std::future::pending::<()>))
        .route("/endless", axum_get(|| async { frames(50, false) }))
        .route(
            "/upload",
            axum_post(|request: Request| async {
                axum::body::to_bytes(request.into_body(), usize::MAX).await.map_or(0, |body| body.len()).to_string()
            }),
        )
        .route(
            "/panic",
            axum_get(async || -> &'static str {
                tokio::task::yield_now().await;
                panic!("on purpose")
            }),
        );
    let server = Running::start_with(App::new().router(router), |settings| {
        settings.access_log = Some(LogTarget::File(log.clone()));
        settings.access_log_format = LogFormat::Json;
        settings.max_streamed_body = 100_000;
        settings.body_timeout = Duration::from_millis(300);
    });
    (folder, log, server)
}

/// What each line says in short, once the server has ended.
fn noted(log: &PathBuf, server: &Running) -> Vec<String> {
    server.stop();
    server.wait().expect("it ends in order");
    let text = std::fs::read_to_string(log).expect("it is there");
    let short = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("it is JSON");
        format!("{} {} {}", line["target"].as_str().unwrap_or("-"), line["status"], line["bytes"])
    };
    text.lines().map(short).collect()
}

#[test]
fn bytes_of_a_streamed_body_are_counted_without_its_framing() {
    let (_folder, log, server) = start();
    for request in
        [get("/frames"), "GET /frames HTTP/1.0\r\n\r\n".into(), "HEAD /frames HTTP/1.1\r\nHost: x\r\n\r\n".into()]
    {
        let mut client = server.client();
        client.send(request.replace("Host: x", "Host: x\r\nConnection: close"));
        client.count_to_end();
    }
    // Pipelined behind each other.
    let mut client = server.client();
    client.send([get("/frames"), get("/frames")].concat());
    client.send("GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert!(client.count_to_end() > 10_000);
    let expected = [
        "/frames 200 5000",
        "/frames 200 5000",
        "/frames 200 0",
        "/frames 200 5000",
        "/frames 200 5000",
        "/nowhere 404 0",
    ];
    assert_eq!(noted(&log, &server), expected);
}

#[test]
fn who_goes_in_the_middle_of_a_stream_is_noted_with_what_was_sent() {
    let (_folder, log, server) = start();
    let mut client = server.client();
    client.send(get("/endless"));
    // All of the fifty frames, each in a chunk of its own or with others.
    client.pass_over(5000);
    drop(client);
    let mut client = server.client();
    client.send(get("/panic"));
    assert_eq!(client.response().status, 500);
    client.ends();
    let mut lines = noted(&log, &server);
    lines.sort();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("/endless 200 ") && lines[1].starts_with("/panic 500 "), "{lines:?}");
    let bytes: u64 = lines[0].rsplit(' ').next().and_then(|word| word.parse().ok()).expect("it is a number");
    assert!((4000..=5000).contains(&bytes), "{bytes}");
}

#[test]
fn who_goes_while_a_router_is_waited_for_is_noted_with_499() {
    let (_folder, log, server) = start();
    let mut client = server.client();
    client.send(get("/never"));
    drop(client);
    // The line is written without a further request.
    wait_until("a line", || (!std::fs::read_to_string(&log).expect("it is there").is_empty()).then_some(()));
    assert_eq!(noted(&log, &server), ["/never 499 0"]);
}

#[test]
fn uploads_that_are_refused_have_their_line() {
    let (_folder, log, server) = start();
    let upload = |fields: &str| format!("POST /upload HTTP/1.1\r\nHost: x\r\n{fields}\r\n\r\n");
    let chunked = upload("Transfer-Encoding: chunked");
    for (request, status) in [
        (upload("Content-Length: 100001"), 413),
        (format!("{chunked}186a1\r\n{}\r\n", "b".repeat(100_001)), 413),
        (format!("{chunked}zz\r\n"), 400),
        (format!("{chunked}5\r\nhello\r\n"), 408),
        (upload("Content-Length: 10"), 408),
        (upload("Content-Length: 5") + "hello", 200),
    ] {
        let mut client = Client::connect(server.address);
        client.send(&request);
        assert_eq!(client.response().status, status, "{}", &request[..80.min(request.len())]);
    }
    let lines = noted(&log, &server);
    let statuses: Vec<_> = lines.iter().map(|line| line.split(' ').nth(1).unwrap_or_default().to_owned()).collect();
    assert_eq!(statuses, ["413", "413", "400", "408", "408", "200"], "{lines:?}");
    assert!(lines.iter().all(|line| line.starts_with("/upload ")), "{lines:?}");
}
