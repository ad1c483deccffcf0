//! The server that both programs ask.

use std::collections::BTreeMap;
use torr_test_support::script::{Client, Script};

pub const DOC: &[u8] = include_bytes!("doc.json");
pub const BYTES: &[u8] = include_bytes!("bytes.bin");
const PAGE: &[u8] = include_bytes!("page.html");
const FEED: &[u8] = include_bytes!("feed.xml");

/// `compressed text`, compressed.
const GZIP: &[u8] = &[
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 206, 207, 45, 40, 74, 45, 46, 78, 77, 81, 40, 73, 173, 40, 1, 0, 194, 24, 216,
    216, 15, 0, 0, 0,
];

const OF_DOC: &str = "Content-Type: application/json; charset=utf-8\r\nX-Twice: a\r\nX-Twice: b\r\nX-Number: 42\r\n\
X-Spaced:   a  b \r\n\
Set-Cookie: id=abc; Path=/; Domain=127.0.0.1; Max-Age=60; Secure; HttpOnly; SameSite=Lax; \
Expires=Wed, 13 Jan 2021 22:23:01 GMT\r\n\
Set-Cookie: theme=dark\r\nSet-Cookie: theme=light; Secure\r\nSet-Cookie: old=1; Expires=Wed, 02-Jan-2030 10:00:00 GMT\r\n\
Set-Cookie: bad=1; Expires=tomorrow\r\n";

pub fn start() -> Script {
    Script::start(serve)
}

fn serve(client: &mut Client) {
    while let Some(request) = client.request() {
        let text = String::from_utf8_lossy(&request);
        let mut words = text.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let echo;
        let (status, fields, content): (&str, &str, &[u8]) = match target.split('?').next().unwrap_or_default() {
            "/doc" => ("200 OK", OF_DOC, DOC),
            "/page" => ("200 OK", "Content-Type: text/html; charset=utf-8\r\n", PAGE),
            "/feed" => ("200 OK", "Content-Type: application/atom+xml\r\n", FEED),
            "/bytes" => ("200 OK", "Content-Type: application/octet-stream\r\n", BYTES),
            "/latin" => ("200 OK", "Content-Type: text/plain; charset=iso-8859-1\r\n", b"caf\xe9"),
            "/gzip" => ("200 OK", "Content-Type: text/plain\r\nContent-Encoding: gzip\r\n", GZIP),
            "/empty" => ("204 No Content", "", b""),
            "/login" => {
                let fields = "Content-Type: application/json\r\nSet-Cookie: sid=s1; Path=/\r\n";
                ("200 OK", fields, br#"{"token": "t%201", "list": ["a", "b"]}"#)
            }
            "/hop" => ("302 Found", "Location: hop2?x=1\r\n", b""),
            "/hop2" => ("303 See Other", "Location: /echo\r\n", b""),
            "/echo" => {
                echo = echoed(method, target, &request);
                ("200 OK", "Content-Type: text/plain\r\n", &echo)
            }
            _ => ("404 Not Found", "", b""),
        };
        let mut response = format!("HTTP/1.1 {status}\r\n{fields}").into_bytes();
        if !status.starts_with("204") {
            response.extend_from_slice(format!("Content-Length: {}\r\n", content.len()).as_bytes());
        }
        response.extend_from_slice(b"\r\n");
        if method != "HEAD" {
            response.extend_from_slice(content);
        }
        client.send(&response);
    }
}

/// Returns a request as text: method and target, the fields that a file can ask for in the order of their names, an empty line
/// and the content.
fn echoed(method: &str, target: &str, request: &[u8]) -> Vec<u8> {
    let end = request.windows(4).position(|window| window == b"\r\n\r\n").map_or(request.len(), |at| at + 4);
    let head = String::from_utf8_lossy(&request[..end]).into_owned();
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    let fields: BTreeMap<_, _> = fields.map(|(name, value)| (name.to_ascii_lowercase(), value.trim())).collect();
    let shown = fields.iter().filter(|(name, _)| {
        ["content-type", "cookie", "authorization"].contains(&name.as_str()) || name.starts_with("x-")
    });
    let mut out = format!("{method} {target}\n");
    for (name, value) in shown {
        // The boundary of a multipart form is the client's.
        let value = value.split("; boundary=").next().unwrap_or_default();
        out.push_str(&format!("{name}: {value}\n"));
    }
    out.push('\n');
    let mut out = out.into_bytes();
    out.extend_from_slice(&request[end..]);
    out
}
