//! Every way in which a server may frame its responses, over real sockets.

use serde_json::Value;
use torr_test_support::program::{torr, torr_json};
use torr_test_support::script::{Client, OK, Script, answering};

/// Presses a server that responds like this with six requests on two connections.
fn press(script: impl Fn(&mut Client) + Send + Sync + 'static, more: &[&str]) -> (Value, Script) {
    let server = Script::start(script);
    let url = server.url();
    let result = torr_json(&[&["-n", "6", "-c", "2", "-t", "1", url.as_str()], more].concat());
    let sum = |names: &[&str]| names.iter().map(|name| result[name].as_u64().unwrap_or(0)).sum::<u64>();
    let failed: u64 = ["connect", "tls", "timeout", "read", "write", "protocol", "ports"]
        .iter()
        .map(|kind| result["errors"][kind].as_u64().expect("every kind is there"))
        .sum();
    assert_eq!(result["asked"], 6, "{result}");
    assert_eq!(sum(&["requests", "unfinished"]) + failed, 6, "requests are lost: {result}");
    (result, server)
}

/// What six responses of this kind must come to: body bytes of each, and connections opened.
fn expect(response: &'static [u8], bytewise: bool, more: &[&str], body: u64, opened: u64) {
    // A connection for each response means that the server ended each.
    let closed = if opened == 6 { 6 } else { 0 };
    let shown = String::from_utf8_lossy(response);
    let (result, server) = press(
        move |client| {
            let ends = !String::from_utf8_lossy(response).contains("Length")
                && !String::from_utf8_lossy(response).contains("chunked")
                && !matches!(&response[9..12], b"204" | b"304");
            while client.request().is_some() {
                match bytewise {
                    true => client.send_bytewise(response),
                    false => client.send(response),
                }
                if ends {
                    return;
                }
            }
        },
        more,
    );
    assert_eq!(result["requests"], 6, "{shown:?}: {result}");
    assert_eq!(result["bytes"]["body"], 6 * body, "{shown:?}: {result}");
    assert_eq!(result["connections"]["opened"], opened, "{shown:?}: {result}");
    assert_eq!(result["connections"]["closed_by_server"], closed, "{shown:?}: {result}");
    assert_eq!(server.requests(), 6, "{shown:?}");
    let received = result["bytes"]["received"].as_u64().expect("it is a number");
    assert_eq!(received, 6 * response.len() as u64, "{shown:?}");
    let answered: u64 = result["status"].as_object().expect("it is a map").values().filter_map(Value::as_u64).sum();
    assert_eq!(answered, 6, "{shown:?}: {result}");
}

#[test]
fn responses_of_every_framing_are_counted_to_the_byte() {
    let head: &[&str] = &["-X", "HEAD"];
    let cases: &[(&[u8], &[&str], u64, u64)] = &[
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", &[], 5, 2),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", &[], 0, 2),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nSum: 1\r\n\r\n", &[], 11, 2),
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", &[], 13, 6),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", head, 0, 2),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", head, 0, 2),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", &[], 2, 2),
        (b"HTTP/1.1 204 No Content\r\n\r\n", &[], 0, 2),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n", &[], 0, 2),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", &[], 2, 6),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", &[], 2, 2),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", &[], 2, 6),
        (b"HTTP/1.1 200\nContent-Length : 2\n\nok", &[], 2, 2),
    ];
    for &(response, more, body, opened) in cases {
        expect(response, false, more, body, opened);
        expect(response, true, more, body, opened);
    }
}

#[test]
fn a_large_body_is_counted_whole() {
    const LARGE: usize = 30_000_000;
    let server = Script::start(|client| {
        while client.request().is_some() {
            client.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {LARGE}\r\n\r\n").as_bytes());
            client.send(&vec![b'x'; LARGE]);
        }
    });
    let result = torr_json(&["-n", "4", "-c", "2", &server.url()]);
    assert_eq!(result["requests"], 4, "{result}");
    assert_eq!(result["bytes"]["body"], 4 * LARGE, "{result}");
    let first = result["phases_us"]["first_byte"]["max"].as_u64();
    let last = result["latency_us"]["max"].as_u64();
    assert!(first <= last, "first byte {first:?}, last byte {last:?}");
}

#[test]
fn faults_of_responses_have_kinds() {
    let cases: &[(&'static [u8], &str, &str)] = &[
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokay", "protocol", "more bytes"),
        (b"HTTP/1.1 204 No Content\r\n\r\nsurprise", "protocol", "more bytes"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "protocol", "not an HTTP/1.x response"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "protocol", "Content-Length"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "protocol", "chunk"),
    ];
    for &(response, kind, what) in cases {
        let (result, _) = press(answering(response), &[]);
        let shown = String::from_utf8_lossy(response);
        assert_eq!(result["errors"][kind], 6, "{shown:?}: {result}");
        assert_eq!(result["causes"][0]["side"], "server", "{shown:?}: {result}");
        assert!(result["causes"][0]["what"].as_str().is_some_and(|w| w.contains(what)), "{shown:?}: {result}");
        assert_eq!(result["verdict"]["factor"], "errors", "{shown:?}: {result}");
    }
}

#[test]
fn a_connection_that_ends_too_early_is_a_read_error() {
    let cut: [(&[u8], &str); 3] = [
        (b"", "the server closed the connection before responding"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "the server closed the connection in the middle of a response"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
            "the server closed the connection in the middle of a response",
        ),
    ];
    for (response, what) in cut {
        let (result, _) = press(
            move |client| {
                if client.request().is_some() {
                    client.send(response);
                }
            },
            &[],
        );
        assert_eq!(result["errors"]["read"], 6, "{what}: {result}");
        assert_eq!(result["causes"][0]["what"], what, "{result}");
    }
}

#[test]
fn the_request_is_sent_as_given() {
    let server = Script::start(answering(OK));
    let file = tempfile::NamedTempFile::new().expect("there is room for temporary files");
    std::fs::write(&file, "from a file").expect("a file can be written");
    let body = format!("@{}", file.path().display());
    let url = format!("{}path?q=1", server.url());
    let args = ["-n", "1", "-X", "PUT", "-H", "Host: other", "-H", "X-One: 1", "-H", "Accept:", "--data", &body, &url];
    torr_json(&args);
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "PUT /path?q=1 HTTP/1.1\r\nHost: other\r\nUser-Agent: torr/{version}\r\nX-One: 1\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 11\r\n\r\nfrom a file"
    );
    assert_eq!(String::from_utf8_lossy(&server.seen.first.lock().unwrap()), expected);
}

#[test]
fn a_large_request_body_is_sent_whole() {
    const LARGE: usize = 10_000_000;
    let server = Script::start(answering(OK));
    let file = tempfile::NamedTempFile::new().expect("there is room for temporary files");
    std::fs::write(&file, vec![b'y'; LARGE]).expect("a file can be written");
    let result = torr_json(&["-n", "3", "-c", "2", "--data", &format!("@{}", file.path().display()), &server.url()]);
    assert_eq!(result["requests"], 3, "{result}");
    assert!(result["bytes"]["sent"].as_u64() > Some(3 * LARGE as u64), "{result}");
    let first = server.seen.first.lock().unwrap();
    assert!(first.starts_with(b"POST / ") && first.ends_with(&vec![b'y'; LARGE]), "{} bytes came", first.len());
}

#[test]
fn statuses_from_400_are_responses_and_errors() {
    let (result, _) = press(answering(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), &[]);
    assert_eq!((&result["requests"], &result["errors"]["status"]), (&6.into(), &6.into()), "{result}");
    assert_eq!(result["status"]["404"], 6, "{result}");
    assert_eq!(result["verdict"]["factor"], "errors", "{result}");
}

#[test]
fn the_report_can_be_read_without_colours() {
    let server = Script::start(answering(OK));
    let ended = torr(&["-n", "100", "-c", "4", &server.url()]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    for word in
        ["requests/s", "latency", "first byte", "connect", "200 x 100", "errors       none", "generator", "verdict"]
    {
        assert!(ended.stdout.contains(word), "no {word:?} in:\n{}", ended.stdout);
    }
    assert!(!ended.stdout.contains('\u{1b}'), "escape sequences in:\n{}", ended.stdout);
}
