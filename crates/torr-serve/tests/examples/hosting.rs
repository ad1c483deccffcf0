//! The smallest service, and axum beside a simple controller.

use crate::program::Example;

#[test]
fn hello_greets_and_leaves() {
    let hello = Example::start("hello", &[]);
    assert_eq!(hello.client().get("/").text(), "<p>Hello, world!</p>");
    hello.leaves();
}

#[test]
fn router_serves_a_controller_and_axum_side_by_side() {
    let router = Example::start_silent("router");
    let mut client = router.client();
    assert_eq!(client.get("/fast").text(), "as fast as it gets");
    for visit in 1..4 {
        assert_eq!(client.get("/users/7").text(), format!(r#"{{"id":7,"visit":{visit}}}"#));
    }
    let sum = |a: i64, b: i64| {
        let body = format!(r#"{{"a":{a},"b":{b}}}"#);
        let fields = format!("Content-Type: application/json\r\nContent-Length: {}", body.len());
        format!("POST /add HTTP/1.1\r\nHost: x\r\n{fields}\r\n\r\n{body}")
    };
    for (a, b, status, text) in [(1, 2, 200, "3"), (i64::MAX, 1, 422, "too large")] {
        client.send(sum(a, b));
        let response = client.response();
        assert_eq!((response.status, response.text()), (status, text));
    }
    assert_eq!(client.get("/nap?ms=5").text(), "slept 5 ms");
    assert_eq!(client.get("/whoami").text(), "you are 127.0.0.1");
    assert_eq!(client.get("/page").text().len(), 3_300);
    assert_eq!(client.get("/users/seven").status, 400);
    assert_eq!(client.get("/fast/er").status, 404);
    router.leaves();
}
