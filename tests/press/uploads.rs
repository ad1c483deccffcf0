//! Large content of requests: shared memory, and responses that arrive before all of the content is sent.

use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use torr_net::tls::{ServerTlsSettings, TlsServer};
use torr_test_support::certificates::self_signed;
use torr_test_support::program::{Running, torr_command, torr_json};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{Client, OK, Script};
use torr_test_support::wait_until;

/// A file of so many bytes in which no two pieces are alike, and its bytes.
fn content(folder: &TempDir, len: u32) -> (PathBuf, Vec<u8>) {
    let bytes: Vec<u8> = (0..len).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let path = folder.path().join("content");
    std::fs::write(&path, &bytes).expect("there is room");
    (path, bytes)
}

fn data(path: &Path) -> String {
    format!("@{}", path.to_str().expect("temporary folders have plain names"))
}

/// Reads a header section and nothing behind it. Returns false if there is none.
fn read_head(stream: &mut impl Read) -> bool {
    head(stream).is_some()
}

/// Reads a header section and nothing behind it.
fn head(stream: &mut impl Read) -> Option<Vec<u8>> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    Some(head)
}

/// Prepares the end of a connection whose content is unread, so that the kernel sends a reset, at once or after an end.
fn leave(stream: &TcpStream, resets: bool) {
    match resets {
        true => socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO)).expect("an option"),
        false => stream.shutdown(Shutdown::Write).expect("it is connected"),
    }
}

#[test]
fn a_response_that_refuses_content_counts_although_the_rest_cannot_be_sent() {
    let folder = tempfile::tempdir().expect("there is room");
    let (path, _) = content(&folder, 20_000_000);
    for (status, resets) in [(413, true), (413, false), (417, true)] {
        let server = Script::start(move |client| {
            if read_head(&mut client.stream) {
                let text = format!("HTTP/1.1 {status} No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
                client.send(text.as_bytes());
                leave(&client.stream, resets);
            }
        });
        let result = torr_json(&["-n", "40", "-c", "4", "-t", "1", "--data-binary", &data(&path), &server.url()]);
        adds_up(&result);
        assert_eq!(count(&result, &format!("/status/{status}")), 40, "resets: {resets}: {result}");
        assert_eq!(count(&result, "/errors/write"), 0, "resets: {resets}: {result}");
    }
}

#[test]
fn a_response_over_tls_counts_although_the_rest_of_the_content_cannot_be_sent() {
    let folder = tempfile::tempdir().expect("there is room");
    let (path, _) = content(&folder, 20_000_000);
    let (certificate, key) = self_signed(folder.path());
    for resets in [true, false] {
        let acceptor = ServerTlsSettings::new(&certificate, &key).load().expect("they are sound");
        let server = Script::start(move |client| {
            let stream = client.stream.try_clone().expect("a socket can be shared");
            let tls = acceptor.accept().expect("it has a certificate");
            let mut secured = Secured { tls, stream, plain: Vec::new() };
            if read_head(&mut secured) {
                let text = b"HTTP/1.1 413 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno";
                secured.write_all(text).expect("the client is there");
                leave(&client.stream, resets);
            }
        });
        let url = server.url().replace("http:", "https:");
        let result = torr_json(&["-n", "40", "-c", "4", "-t", "1", "-k", "--data-binary", &data(&path), &url]);
        adds_up(&result);
        assert_eq!(count(&result, "/status/413"), 40, "resets: {resets}: {result}");
        assert_eq!(count(&result, "/errors/write"), 0, "resets: {resets}: {result}");
    }
}

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("it is short").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Reads frames up to so many of DATA. Returns false if the connection ends before.
fn read_until_data(stream: &mut impl Read, mut pieces: usize) -> bool {
    if stream.read_exact(&mut [0; 24]).is_err() {
        return false;
    }
    while pieces > 0 {
        let mut head = [0; 9];
        if stream.read_exact(&mut head).is_err() {
            return false;
        }
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        if stream.read_exact(&mut vec![0; length]).is_err() {
            return false;
        }
        pieces -= usize::from(head[3] == 0);
    }
    true
}

#[test]
fn a_response_over_http_2_counts_although_goaway_and_a_reset_follow_it() {
    let folder = tempfile::tempdir().expect("there is room");
    let (path, _) = content(&folder, 20_000_000);
    for resets in [true, false] {
        let server = Script::start(move |client| {
            // Windows of 2 GB: the client sends until the socket takes no more.
            let settings = frame(4, 0, 0, &[&[0, 4][..], &0x7fff_ffff_u32.to_be_bytes()].concat());
            let window = frame(8, 0, 0, &(0x7fff_ffff_u32 - 65_535).to_be_bytes());
            client.send(&[settings, window].concat());
            if read_until_data(&mut client.stream, 3) {
                // ':status: 413' without an index, the end of the stream, and the last stream that was processed.
                let response = frame(1, 5, 1, b"\x08\x03413");
                let goaway = frame(7, 0, 0, &[1_u32.to_be_bytes(), 0_u32.to_be_bytes()].concat());
                client.send(&[response, goaway].concat());
                leave(&client.stream, resets);
            }
        });
        let flags = ["-n", "40", "-c", "4", "-t", "1", "--http2-prior-knowledge"];
        let result = torr_json(&[&flags[..], &["--data-binary", &data(&path), &server.url()]].concat());
        adds_up(&result);
        assert_eq!(count(&result, "/status/413"), 40, "resets: {resets}: {result}");
        assert_eq!(count(&result, "/errors/write"), 0, "resets: {resets}: {result}");
    }
}

#[test]
fn a_reset_without_a_response_is_still_a_failure() {
    let folder = tempfile::tempdir().expect("there is room");
    let (path, _) = content(&folder, 20_000_000);
    let server = Script::start(|client| {
        if read_head(&mut client.stream) {
            socket2::SockRef::from(&client.stream).set_linger(Some(Duration::ZERO)).expect("an option");
        }
    });
    let result = torr_json(&["-n", "12", "-c", "4", "-t", "1", "--data-binary", &data(&path), &server.url()]);
    adds_up(&result);
    assert_eq!(count(&result, "/errors/write") + count(&result, "/errors/read"), 12, "{result}");
    assert_eq!(result["causes"][0]["side"], "server", "{result}");
}

#[test]
fn a_connection_that_torr_closes_is_not_closed_by_the_server() {
    let folder = tempfile::tempdir().expect("there is room");
    let (path, _) = content(&folder, 20_000_000);
    let early = Script::start(|client| {
        while read_head(&mut client.stream) {
            client.send(OK);
            // Up to the end of the connection, or of content that was sent completely before the response was read.
            let mut content = Read::take(&mut client.stream, 20_000_000);
            if std::io::copy(&mut content, &mut std::io::sink()).is_err() {
                return;
            }
        }
    });
    let result = torr_json(&["-n", "5", "-c", "1", "-t", "1", "--data-binary", &data(&path), &early.url()]);
    adds_up(&result);
    assert_eq!((count(&result, "/status/200"), count(&result, "/connections/closed_by_server")), (5, 0), "{result}");
    let polite = Script::start(|client| {
        if client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
        }
    });
    let result = torr_json(&["-n", "6", "-c", "2", "-t", "1", "-H", "Connection: close", &polite.url()]);
    adds_up(&result);
    assert_eq!((count(&result, "/status/200"), count(&result, "/connections/closed_by_server")), (6, 0), "{result}");
}

/// A stream over TLS on the server's side.
struct Secured {
    tls: TlsServer,
    stream: TcpStream,
    plain: Vec<u8>,
}

impl Secured {
    fn receive(&mut self) -> bool {
        let (mut input, mut out) = (vec![0; 65536], Vec::new());
        let Ok(len @ 1..) = self.stream.read(&mut input) else { return false };
        self.tls.receive(&mut input[..len], &mut out, &mut self.plain).expect("the client speaks TLS");
        self.stream.write_all(&out).is_ok() && !self.tls.is_closed()
    }
}

impl Read for Secured {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.plain.is_empty() {
            if !self.receive() {
                return Ok(0);
            }
        }
        let len = self.plain.len().min(buffer.len());
        buffer[..len].copy_from_slice(&self.plain[..len]);
        self.plain.drain(..len);
        Ok(len)
    }
}

impl Write for Secured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut out = Vec::new();
        self.tls.send(bytes, &mut out).expect("the handshake is complete");
        self.stream.write_all(&out)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Reads content of this length and compares it.
fn read_content(stream: &mut impl Read, expected: &[u8], is_same: &AtomicBool) {
    let (mut at, mut buffer) = (0, vec![0; 65536]);
    while at < expected.len() {
        let most = buffer.len().min(expected.len() - at);
        let Ok(len @ 1..) = stream.read(&mut buffer[..most]) else { break };
        if buffer[..len] != expected[at..at + len] {
            break;
        }
        at += len;
    }
    if at < expected.len() {
        is_same.store(false, Ordering::SeqCst);
    }
}

/// Loads a server that reads no content before all connections have sent their heads. Returns the result and the peak memory of
/// torr in bytes at that time, without the pages of files. `flags` may have what sends the content of `path` instead: a script, or a hurl file, with the URL as a
/// variable.
fn load_held(connections: usize, expected: Vec<u8>, path: &Path, secured: bool, flags: &[&str]) -> (Value, u64) {
    let folder = tempfile::tempdir().expect("there is room");
    let (certificate, key) = self_signed(folder.path());
    let acceptor = ServerTlsSettings::new(&certificate, &key).load().expect("they are sound");
    let (heads, released, is_same) =
        (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(true)));
    let seen = (Arc::clone(&heads), Arc::clone(&released), Arc::clone(&is_same));
    let server = Script::start(move |client: &mut Client| {
        let (heads, released, is_same) = &seen;
        fn serve(
            stream: &mut (impl Read + Write),
            heads: &AtomicUsize,
            released: &AtomicBool,
            expected: &[u8],
            is_same: &AtomicBool,
        ) {
            while read_head(stream) {
                heads.fetch_add(1, Ordering::SeqCst);
                wait_until("the test to have looked", || released.load(Ordering::SeqCst).then_some(()));
                read_content(stream, expected, is_same);
                let _ = stream.write_all(OK);
            }
        }
        let mut stream = client.stream.try_clone().expect("a socket can be shared");
        if secured {
            let tls = acceptor.accept().expect("it has a certificate");
            serve(&mut Secured { tls, stream, plain: Vec::new() }, heads, released, &expected, is_same);
        } else {
            serve(&mut stream, heads, released, &expected, is_same);
        }
    });
    let url = if secured { server.url().replace("http:", "https:") } else { server.url() };
    let (requests, together) = ((2 * connections).to_string(), connections.to_string());
    let args = ["-n", &requests, "-c", &together, "-t", "1", "-k", "--timeout", "60s", "--json", "-"];
    let (data, variable) = (data(path), format!("url={url}"));
    let is_session = flags.iter().any(|flag| flag.ends_with(".hurl"));
    let sent = match (is_session, flags.contains(&"--script")) {
        (true, _) => ["--variable", &variable].to_vec(),
        (false, true) => [&*url].to_vec(),
        (false, false) => ["--data-binary", &data, &url].to_vec(),
    };
    let torr = Running::start(torr_command(&[&args, flags, &sent].concat()));
    wait_until("all connections to have a request", || (heads.load(Ordering::SeqCst) == connections).then_some(()));
    let status = std::fs::read_to_string(format!("/proc/{}/status", torr.pid())).expect("it runs");
    let of_status = |name: &str| -> u64 {
        let value = status.lines().find_map(|line| line.strip_prefix(name)).expect("the kernel counts it");
        value.trim().trim_end_matches(" kB").trim().parse().expect("it is a number")
    };
    // The pages of the program's file say nothing of content, and grow with all that the program can do.
    let peak = of_status("VmHWM:") - of_status("RssFile:");
    released.store(true, Ordering::SeqCst);
    let ended = torr.wait();
    let result = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    assert!(is_same.load(Ordering::SeqCst), "the content is not that of the file: {result}");
    (result, peak * 1024)
}

#[test]
fn all_connections_send_large_content_from_the_same_memory() {
    let folder = tempfile::tempdir().expect("there is room");
    let (path, bytes) = content(&folder, 8_000_000);
    let session = folder.path().join("upload.hurl");
    std::fs::write(&session, "POST {{url}}\nfile,content;\nHTTP 200\n").expect("there is room");
    let session = session.to_str().expect("temporary folders have plain names");
    let script = folder.path().join("upload.lua");
    let read = format!("local content = io.open('{}', 'rb'):read('*a')\n", path.display());
    let send = "function session(user)\n  http.post('/', { body = content })\nend\n";
    std::fs::write(&script, read + send).expect("there is room");
    let script = script.to_str().expect("temporary folders have plain names");
    let of_wrk = folder.path().join("of_wrk.lua");
    let read = format!("local content = io.open('{}', 'rb'):read('*a')\n", path.display());
    let request = "request = function() return wrk.format('POST', '/', nil, content) end\n";
    std::fs::write(&of_wrk, read + request).expect("there is room");
    let of_wrk = of_wrk.to_str().expect("temporary folders have plain names");
    let cases: [(bool, &[&str], u64); 11] = [
        (false, &[], 60),
        (true, &[], 60),
        (false, &["--pipeline", "2"], 60),
        (false, &["--follow"], 60),
        (true, &["--follow"], 60),
        (false, &[session], 60),
        (true, &[session], 60),
        (false, &["--script", script], 60),
        (true, &["--script", script], 60),
        (false, &["--script", of_wrk], 60),
        (true, &["--script", of_wrk], 60),
    ];
    for (secured, flags, expected) in cases {
        let (result, peak) = load_held(30, bytes.clone(), &path, secured, flags);
        adds_up(&result);
        assert_eq!(count(&result, "/status/200"), expected, "secured: {secured}, {flags:?}: {result}");
        assert!(peak < 80_000_000, "secured: {secured}, {flags:?}: {peak} bytes of memory for 30 times 8 MB");
    }
}

#[test]
fn all_connections_send_large_texts_between_placeholders_from_the_same_memory() {
    let folder = tempfile::tempdir().expect("there is room");
    // What is drawn is always 7.
    let text = |drawn: &str| -> String {
        let parts = (0..4).map(|part| format!("{drawn} {drawn}{}", format!("{part}-of-4 ").repeat(250_000)));
        parts.collect::<String>() + drawn
    };
    let path = folder.path().join("content");
    std::fs::write(&path, text("{{rand 7 7}}")).expect("there is room");
    for (secured, flags) in [(false, &[][..]), (true, &[]), (false, &["--follow"]), (true, &["--follow"])] {
        let (result, peak) = load_held(30, text("7").into_bytes(), &path, secured, flags);
        adds_up(&result);
        assert_eq!(count(&result, "/status/200"), 60, "secured: {secured}, {flags:?}: {result}");
        assert!(peak < 80_000_000, "secured: {secured}, {flags:?}: {peak} bytes of memory for 30 times 8 MB");
    }
}

#[test]
fn a_redirect_repeats_large_content_on_its_connection_or_on_another_one() {
    let folder = tempfile::tempdir().expect("there is room");
    let (path, bytes) = content(&folder, 300_000);
    for (status, end) in [(307, ""), (307, "Connection: close\r\n"), (303, ""), (303, "Connection: close\r\n")] {
        let expected = bytes.clone();
        let server = Script::start(move |client| {
            while let Some(request) = client.request() {
                let is_whole = request.ends_with(&expected);
                let redirect = format!("HTTP/1.1 {status} See\r\nLocation: /next\r\n{end}Content-Length: 0\r\n\r\n");
                match &request[..10] {
                    b"POST / HTT" if is_whole => client.send(redirect.as_bytes()),
                    b"POST /next" if is_whole && status == 307 => client.send(OK),
                    b"GET /next " if request.ends_with(b"\r\n\r\n") && status == 303 => client.send(OK),
                    _ => client.send(b"HTTP/1.1 500 Other\r\nContent-Length: 0\r\n\r\n"),
                }
                if !end.is_empty() && request.starts_with(b"POST / ") {
                    return;
                }
            }
        });
        let flags = ["-n", "20", "-c", "4", "-t", "1", "--follow", "--data-binary"];
        let result = torr_json(&[&flags[..], &[&data(&path), &server.url()]].concat());
        adds_up(&result);
        let counts = (count(&result, "/status/200"), count(&result, "/redirects_followed"));
        assert_eq!(counts, (20, 20), "{status} {end}: {result}");
    }
}

#[test]
fn a_redirect_before_all_content_is_sent_is_followed_on_another_connection() {
    let folder = tempfile::tempdir().expect("there is room");
    let (path, bytes) = content(&folder, 8_000_000);
    let is_same = Arc::new(AtomicBool::new(true));
    let seen = Arc::clone(&is_same);
    let server = Script::start(move |client| {
        if let Some(head) = head(&mut client.stream) {
            if head.starts_with(b"POST / ") {
                client.send(b"HTTP/1.1 308 See\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n");
                // The end of the connection.
                while matches!(client.stream.read(&mut [0; 65536]), Ok(1..)) {}
                return;
            }
            read_content(&mut client.stream, &bytes, &seen);
            client.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let flags = ["-n", "6", "-c", "2", "-t", "1", "--follow", "--data-binary"];
    let result = torr_json(&[&flags[..], &[&data(&path), &server.url()]].concat());
    adds_up(&result);
    assert_eq!((count(&result, "/status/200"), count(&result, "/redirects_followed")), (6, 6), "{result}");
    assert!(is_same.load(Ordering::SeqCst), "the content is not that of the file");
}
