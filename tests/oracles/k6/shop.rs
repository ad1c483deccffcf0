//! The service that the scripts speak to.

use crate::echo::Arrived;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::thread;
use std::time::Duration;

const PAGE: &str = "<html><head><title>Shop</title></head><body><h1>Books</h1>\
    <ul><li>one</li><li>two</li><li>three</li></ul><a href=\"/text?link=1\">more</a>\
    <form action=\"/echo\" method=\"post\"><input type=\"hidden\" name=\"token\" value=\"t1\">\
    <input name=\"user\" value=\"\"><input type=\"submit\" value=\"Send\"></form></body></html>";

/// What `/cookies/many` sets: in an order that is not that of names, one twice, and one that cookies cannot be.
const MANY_COOKIES: [&str; 8] = [
    "b=1; Path=/",
    "a=\"x y\"; Path=/; HttpOnly",
    "near=1",
    "b=2; Path=/; Max-Age=100",
    "date=1; Path=/; Expires=Wed, 01 Jan 2031 00:00:00 GMT; Secure",
    "gone=1; Path=/; Max-Age=0",
    "bad={\"x\":1}; Path=/",
    "foreign=1; Domain=other.test",
];

/// Returns the response to a request; `None` to close the connection instead.
pub fn response(request: &Arrived) -> Option<Vec<u8>> {
    let path = request.target.split('?').next().unwrap_or_default();
    let field = |name: &str| {
        let found = request.fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    };
    let number = |prefix: &str| path.strip_prefix(prefix).and_then(|number| number.parse::<u64>().ok());
    let respond =
        |status: u16, fields: &[(&str, &str)], content: &[u8]| respond(&request.method, status, fields, content);
    let json = |value: Value| respond(200, &[("Content-Type", "application/json")], value.to_string().as_bytes());
    if let Some(status) = number("/status/") {
        let location = [("Location", "/text")];
        let fields = if status == 302 { &location[..] } else { &[] };
        return Some(respond(u16::try_from(status).unwrap_or(500), fields, b"status"));
    }
    if let Some(milliseconds) = number("/delay/") {
        thread::sleep(Duration::from_millis(milliseconds));
        return Some(respond(200, &[], b"late"));
    }
    if let Some(left) = number("/redirect/") {
        let next = if left <= 1 { "/text".to_owned() } else { format!("/redirect/{}", left - 1) };
        return Some(respond(302, &[("Location", &next)], b"moved"));
    }
    Some(match path {
        "/text" => respond(200, &[("Content-Type", "text/plain")], b"text"),
        "/json" => json(json!({
            "a": 1, "b": {"c": "deep"}, "list": [1, "two", null],
            "items": [{"id": 1, "name": "one"}, {"id": 2, "name": "two"}],
        })),
        "/echo" | "/echo/below" => {
            let fields: Map<_, _> =
                request.fields.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
            let content = String::from_utf8_lossy(&request.content);
            json(json!({"method": request.method, "body": content, "headers": fields}))
        }
        "/coded" => {
            respond(200, &[("Content-Encoding", field("content-encoding").unwrap_or("identity"))], &request.content)
        }
        "/around" => respond(302, &[("Location", "/around")], b""),
        "/login" => {
            let cookies = ["session=abc; Path=/; HttpOnly", "theme=dark; Path=/echo/below; Max-Age=100"];
            let [session, theme] = cookies.map(|cookie| ("Set-Cookie", cookie));
            respond(302, &[("Location", "/echo"), session, theme], b"")
        }
        "/length" => json(json!({"encoding": field("content-encoding"), "length": request.content.len()})),
        "/headers" => respond(200, &[("x-custom-name", "c"), ("Two", "a"), ("Two", "b")], b""),
        "/redirect307" => respond(307, &[("Location", "/echo")], b""),
        "/cookies/set" => {
            let cookies = [("Set-Cookie", "session=abc; Path=/; HttpOnly"), ("Set-Cookie", "theme=dark; Path=/other")];
            respond(200, &cookies, b"")
        }
        "/cookies/many" => respond(200, &MANY_COOKIES.map(|cookie| ("Set-Cookie", cookie)), b""),
        "/reason" => b"HTTP/1.1 404 Gone Fishing\r\nContent-Length: 2\r\n\r\nno".to_vec(),
        "/no-reason" => b"HTTP/1.1 299 \r\nContent-Length: 0\r\n\r\n".to_vec(),
        "/chunks" => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n".to_vec(),
        "/keep-alive" => b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n".to_vec(),
        "/until-close" => b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nend".to_vec(),
        "/bad-gzip" => respond(200, &[("Content-Encoding", "gzip")], b"this is no gzip"),
        "/bytes" => respond(200, &[], &(0..=255).collect::<Vec<u8>>()),
        "/gzip" => {
            let mut packed = GzEncoder::new(Vec::new(), Compression::default());
            packed.write_all(b"unpacked").expect("memory takes all");
            respond(200, &[("Content-Encoding", "gzip")], &packed.finish().expect("memory takes all"))
        }
        "/close" => return None,
        "/html" => respond(200, &[("Content-Type", "text/html")], PAGE.as_bytes()),
        "/digest" if field("authorization").is_some_and(|value| value.starts_with("Digest ")) => {
            respond(200, &[], b"in")
        }
        "/digest" => {
            let challenge = "Digest realm=\"shop\", nonce=\"n1\", qop=\"auth\", algorithm=MD5";
            respond(401, &[("WWW-Authenticate", challenge)], b"out")
        }
        "/connection" => respond(200, &[], b"here"),
        _ => respond(404, &[], b"nothing"),
    })
}

fn respond(method: &str, status: u16, fields: &[(&str, &str)], content: &[u8]) -> Vec<u8> {
    let reason = http::StatusCode::from_u16(status).ok().and_then(|code| code.canonical_reason()).unwrap_or_default();
    let mut head = format!("HTTP/1.1 {status} {reason}\r\n");
    for (name, value) in fields {
        write!(head, "{name}: {value}\r\n").expect("memory takes all");
    }
    let has_content = !matches!(status, 204 | 304);
    if has_content {
        write!(head, "Content-Length: {}\r\n", content.len()).expect("memory takes all");
    }
    let mut response = (head + "\r\n").into_bytes();
    if has_content && method != "HEAD" {
        response.extend_from_slice(content);
    }
    response
}
