//! Files below a folder: what is sent of them, and what never is.

use crate::support::Running;
use http::HeaderValue;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;
use torr_serve::{App, Files, Response};
use torr_test_support::client::{Client, ClientResponse};

/// A folder with a page, a script in four forms, a large file, and things that are not to be seen.
fn site() -> TempDir {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let write = |name: &str, content: &[u8]| {
        let path = folder.path().join("site").join(name);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder can be made");
        fs::write(path, content).expect("a file can be written");
    };
    write("index.html", b"<p>home</p>");
    write("docs/index.html", b"<p>docs</p>");
    write("empty.txt", b"");
    write("spaced name.txt", b"spaced");
    write("app.js", b"plain script");
    write("app.js.br", b"by brotli");
    write("app.js.zst", b"by zstd");
    write("app.js.gz", b"by gzip");
    write("large.bin", &large());
    write(".env", b"SECRET=1");
    write(".git/config", b"[secret]");
    write(".well-known/acme", b"token");
    fs::write(folder.path().join("outside.txt"), b"not yours").expect("a file can be written");
    let link = |target: &str, name: &str| {
        symlink(target, folder.path().join("site").join(name)).expect("a link can be made");
    };
    link("../outside.txt", "leak.txt");
    link("/etc", "etc");
    link("docs/index.html", "inside.html");
    folder
}

/// More than is kept in memory, each part different.
fn large() -> Vec<u8> {
    (0..1_000_000_u32).map(|n| (n / 251) as u8 ^ n as u8).collect()
}

fn serve(folder: &Path, set: impl FnOnce(Files) -> Files) -> Running {
    let files = Files::new(folder.join("site")).expect("it is a folder");
    Running::start(App::new().files("/", set(files)).get("/own", |_| Response::text("own")))
}

fn request(client: &mut Client, line: &str, fields: &str) -> ClientResponse {
    client.send(format!("{line} HTTP/1.1\r\nHost: x\r\n{fields}\r\n"));
    if line.starts_with("HEAD") { client.response_head() } else { client.response() }
}

#[test]
fn a_file_is_sent_with_what_is_known_of_it() {
    let folder = site();
    let server = serve(folder.path(), |files| files.cache_control(HeaderValue::from_static("max-age=60")));
    let mut client = server.client();
    for (path, content_type, body) in [
        ("/", "text/html", "<p>home</p>"),
        ("/index.html?v=1", "text/html", "<p>home</p>"),
        ("/docs/", "text/html", "<p>docs</p>"),
        ("/inside.html", "text/html", "<p>docs</p>"),
        ("/empty.txt", "text/plain", ""),
        ("/spaced%20name.txt", "text/plain", "spaced"),
        ("/.well-known/acme", "application/octet-stream", "token"),
        ("//docs//index.html", "text/html", "<p>docs</p>"),
    ] {
        for _ in 0..2 {
            let response = request(&mut client, &format!("GET {path}"), "");
            assert_eq!((response.status, response.text()), (200, body), "{path}");
            assert_eq!(response.field("Content-Type"), Some(content_type), "{path}");
            assert_eq!(response.field("Cache-Control"), Some("max-age=60"));
            assert_eq!(response.field("Accept-Ranges"), Some("bytes"));
            assert!(response.field("ETag").is_some() && response.field("Last-Modified").is_some(), "{response:?}");
            let head = request(&mut client, &format!("HEAD {path}"), "");
            assert_eq!((head.status, head.field("Content-Length")), (200, Some(&*body.len().to_string())));
        }
    }
    let moved = request(&mut client, "GET /docs?a=b", "");
    assert_eq!((moved.status, moved.field("Location")), (301, Some("/docs/?a=b")));
    let elsewhere = request(&mut client, "GET //docs", "");
    assert_eq!(elsewhere.field("Location"), Some("/docs/"), "and not to a host called docs");
    assert_eq!(request(&mut client, "GET /own", "").text(), "own");
    let refused = request(&mut client, "POST /index.html", "Content-Length: 0\r\n");
    assert_eq!((refused.status, refused.field("Allow")), (405, Some("GET, HEAD")));
}

#[test]
fn nothing_else_is_sent() {
    let folder = site();
    let server = serve(folder.path(), |files| files);
    let mut client = server.client();
    for path in [
        "/none",
        "/../outside.txt",
        "/%2e%2e/outside.txt",
        "/docs/..%2f..%2foutside.txt",
        "/docs/%2e%2e/%2e%2e/outside.txt",
        "/leak.txt",
        "/etc/passwd",
        "/.env",
        "/%2eenv",
        "/.git/config",
        "/docs/index.html/",
        "/index.html%00",
        "/app.js.none",
    ] {
        let response = request(&mut client, &format!("GET {path}"), "");
        assert_eq!((response.status, response.text()), (404, "Not found\n"), "{path}");
    }
    let shown = serve(folder.path(), |files| files.hidden(true));
    assert_eq!(request(&mut shown.client(), "GET /.env", "").text(), "SECRET=1");
}

#[test]
fn the_best_form_is_sent() {
    let folder = site();
    let server = serve(folder.path(), |files| files);
    let mut client = server.client();
    for (accepted, coding, body) in [
        ("gzip, deflate, br, zstd", Some("br"), "by brotli"),
        ("gzip, zstd", Some("zstd"), "by zstd"),
        ("gzip", Some("gzip"), "by gzip"),
        ("deflate", None, "plain script"),
    ] {
        let response = request(&mut client, "GET /app.js", &format!("Accept-Encoding: {accepted}\r\n"));
        assert_eq!((response.field("Content-Encoding"), response.text()), (coding, body), "{accepted}");
        assert_eq!(response.field("Content-Type"), Some("text/javascript"));
        assert_eq!(response.field("Vary"), Some("Accept-Encoding"));
    }
    let plain = request(&mut client, "GET /empty.txt", "Accept-Encoding: br\r\n");
    assert_eq!((plain.field("Vary"), plain.field("Content-Encoding")), (None, None));
}

#[test]
fn a_changed_file_is_sent_at_once() {
    let folder = site();
    let server = serve(folder.path(), |files| files);
    let mut client = server.client();
    let path = folder.path().join("site/index.html");
    let mut tags = Vec::new();
    for body in ["one", "two", "six", "a longer one"] {
        fs::write(&path, body).expect("a file can be written");
        // What has the same length and time differs by the time of its change.
        let response = request(&mut client, "GET /", "");
        assert_eq!(response.text(), body);
        tags.push(response.field("ETag").expect("each has one").to_owned());
    }
    tags.dedup();
    assert_eq!(tags.len(), 4, "{tags:?}");
    fs::remove_file(&path).expect("it is there");
    assert_eq!(request(&mut client, "GET /", "").status, 404);
}

#[test]
fn a_large_file_arrives_whole_and_in_parts() {
    let folder = site();
    let server = serve(folder.path(), |files| files);
    let (mut client, large) = (server.client(), large());
    assert!(request(&mut client, "GET /large.bin", "").body == large);
    for (range, part) in [("0-0", 0..1), ("70000-", 70_000..1_000_000), ("-70000", 930_000..1_000_000)] {
        let response = request(&mut client, "GET /large.bin", &format!("Range: bytes={range}\r\n"));
        assert_eq!(response.status, 206);
        let expected = format!("bytes {}-{}/1000000", part.start, part.end - 1);
        assert_eq!(response.field("Content-Range"), Some(&*expected));
        assert!(response.body == large[part], "{range}");
    }
    let beyond = request(&mut client, "GET /large.bin", "Range: bytes=1000000-\r\n");
    assert_eq!((beyond.status, beyond.field("Content-Range")), (416, Some("bytes */1000000")));
}

#[test]
fn a_file_that_becomes_shorter_ends_the_connection() {
    let folder = site();
    let path = folder.path().join("site/large.bin");
    // More than the buffers of sockets take.
    let file = fs::File::options().write(true).open(&path).expect("it can be written");
    file.set_len(200_000_000).expect("a hole takes no room");
    let server = serve(folder.path(), |files| files);
    let mut client = server.client();
    client.send("GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(client.response_head().field("Content-Length"), Some("200000000"));
    file.set_len(1000).expect("it can be cut");
    assert!(client.count_to_end() < 200_000_000);
    assert_eq!(request(&mut server.client(), "GET /large.bin", "").body.len(), 1000);
}

#[test]
fn an_application_has_one_page_for_all_paths() {
    let folder = site();
    let server = serve(folder.path(), |files| files.fallback("index.html").index("home.html"));
    let mut client = server.client();
    for path in ["/", "/any/page", "/.env"] {
        let response = request(&mut client, &format!("GET {path}"), "");
        assert_eq!((response.status, response.text()), (200, "<p>home</p>"), "{path}");
    }
    assert_eq!(request(&mut client, "GET /app.js", "").text(), "plain script");
}

#[test]
fn a_controller_sends_a_file_of_its_choice() {
    let folder = site();
    let path = folder.path().join("outside.txt");
    let gone = folder.path().join("gone.txt");
    let app = App::new()
        .get("/file", move |request| Response::file(request, &path))
        .get("/gone", move |request| Response::file(request, &gone))
        .get("/folder", |request| Response::file(request, "/"));
    let server = Running::start(app);
    let mut client = server.client();
    let whole = request(&mut client, "GET /file", "");
    assert_eq!((whole.status, whole.text(), whole.field("Content-Type")), (200, "not yours", Some("text/plain")));
    let tag = whole.field("ETag").expect("it has one");
    assert_eq!(request(&mut client, "GET /file", &format!("If-None-Match: {tag}\r\n")).status, 304);
    let part = request(&mut client, "GET /file", &format!("Range: bytes=4-\r\nIf-Range: {tag}\r\n"));
    assert_eq!((part.status, part.text()), (206, "yours"));
    let other = request(&mut client, "GET /file", "Range: bytes=4-\r\nIf-Range: \"other\"\r\n");
    assert_eq!((other.status, other.text()), (200, "not yours"));
    for path in ["/gone", "/folder"] {
        assert_eq!(request(&mut client, &format!("GET {path}"), "").status, 404);
    }
}

#[test]
fn conditions_are_those_of_all_lines_and_of_the_method() {
    let folder = site();
    let path = folder.path().join("outside.txt");
    let of_post = path.clone();
    let app = App::new()
        .get("/file", move |request| Response::file(request, &path))
        .post("/file", move |request| Response::file(request, &of_post));
    let server = Running::start(app);
    let mut client = server.client();
    let tag = request(&mut client, "GET /file", "").field("ETag").expect("it has one").to_owned();
    let lines = |name: &str| format!("{name}: \"other\"\r\n{name}: {tag}\r\n");
    assert_eq!(request(&mut client, "GET /file", &lines("If-Match")).status, 200);
    assert_eq!(request(&mut client, "GET /file", &lines("If-None-Match")).status, 304);
    assert_eq!(request(&mut client, "GET /file", "If-Match: \"other\"\r\n").status, 412);
    let post = format!("Content-Length: 0\r\n{}", lines("If-None-Match"));
    assert_eq!(request(&mut client, "POST /file", &post).status, 412);
}

#[test]
fn forms_of_one_size_and_time_have_tags_of_their_own() {
    let folder = site();
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(784_111_777);
    for name in ["app.js", "app.js.br", "app.js.gz"] {
        let path = folder.path().join("site").join(name);
        fs::write(&path, "123456").expect("a file can be written");
        fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(time)).expect("it is ours");
    }
    let server = serve(folder.path(), |files| files);
    let mut client = server.client();
    let mut tag = |accepted: &str| {
        let response = request(&mut client, "GET /app.js", &format!("Accept-Encoding: {accepted}\r\n"));
        response.field("ETag").expect("it has one").to_owned()
    };
    let tags = [tag("br"), tag("gzip"), tag("identity")];
    assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2], "{tags:?}");
}

#[test]
fn a_fallback_that_is_a_folder_is_no_page() {
    let folder = site();
    let server = serve(folder.path(), |files| files.fallback("docs"));
    assert_eq!(request(&mut server.client(), "GET /any", "").status, 404);
}

#[test]
fn a_folder_that_cannot_be_opened_is_an_error() {
    let folder = site();
    let error = Files::new(folder.path().join("none")).expect_err("there is none");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(Files::new(folder.path().join("outside.txt")).is_err(), "it is a file");
}
