//! HTTP/3 against the servers of others: by quic-go, by aioquic, and Caddy.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use tempfile::TempDir;
use torr_test_support::certificates::self_signed;
use torr_test_support::program::{built_by_full, torr, torr_json};
use torr_test_support::result::{adds_up, count};

/// The SHA-256 of no content, as far as the servers print it.
const EMPTY: &str = "0 e3b0c44298fc1c14";

/// A server with a folder of its own, which `./test full` builds or installs. It prints its address first.
struct Peer {
    child: Child,
    replies: BufReader<ChildStdout>,
    address: String,
    folder: TempDir,
}

impl Peer {
    /// A server by quic-go, which makes its certificate itself.
    fn quic_go() -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let mut command = Command::new(built_by_full("http3/server"));
        command.arg(folder.path());
        Self::start(command, folder)
    }

    /// A server by aioquic, with these words that say what is special of it.
    fn aioquic(words: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        self_signed(folder.path());
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/http3/aioquic/server.py");
        let mut command = Command::new(built_by_full("oracles/aioquic/bin/python"));
        command.arg(program).arg(folder.path()).args(words);
        Self::start(command, folder)
    }

    /// Caddy, with a page at / and a file of 10 MB.
    fn caddy() -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        self_signed(folder.path());
        std::fs::create_dir(folder.path().join("files")).expect("there is room");
        std::fs::write(folder.path().join("files/large"), vec![b'z'; 10_000_000]).expect("there is room");
        let mut command = Command::new(built_by_full("caddy/server"));
        command.arg(folder.path());
        Self::start(command, folder)
    }

    fn start(mut command: Command, folder: TempDir) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let replies = BufReader::new(child.stdout.take().expect("it is piped"));
        // From here on it ends with this value, whatever it prints.
        let mut peer = Self { child, replies, address: String::new(), folder };
        peer.replies.read_line(&mut peer.address).expect("a pipe can be read");
        peer.address = peer.address.trim().to_owned();
        assert!(!peer.address.is_empty(), "{command:?} ended before it listened");
        peer
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Loads the server on one thread.
    fn press(&self, path: &str, args: &[&str]) -> Value {
        self.press_by("--http3", path, args)
    }

    /// Loads the server on one thread, with a flag that says by which protocol.
    fn press_by(&self, protocol: &str, path: &str, args: &[&str]) -> Value {
        let certificate = self.folder().join("server.pem");
        let certificate = certificate.to_str().expect("the path is text");
        let url = format!("https://{}{path}", self.address);
        let result = torr_json(&[args, &["-t", "1", protocol, "--cacert", certificate, &url]].concat());
        adds_up(&result);
        result
    }

    /// Loads the server with content of 10 MB.
    fn upload(&self, path: &str, args: &[&str]) -> Value {
        self.upload_bytes(10_000_000, path, args)
    }

    fn upload_bytes(&self, bytes: usize, path: &str, args: &[&str]) -> Value {
        let content = self.folder().join("content");
        std::fs::write(&content, vec![b'z'; bytes]).expect("there is room");
        let data = format!("@{}", content.display());
        self.press(path, &[args, &["--data-binary", &data]].concat())
    }

    /// The requests so far, each with how often it has come.
    fn seen(&mut self) -> Value {
        let input = self.child.stdin.as_mut().expect("it is piped");
        input.write_all(b"?").expect("the server runs");
        let mut line = String::new();
        self.replies.read_line(&mut line).expect("a pipe can be read");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The end of its input ends the server.
    fn end(&mut self) {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        let _ = self.replies.read_to_string(&mut rest);
        let _ = self.child.wait();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.end();
    }
}

fn all_answered(result: &Value, requests: u64) {
    let wrong = (&result["errors"], &result["causes"]);
    assert_eq!((count(result, "/requests"), count(result, "/unfinished")), (requests, 0), "{wrong:?}");
}

#[test]
#[ignore = "a server by quic-go, which ./test full builds"]
fn quic_go_receives_what_was_planned() {
    let mut server = Peer::quic_go();
    let result = server.press("/x?y=1", &["-c", "4", "--streams", "20", "-n", "5000", "-H", "X-Mine: 1", "-A", "me"]);
    all_answered(&result, 5000);
    assert_eq!(count(&result, "/bytes/body"), 5 * 5000);
    let host = server.address.clone();
    let expected = format!("HTTP/3.0 GET {host} /x?y=1 | user-agent: me | x-mine: 1 | {EMPTY}");
    let seen = server.seen();
    let seen = seen.as_object().expect("it is a map");
    assert_eq!((seen.len(), &seen.values().next().cloned()), (1, &Some(5000.into())), "{seen:?}");
    let only = seen.keys().next().expect("there is one");
    assert_eq!(only.replace("accept: */* | ", ""), expected);
}

#[test]
#[ignore = "a server by quic-go, which ./test full builds"]
fn quic_go_sends_and_receives_large_content() {
    let mut server = Peer::quic_go();
    let result = server.press("/bytes/10000000", &["-c", "2", "--streams", "3", "-n", "12"]);
    all_answered(&result, 12);
    assert_eq!(count(&result, "/bytes/body"), 120_000_000);
    let result = server.upload("/", &["-c", "2", "--streams", "3", "-n", "12"]);
    all_answered(&result, 12);
    let uploads = server
        .seen()
        .as_object()
        .expect("it is a map")
        .iter()
        .filter(|(request, _)| request.contains(" POST "))
        .map(|(request, times)| (request.contains("| 10000000 "), times.as_u64()))
        .collect::<Vec<_>>();
    assert_eq!(uploads, [(true, Some(12))]);
}

#[test]
#[ignore = "a server by quic-go, which ./test full builds"]
fn quic_go_fails_requests_and_leaves_connections() {
    let server = Peer::quic_go();
    let result = server.press("/status/503", &["-c", "2", "-n", "100"]);
    assert_eq!(count(&result, "/status/503"), 100);
    let result = server.press("/chunks", &["-c", "2", "--streams", "5", "-n", "100"]);
    all_answered(&result, 100);
    assert_eq!(count(&result, "/bytes/body"), 500_000);
    let result = server.press("/reset", &["-c", "1", "-n", "5"]);
    assert_eq!(count(&result, "/errors/read") + count(&result, "/errors/protocol"), 5, "{}", result["causes"]);
    let result = server.press("/never", &["-c", "2", "-n", "4", "--timeout", "1s"]);
    assert_eq!(count(&result, "/errors/timeout"), 4, "{}", result["causes"]);
    let result = server.press("/", &["-c", "5", "-n", "200", "--no-keepalive"]);
    all_answered(&result, 200);
    assert!(count(&result, "/tls/resumed") > 0, "{}", result["tls"]);
}

/// Returns what a server by aioquic has seen, if it is of one kind of request with the sum of its content.
fn only(seen: &Value) -> (&str, &Value) {
    let requests = seen["requests"].as_object().expect("it is a map");
    assert_eq!(requests.len(), 1, "{seen}");
    requests.iter().next().map(|(request, times)| (request.as_str(), times)).expect("there is one")
}

#[test]
#[ignore = "aioquic, which ./test full installs"]
fn aioquic_receives_what_was_planned() {
    let mut server = Peer::aioquic(&[]);
    let result = server.press("/x?y=1", &["-c", "3", "--streams", "1000", "-n", "4000", "-H", "X-Mine: 1", "-A", "me"]);
    all_answered(&result, 4000);
    assert_eq!(count(&result, "/bytes/body"), 5 * 4000);
    let seen = server.seen();
    let (request, times) = only(&seen);
    let pseudo = format!(":method: GET | :scheme: https | :authority: {} | :path: /x?y=1", server.address);
    assert_eq!(times, 4000);
    assert!(request.starts_with(&pseudo) && request.ends_with(EMPTY), "{request}");
    for field in ["user-agent: me", "x-mine: 1"] {
        assert_eq!(request.split(" | ").filter(|other| *other == field).count(), 1, "{request}");
    }
    // All were closed in good order: with H3_NO_ERROR.
    assert_eq!((&seen["connections"], &seen["closed"]), (&json!(3), &json!({"0x100": 3})), "{seen}");
}

#[test]
#[ignore = "aioquic, which ./test full installs"]
fn aioquic_sends_and_receives_large_content() {
    // Python is slow where others use the CPUs.
    let load = ["-c", "1", "--streams", "2", "-n", "2", "--timeout", "50s"];
    let server = Peer::aioquic(&[]);
    let result = server.press("/bytes/10000000", &load);
    all_answered(&result, 2);
    assert_eq!(count(&result, "/bytes/body"), 20_000_000);
    let mut server = Peer::aioquic(&[]);
    let result = server.upload("/echo", &load);
    all_answered(&result, 2);
    assert_eq!(count(&result, "/bytes/body"), 20_000_000);
    let seen = server.seen();
    let (request, times) = only(&seen);
    assert!(
        request.contains("content-length: 10000000") && request.ends_with(" | 10000000 7c1c8fd73f002d5e"),
        "{request}"
    );
    assert_eq!(times, 2);
}

#[test]
#[ignore = "aioquic, which ./test full installs"]
fn aioquic_fails_requests_and_leaves_connections() {
    let server = Peer::aioquic(&[]);
    let result = server.press("/status/503", &["-c", "2", "-n", "100"]);
    assert_eq!(count(&result, "/status/503"), 100);
    let result = server.press("/chunks", &["-c", "2", "--streams", "5", "-n", "100"]);
    all_answered(&result, 100);
    assert_eq!(count(&result, "/bytes/body"), 500_000);
    let result = server.press("/reset", &["-c", "1", "-n", "5"]);
    let cause = &result["causes"][0];
    assert_eq!(count(&result, "/errors/read"), 5, "{cause}");
    assert_eq!(cause["what"], "the server reset the stream: H3_INTERNAL_ERROR");
    let result = server.press("/never", &["-c", "2", "-n", "4", "--timeout", "1s"]);
    assert_eq!(count(&result, "/errors/timeout"), 4, "{}", result["causes"]);
    let result = server.press("/", &["-c", "5", "-n", "100", "--no-keepalive"]);
    all_answered(&result, 100);
    assert!(count(&result, "/tls/resumed") > 0, "{}", result["tls"]);
}

#[test]
#[ignore = "aioquic, which ./test full installs"]
fn aioquic_validates_addresses_first() {
    let mut server = Peer::aioquic(&["retry"]);
    let result = server.press("/", &["-c", "4", "-n", "40", "--requests-per-connection", "5"]);
    all_answered(&result, 40);
    let connections = count(&result, "/connections/opened");
    let result = server.upload_bytes(200_000, "/echo", &["-c", "1", "-n", "1"]);
    all_answered(&result, 1);
    let seen = server.seen();
    assert_eq!(count(&seen, "/connections"), connections + 1, "{seen}");
    assert!(count(&seen, "/resumed") > 0, "{seen}");
    assert_eq!(seen["closed"], json!({"0x100": connections + 1}), "{seen}");
}

#[test]
#[ignore = "aioquic, which ./test full installs"]
fn content_waits_for_the_windows_of_aioquic() {
    let mut server = Peer::aioquic(&["narrow"]);
    let result = server.upload_bytes(200_000, "/echo", &["-c", "2", "--streams", "4", "-n", "16"]);
    all_answered(&result, 16);
    assert_eq!(count(&result, "/bytes/body"), 16 * 200_000);
    let seen = server.seen();
    let (request, times) = only(&seen);
    assert!(request.ends_with(" | 200000 806c53b3aab21811"), "{request}");
    assert_eq!((times, &seen["closed"]), (&json!(16), &json!({"0x100": 2})), "{seen}");
}

#[test]
#[ignore = "aioquic, which ./test full installs"]
fn aioquic_changes_keys_during_a_load() {
    let mut server = Peer::aioquic(&["keys"]);
    let result = server.press("/bytes/20000", &["-c", "2", "--streams", "5", "-n", "1000"]);
    all_answered(&result, 1000);
    assert_eq!(count(&result, "/connections/opened"), 2);
    let seen = server.seen();
    // With every tenth request of a connection.
    assert!((99..=100).contains(&count(&seen, "/keys")), "{seen}");
    assert_eq!(seen["closed"], json!({"0x100": 2}), "{seen}");
}

#[test]
#[ignore = "aioquic, which ./test full installs"]
fn a_server_with_another_version_of_quic_is_one_line() {
    let server = Peer::aioquic(&["version2"]);
    let ended = torr(&["--http3", "-k", "-c", "1", "-n", "1", &format!("https://{}/", server.address)]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stderr.contains("the server does not support QUIC version 1"), "{ended:?}");
}

/// Ends Caddy, and returns what it has written of its requests: protocol, path, status and the bytes of content.
fn logged(server: &mut Peer) -> Vec<(String, String, u64, u64)> {
    server.end();
    let log = std::fs::read_to_string(server.folder().join("access.log")).expect("Caddy writes a log");
    let text = |value: &Value| value.as_str().expect("it is text").to_owned();
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("it is JSON");
        let request = &line["request"];
        (text(&request["proto"]), text(&request["uri"]), count(&line, "/status"), count(&line, "/size"))
    };
    log.lines().map(line).collect()
}

#[test]
#[ignore = "Caddy, which ./test full builds"]
fn caddy_responds_to_every_request_of_a_load() {
    let mut server = Peer::caddy();
    let result = server.press("/", &["-c", "4", "--streams", "20", "-n", "5000"]);
    all_answered(&result, 5000);
    assert_eq!((count(&result, "/status/200"), count(&result, "/bytes/body")), (5000, 5 * 5000));
    assert_eq!(count(&result, "/connections/opened"), 4);
    let result = server.press("/large", &["-c", "2", "--streams", "3", "-n", "12"]);
    all_answered(&result, 12);
    assert_eq!((count(&result, "/status/200"), count(&result, "/bytes/body")), (12, 120_000_000));
    let result = server.press("/missing", &["-c", "1", "-n", "10"]);
    assert_eq!(count(&result, "/status/404"), 10);
    let result = server.press("/", &["-c", "5", "-n", "200", "--no-keepalive"]);
    all_answered(&result, 200);
    assert!(count(&result, "/tls/resumed") > 0, "{}", result["tls"]);
    let seen = logged(&mut server);
    let times = |path: &str, status: u64, size: u64| {
        seen.iter().filter(|line| **line == ("HTTP/3.0".to_owned(), path.to_owned(), status, size)).count()
    };
    assert_eq!((times("/", 200, 5), times("/large", 200, 10_000_000), times("/missing", 404, 0)), (5200, 12, 10));
    assert_eq!(seen.len(), 5222);
}

#[test]
#[ignore = "Caddy, which ./test full builds"]
fn caddy_offers_http3_and_a_run_by_that_has_no_errors() {
    let mut server = Peer::caddy();
    let result = server.press_by("--alt-svc", "/", &["-c", "8", "--streams", "4", "-d", "2s"]);
    let plan = &result["plan"];
    let port = server.address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    assert_eq!((&plan["protocol"], plan["alt_svc"]["port"].as_u64()), (&json!("h3"), port), "{plan}");
    let requests = count(&result, "/requests");
    // Each request that was begun has its response but those that the end of the run has cut off.
    assert_eq!(count(&result, "/asked"), requests + count(&result, "/unfinished"), "{}", result["causes"]);
    assert_eq!(count(&result, "/status/200"), requests);
    assert!(requests > 100, "{requests}");
    let result = server.press("/", &["-c", "4", "--streams", "4", "-r", "500", "-n", "500"]);
    all_answered(&result, 500);
    let seen = logged(&mut server);
    let by = |protocol: &str| seen.iter().filter(|line| line.0 == protocol).count() as u64;
    // The offer is requested by HTTP/1.1.
    assert_eq!(by("HTTP/1.1"), 1);
    assert!(by("HTTP/3.0") >= requests + 500, "{} of {requests} and 500", by("HTTP/3.0"));
}
