//! Which handler gets which request, and what it sees of it.

use crate::support::Running;
use http::Method;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::pin::Pin;
use torr_serve::{App, Request, Response};
use torr_test_support::client::{Client, get};

/// What such a handler returns where its type must have a name.
type Waiting = Pin<Box<dyn Future<Output = Response>>>;

/// A handler that responds with its name and the request.
fn says(name: &'static str) -> impl Fn(&Request<'_>) -> Response + Send + Sync + 'static {
    move |request| Response::text(format!("{name}: {} {}", request.method(), request.path()))
}

/// An async handler that responds with its name and the request.
fn says_later(name: &'static str) -> impl Fn(&Request<'_>) -> Waiting + Send + Sync + 'static {
    move |request| {
        let response = says(name)(request);
        Box::pin(async {
            tokio::task::yield_now().await;
            response
        })
    }
}

fn ask(client: &mut Client, line: &str) -> (u16, String) {
    client.send(format!("{line} HTTP/1.1\r\nHost: x\r\n\r\n"));
    let response = client.response();
    (response.status, response.text().to_owned())
}

#[test]
fn the_path_chooses_the_route() {
    let app = App::new()
        .get("/", says("root"))
        .get("/users/{id}", |request| Response::text(format!("user {}", request.param("id").unwrap_or("?"))))
        .get("/users/me", says("me"))
        .get("/users/{id}/posts/{post}", |request| {
            let (id, post) = (request.param("id"), request.param("post"));
            Response::text(format!("{id:?} {post:?} {:?}", request.param("other")))
        })
        .get("/files/{*rest}", |request| Response::text(format!("file {}", request.param("rest").unwrap_or("?"))));
    let server = Running::start(app);
    let mut client = server.client();
    for (target, status, text) in [
        ("/", 200, "root: GET /"),
        ("/?a=b", 200, "root: GET /"),
        ("/users/7", 200, "user 7"),
        ("/users/7?x=/y", 200, "user 7"),
        ("/users/me", 200, "me: GET /users/me"),
        ("/users/7/posts/8", 200, r#"Some("7") Some("8") None"#),
        ("/files/a/b.txt", 200, "file a/b.txt"),
        ("/files/%2e%2E/%61%2Fb+c%", 200, "file %2e%2E/%61%2Fb+c%"),
        ("/users/%37", 200, "user %37"),
        ("http://other/users/9", 200, "user 9"),
        ("http://other", 200, "root: GET /"),
        ("http://other?q", 200, "root: GET /"),
        ("HTTPS://other:1/users/me?q", 200, "me: GET /users/me"),
        ("/users", 404, "Not found\n"),
        ("/users/", 404, "Not found\n"),
        ("/users/7/", 404, "Not found\n"),
        ("/files/", 404, "Not found\n"),
        ("/Users/7", 404, "Not found\n"),
        ("//", 404, "Not found\n"),
        ("/%", 404, "Not found\n"),
    ] {
        assert_eq!(ask(&mut client, &format!("GET {target}")), (status, text.to_owned()), "{target}");
    }
}

#[test]
fn the_method_chooses_the_handler() {
    let app = App::new()
        .get("/a", says("get"))
        .post("/a", says("post"))
        .route(Method::from_bytes(b"BREW").expect("it is a token"), "/a", says("brew"))
        .get("/b", says("get"))
        .route(Method::HEAD, "/b", |_| Response::text("this is the answer to HEAD"))
        .get_async("/c", |request| {
            let method = request.method().to_owned();
            async move { Response::text(method) }
        })
        .route(Method::OPTIONS, "/d", says("options"))
        .put("/e", says("put"))
        .delete("/e", says("delete"))
        .patch("/e", says("patch"))
        .post_async("/f", says_later("post"))
        .route_async(Method::PUT, "/f", says_later("put"));
    let server = Running::start(app);
    let mut client = server.client();
    for (line, text) in [
        ("GET /a", "get: GET /a"),
        ("POST /a", "post: POST /a"),
        ("BREW /a", "brew: BREW /a"),
        ("GET /b", "get: GET /b"),
        ("GET /c", "GET"),
        ("OPTIONS /d", "options: OPTIONS /d"),
        ("PUT /e", "put: PUT /e"),
        ("DELETE /e", "delete: DELETE /e"),
        ("PATCH /e", "patch: PATCH /e"),
        ("POST /f", "post: POST /f"),
        ("PUT /f", "put: PUT /f"),
    ] {
        assert_eq!(ask(&mut client, line), (200, text.to_owned()), "{line}");
    }
    // HEAD goes to the handler of GET, unless it has one of its own.
    for (path, status, length) in [("/a", 200, "12"), ("/b", 200, "26"), ("/c", 200, "4"), ("/d", 405, "19")] {
        client.send(format!("HEAD {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
        let response = client.response_head();
        assert_eq!(
            (response.status, response.field("Content-Length")),
            (status, Some(length)),
            "HEAD {path}: {response:?}"
        );
    }
    for (line, allow) in [
        ("PUT /a", "GET, POST, BREW, HEAD"),
        ("PUT /b", "GET, HEAD"),
        ("OPTIONS /c", "GET, HEAD"),
        ("GET /d", "OPTIONS"),
        ("GET /e", "PUT, DELETE, PATCH"),
        ("GET /f", "POST, PUT"),
    ] {
        client.send(format!("{line} HTTP/1.1\r\nHost: x\r\n\r\n"));
        let response = client.response();
        assert_eq!((response.status, response.field("Allow")), (405, Some(allow)), "{line}: {response:?}");
    }
}

#[test]
fn options_of_the_whole_server_has_a_response() {
    let server = Running::start(App::new());
    let mut client = server.client();
    for target in ["*", "*"] {
        client.send(format!("OPTIONS {target} HTTP/1.1\r\nHost: x\r\n\r\n"));
        let response = client.response();
        assert_eq!((response.status, response.text()), (204, ""), "{response:?}");
    }
    assert_eq!(client.get("/").status, 404, "an application without routes");
}

#[test]
fn a_handler_sees_the_request_as_it_was_sent() {
    let app = App::new().post("/see", |request| {
        let fields: Vec<_> =
            request.headers().map(|(name, value)| format!("{name}={}", value.escape_ascii())).collect();
        Response::text(format!(
            "{:?} {:?} {} {}",
            request.query(),
            request.header("content-TYPE").map(<[u8]>::escape_ascii).map(|text| text.to_string()),
            fields.join(","),
            request.body().escape_ascii(),
        ))
    });
    let server = Running::start(app);
    let mut client = server.client();
    let head = "Host: x\r\nContent-Type: \u{e4} \tb \r\nA: \r\nContent-Length: 4";
    // A browser may send what is not ASCII, and no text of UTF-8 either.
    let head: Vec<u8> = head.chars().map(|c| c as u8).collect();
    let seen = r"Some(\xe4 \tb) Host=x,Content-Type=\xe4 \tb,A=,Content-Length=4 a\x00\xffb";
    for (target, query) in [("/see?a=%20b?c", r#"Some("a=%20b?c")"#), ("/see?", r#"Some("")"#), ("/see", "None")] {
        client.send(format!("POST {target} HTTP/1.1\r\n"));
        client.send(&head);
        client.send(b"\r\n\r\na\0\xffb");
        let text = client.response().text().replace(r"\\", r"\").replace('"', "");
        assert_eq!(text, format!("{query} {seen}").replace('"', ""), "{target}");
    }
}

#[test]
fn a_response_to_get_follows_one_of_a_handler_that_waited() {
    let app = App::new().get("/now", says("now")).get_async("/later", |_| async {
        tokio::task::yield_now().await;
        Response::text("later")
    });
    let server = Running::start(app);
    let mut client = server.client();
    client.send(get("/later") + &get("/now") + &get("/later") + &get("/later") + &get("/now"));
    for expected in ["later", "now: GET /now", "later", "later", "now: GET /now"] {
        assert_eq!(client.response().text(), expected);
    }
}

#[test]
#[should_panic(expected = "cannot route users: a path must begin with '/'")]
fn a_path_must_begin_with_a_slash() {
    let _ = App::new().get("users", says("nobody"));
}

#[test]
#[should_panic(expected = "cannot route /{a")]
fn a_parameter_must_end() {
    let _ = App::new().get("/{a", says("nobody"));
}

#[test]
#[should_panic(expected = "cannot route /{b}")]
fn paths_must_not_contradict_each_other() {
    let _ = App::new().get("/{a}", says("first")).get("/{b}", says("second"));
}

#[test]
#[should_panic(expected = "cannot route /a: duplicate handler of GET")]
fn a_method_of_a_path_has_one_handler() {
    let _ = App::new().get("/a", says("first")).post("/a", says("another")).get_async("/a", |_| async { "b".into() });
}

#[test]
#[should_panic(expected = "cannot route /users/:id/posts: use {id} instead of :id")]
fn a_parameter_of_an_older_axum_is_refused() {
    let _ = App::new().get("/users/:id/posts", says("nobody"));
}

#[test]
#[should_panic(expected = "cannot route /files/*rest: use {*rest} instead of *rest")]
fn a_rest_of_an_older_axum_is_refused() {
    let _ = App::new().get_async("/files/*rest", |_| async { "nobody".into() });
}

#[test]
fn a_colon_or_star_inside_of_a_segment_is_text() {
    let server = Running::start(App::new().get("/a:b/c*", says("both")));
    assert_eq!(server.client().get("/a:b/c*").text(), "both: GET /a:b/c*");
}

#[test]
fn a_panic_about_a_route_points_to_the_line_of_the_program() {
    thread_local! {
        static AT: Cell<Option<(String, u32)>> = const { Cell::new(None) };
    }
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        AT.set(panic.location().map(|at| (at.file().to_owned(), at.line())));
        before(panic);
    }));
    type Wrong = fn(App) -> App;
    let wrong: [(u32, Wrong); 5] = [
        (line!(), |app| app.get("none", says("nobody"))),
        (line!(), |app| app.route(Method::PUT, "/a/{", says("nobody"))),
        (line!(), |app| app.get_blocking("/taken", says("nobody"))),
        (line!(), |app| app.metrics("/taken")),
        (line!(), |app| app.computes("/:x")),
    ];
    for (line, wrong) in wrong {
        let app = App::new().get("/taken", says("somebody"));
        assert!(panic::catch_unwind(AssertUnwindSafe(|| wrong(app))).is_err(), "line {line}");
        assert_eq!(AT.take(), Some((file!().to_owned(), line)));
    }
}
