//! Requests to the router that is compared, and the statuses of their responses.

const CHUNKS: &[u8] = b"4\r\nabcd\r\n3;x=y\r\nefg\r\n0\r\nTrailer: t\r\n\r\n";

/// A request without a body.
pub fn req(line: &str, fields: &str) -> Vec<u8> {
    format!("{line} HTTP/1.1\r\nHost: x\r\n{fields}\r\n").into_bytes()
}

/// A request with a sized body.
pub fn with_body(line: &str, fields: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut request = req(line, &format!("{fields}Content-Length: {}\r\n", body.len()));
    request.extend_from_slice(body);
    request
}

/// Plain requests, as HTTP/1.1 has them.
pub fn plain() -> Vec<(Vec<u8>, u16)> {
    let json = "Content-Type: application/json\r\n";
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    vec![
        (req("GET /", ""), 200),
        (req("GET /?", ""), 200),
        (req("GET http://other/", ""), 200),
        (req("GET http://other", ""), 200),
        (req("HEAD /", ""), 200),
        (req("POST /", ""), 405),
        (req("BREW /", ""), 405),
        (req("OPTIONS /", ""), 200),
        (req("OPTIONS *", ""), 200),
        (req("TRACE /", ""), 405),
        (req("GET /nowhere", ""), 404),
        (req("HEAD /nowhere", ""), 404),
        (req("DELETE /nowhere", ""), 404),
        (req("GET //", ""), 404),
        (req("GET /%", ""), 404),
        (req("GET /users/7", ""), 200),
        (req("HEAD /users/7", ""), 200),
        (req("GET /users/seven", ""), 400),
        (req("GET /users/99999999999999999999", ""), 400),
        (req("GET /users/%37", ""), 200),
        (req("GET /users/7/", ""), 404),
        (req("GET /names/a%20b%2Fc", ""), 200),
        (req("GET /names/%FF", ""), 400),
        (req("GET /files/a/b/c.txt", ""), 200),
        (req("GET /query?name=torr&count=3", ""), 200),
        (req("GET /query?name=a%20b+c&count=3", ""), 200),
        (req("GET /query?name=torr", ""), 400),
        (req("GET /query", ""), 400),
        (req("GET /state", ""), 200),
        (req("GET /matched/42", ""), 200),
        (req("GET /uri/a?b=c", ""), 200),
        (req("GET /headers", "A: 1\r\nB: 2\r\nA: 3\r\nEmpty:\r\nX-Long: some value, with; signs=\"1\"\r\n"), 200),
        (req("GET /redirect", ""), 303),
        (req("GET /permanent", ""), 308),
        (req("GET /teapot", ""), 418),
        (req("GET /created", ""), 201),
        (req("GET /cookies", ""), 200),
        (req("GET /no-content", ""), 204),
        (req("GET /empty", ""), 200),
        (req("HEAD /empty", ""), 200),
        (req("GET /error", ""), 500),
        (req("GET /json", ""), 200),
        (req("HEAD /json", ""), 200),
        (req("GET /later", ""), 200),
        (req("HEAD /later", ""), 200),
        (req("GET /spawned", ""), 200),
        (req("GET /blocking", ""), 200),
        (req("GET /large", ""), 200),
        (req("HEAD /large", ""), 200),
        (req("GET /nested/one", ""), 200),
        (req("GET /nested/none", ""), 404),
        (req("GET /caught", ""), 500),
        (req("GET /slow", ""), 408),
        (req("GET /own-server", ""), 200),
        (with_body("POST /json", json, r#"{"name":"torr","count":2}"#), 200),
        (with_body("POST /json", json, r#"{"name":"torr","count":"2"}"#), 422),
        (with_body("POST /json", json, r#"{"name":"#), 400),
        (with_body("POST /json", json, ""), 400),
        (with_body("POST /json", "", r#"{"name":"torr","count":2}"#), 415),
        (with_body("POST /form", form, "name=a+b&count=2"), 200),
        (with_body("POST /form", form, "name=a"), 422),
        (with_body("POST /form", "", "name=a&count=2"), 415),
        (with_body("POST /bytes", "", b"\0\xff\r\n\r\nGET / HTTP/1.1\r\n"), 200),
        (with_body("PUT /bytes", "", "x"), 405),
        (with_body("POST /bytes", "", "x".repeat(200_000)), 200),
        (with_body("POST /bytes", "Content-Type: a/b\r\n", ""), 200),
        (req("POST /bytes", ""), 200),
        ([&*req("POST /bytes", "Transfer-Encoding: chunked\r\n"), CHUNKS].concat(), 200),
        (with_body("POST /text", "", "text \u{e4}"), 200),
        (with_body("POST /text", "", b"\xff"), 400),
        (with_body("POST /limited", "", "x".repeat(1_001)), 413),
        (with_body("POST /limited", "", "x".repeat(1_000)), 200),
        (with_body("POST /", "", "ignored"), 405),
        (with_body("GET /", "", "a body of a GET"), 200),
        (with_body("DELETE /nowhere", "", "a body that nobody reads"), 404),
    ]
}
