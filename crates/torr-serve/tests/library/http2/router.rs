//! A router has the same responses as under `axum::serve`.

use super::scene::{MEGABYTE, method};
use crate::router::cases::plain;
use crate::router::http2::{Client, StreamOutcome, get, translated};
use crate::router::service::Both;
use crate::support::Running;
use bytes::Bytes;
use http::Request;
use torr_serve::App;
use tower_http::services::ServeDir;

/// Puts the same requests to both, on one connection to each.
fn same(requests: impl IntoIterator<Item = Request<Bytes>>, mut check: impl FnMut(&str, &StreamOutcome)) {
    let both = Both::start();
    let [theirs, ours] = both.connect().map(Client::on);
    for request in requests {
        let what = format!("{} {} {:?}", request.method(), request.uri(), request.headers());
        let [their, our] = [&theirs, &ours].map(|client| client.ask(request.clone()));
        assert_eq!(their, our, "{what}: axum::serve, then Torr");
        check(&what, &our);
    }
}

#[test]
fn plain_requests_have_the_same_responses() {
    let mut statuses = Vec::new();
    let requests: Vec<_> = plain()
        .into_iter()
        .filter_map(|(bytes, status)| {
            let request = translated(&bytes)?;
            statuses.push(status);
            Some(request)
        })
        .collect();
    assert!(requests.len() >= plain().len() - 2, "nearly all of them can be said in HTTP/2");
    let mut statuses = statuses.into_iter();
    same(requests, |what, outcome| {
        assert_eq!(Some(outcome.response().status), statuses.next(), "{what}");
        assert_eq!(outcome.reset, None, "{what}");
    });
}

#[test]
fn streams_trailers_and_files_are_the_same() {
    let cases = [
        ("/stream/3", 30),
        ("/stream/0", 0),
        ("/stream/100", 1_000),
        ("/slow-stream/5", 50),
        ("/sized-stream", 40),
        ("/trailers", 10),
        ("/big-stream", 8 * MEGABYTE),
        ("/files-on-disk/long.bin", 300_000),
        ("/channel", 100_000),
        ("/events", 33),
        ("/no-content", 0),
        ("/not-modified", 0),
        ("/closes", 8),
    ];
    let requests = cases.iter().flat_map(|(path, _)| [get(path), method("HEAD", path)]);
    let mut lengths = cases.iter().flat_map(|&(_, length)| [length, 0]);
    let mut trailers = 0;
    same(requests, |what, outcome| {
        assert_eq!((Some(outcome.response().body.len()), outcome.reset), (lengths.next(), None), "{what}");
        trailers += outcome.trailers.len();
    });
    assert_eq!(trailers, 1, "trailers are passed on");
}

#[test]
fn middleware_works() {
    let with = |path: &str, name: &'static str, value: &'static str| {
        let mut request = get(path);
        request.headers_mut().insert(name, value.parse().expect("it is valid"));
        request
    };
    let requests = [
        with("/large", "accept-encoding", "gzip"),
        with("/stream/500", "accept-encoding", "gzip"),
        with("/", "origin", "http://a.example"),
        with("/", "x-request-id", "abc"),
        with("/files-on-disk/hello.txt", "range", "bytes=1-3"),
        with("/headers", "te", "trailers"),
        with("/headers", "x-long", "l".repeat(5_000).leak()),
    ];
    same(requests, |what, outcome| assert!([200, 206].contains(&outcome.response().status), "{what}: {outcome:?}"));
}

/// As over HTTP/1.1, though hyper has none where there is no content.
#[test]
fn a_response_without_content_has_its_length() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    std::fs::write(folder.path().join("file"), "content").expect("a file can be written");
    let beside = axum::Router::new().nest_service("/files", ServeDir::new(folder.path()));
    let apps = [App::new().router(ServeDir::new(folder.path())), App::new().router(beside)];
    for (app, path) in apps.into_iter().zip(["/file", "/files/file"]) {
        let server = Running::start(app);
        let client = Client::connect(server.address);
        for range in ["bytes=99-", "bytes=5-2", "bytes=0-1,3-4"] {
            let mut request = get(path);
            request.headers_mut().insert("range", range.parse().expect("it is valid"));
            let outcome = client.ask(request);
            let fields = &outcome.response().fields;
            let length = fields.iter().find(|(name, _)| name == "content-length").map(|(_, value)| value.clone());
            assert_eq!(outcome.response().status, 416, "{path} {range}");
            assert_eq!(length, Some(outcome.response().body.len().to_string()), "{path} {range}: {fields:?}");
        }
    }
}

#[test]
fn failures_cost_their_stream_alike() {
    let paths = ["/failing-later", "/short-stream", "/failing-stream", "/panicking-stream"];
    let both = Both::start();
    let [theirs, ours] = both.connect().map(Client::on);
    for path in paths {
        for client in [&theirs, &ours] {
            let outcome = client.get(path);
            assert!(outcome.response.is_none_or(|response| response.cut_short), "{path}");
            assert!(outcome.reset.is_some(), "{path}");
        }
        assert_eq!(ours.get("/users/1").response().text(), "user 1", "after {path}");
    }
}
