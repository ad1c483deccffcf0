//! `https://` URLs, against nginx.

use std::io::{BufRead, BufReader, Read};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use torr_net::tls::ServerTlsSettings;
use torr_test_support::certificates::{client_of_an_authority, self_signed, valid_until};
use torr_test_support::program::{Running, torr, torr_json};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::Script;
use torr_test_support::servers::{Nginx, Serve, free_port};
use torr_test_support::wait_until;

const HELLO: &str = "location / { return 200 'hello'; }";

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

#[test]
fn requests_go_through_tls_of_either_version() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = self_signed(folder.path());
    let server = Nginx::start_tls(&certificate, &key, HELLO);
    for (version, flags) in [("TLSv1.2", &["--tls-max", "1.2"][..]), ("TLSv1.3", &["--tlsv1.3"]), ("TLSv1.3", &[])] {
        let load = ["-n", "500", "-c", "5", "-t", "2", "--cacert", text(&certificate), &server.https()];
        let result = torr_json(&[flags, &load].concat());
        adds_up(&result);
        assert_eq!((count(&result, "/requests"), count(&result, "/status/200")), (500, 500), "{result}");
        assert_eq!(
            (&result["tls"]["version"], count(&result, "/phases_us/tls/max") > 0),
            (&version.into(), true),
            "{result}"
        );
        assert_eq!(count(&result, "/tls/full") + count(&result, "/tls/resumed"), 5, "{result}");
        assert_eq!(count(&result, "/bytes/body"), 2500, "{result}");
    }
}

#[test]
fn a_failed_response_is_shown_decrypted() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = self_signed(folder.path());
    let server = Nginx::start_tls(&certificate, &key, "location / { return 503 'no room'; }");
    let result = torr_json(&["-n", "20", "-c", "2", "--insecure", &server.https()]);
    adds_up(&result);
    let sample = &result["failed_response"];
    assert!(sample["status_line"].as_str().is_some_and(|line| line.starts_with("HTTP/1.1 503 ")), "{sample}");
    assert_eq!((&sample["content"], &sample["complete"]), (&"no room".into(), &true.into()), "{sample}");
}

#[test]
fn sessions_are_resumed_as_configured() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = self_signed(folder.path());
    let server = Nginx::start_tls(&certificate, &key, HELLO);
    for (version, most) in [("1.2", 3), ("1.3", 3)] {
        for (how, full) in [("on", 0..=most), ("off", 100..=100), ("full", 100..=100)] {
            let result = torr_json(&[
                "-n",
                "100",
                "-c",
                "3",
                "-t",
                "1",
                "--no-keepalive",
                "--insecure",
                "--tls-max",
                version,
                "--tls-resumption",
                how,
                &server.https(),
            ]);
            adds_up(&result);
            let (had_full, resumed) = (count(&result, "/tls/full"), count(&result, "/tls/resumed"));
            assert_eq!(had_full + resumed, 100, "{version} {how}: {result}");
            assert!(full.contains(&had_full), "{version} {how}: {had_full} full handshakes: {result}");
        }
    }
}

#[test]
fn a_server_is_believed_only_with_reason() {
    let (folder, others) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (certificate, key) = self_signed(folder.path());
    let (other, _) = self_signed(others.path());
    let server = Nginx::start_tls(&certificate, &key, HELLO);
    let url = server.https();
    let plain = Serve::start(&["--workers", "1"]);
    let no_tls = format!("https://{}/", plain.address);
    let expired = tempfile::tempdir().unwrap();
    let (old, old_key) = valid_until(expired.path(), 2021);
    let old_server = Nginx::start_tls(&old, &old_key, HELLO);
    let old_url = old_server.https();
    for (args, why) in [
        (vec![url.as_str()], "--cacert"),
        (vec!["--cacert", text(&other), &url], "does not match the issuer's certificate"),
        (
            vec!["--cacert", text(&certificate), "--sni", "other.test", &url],
            "is valid for localhost, 127.0.0.1, not for other.test",
        ),
        (vec!["--cacert", text(&old), &old_url], "expired on 2021-01-01"),
        (vec!["--insecure", &no_tls], "does not use TLS on this port"),
    ] {
        let ended = torr(&[&["-c", "2", "-d", "20s"][..], &args].concat());
        assert_eq!(ended.code, Some(3), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(why) && ended.stderr.lines().count() == 1, "{args:?}: {}", ended.stderr);
    }
}

/// What a server says that speaks TLS and is sent something else: an alert, unexpected_message, and its end.
const ALERT: &[u8] = &[21, 3, 3, 0, 2, 2, 10];

#[test]
fn plain_text_to_a_tls_port_has_a_clear_error() {
    let server = Script::start(|client| {
        let mut begin = [0; 4096];
        if client.stream.read(&mut begin).is_ok_and(|length| length > 0) {
            client.send(ALERT);
            // Unread bytes would make the end a reset, which overtakes the alert.
            let _ = client.stream.shutdown(Shutdown::Write);
            let _ = client.stream.read_to_end(&mut Vec::new());
        }
    });
    for flags in [&[][..], &["--http2-prior-knowledge"]] {
        let ended = torr(&[flags, &["-n", "2", "-c", "1", "-q", &server.url()]].concat());
        let said = ended.stdout.clone() + &ended.stderr;
        assert!(said.contains("uses TLS on this port") && said.contains("https://"), "{flags:?}: {ended:?}");
    }
}

/// A server that shares nothing with the client says so by an alert, and so does the line.
#[test]
fn no_common_version_has_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = self_signed(folder.path());
    let files = format!("ssl_certificate {}; ssl_certificate_key {};", certificate.display(), key.display());
    let start = |tls: &str| Nginx::start_with("ssl", &format!("{files} {tls} {HELLO}"));
    let (old, weak) = (start("ssl_protocols TLSv1.2;"), start("ssl_protocols TLSv1.2; ssl_ciphers AES128-SHA;"));
    for (server, flags, why) in [
        (&old, &["--tlsv1.3"][..], "none of the offered TLS versions"),
        (&weak, &[], "none of the offered cipher suites"),
        (&old, &["--http2"], "does not support h2: drop --http2"),
    ] {
        let ended = torr(&[flags, &["-c", "2", "-d", "20s", "--insecure", &server.https()]].concat());
        assert_eq!(ended.code, Some(3), "{flags:?}: {ended:?}");
        assert!(ended.stderr.lines().count() == 1 && ended.stderr.contains(why), "{flags:?}: {}", ended.stderr);
    }
}

/// A server of OpenSSL with these options, on a port of its own.
fn openssl_server(options: &[&str]) -> (Running, String) {
    let address = format!("127.0.0.1:{}", free_port());
    let mut command = Command::new("openssl");
    command.args(["s_server", "-quiet", "-accept", &address]).args(options).stdin(Stdio::null());
    let running = Running::start(command);
    wait_until("openssl to listen", || TcpStream::connect(&address).ok());
    (running, format!("https://{address}/"))
}

/// TLS 1.2 has no alert of its own for a missing certificate, and an RSA key of 1,024 bits none at all.
#[test]
fn reasons_that_no_alert_names_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = self_signed(folder.path());
    let (short, short_key) = (folder.path().join("short.pem"), folder.path().join("short.key"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:1024", "-nodes", "-days", "2", "-sha256", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE"])
        .args(["-keyout", text(&short_key), "-out", text(&short)])
        .output()
        .expect("./test installs openssl");
    assert!(made.status.success(), "{made:?}");
    let own = ["-cert", text(&certificate), "-key", text(&key)];
    let weak = ["-cipher", "DEFAULT:@SECLEVEL=0", "-cert", text(&short), "-key", text(&short_key)];
    for (server, flags, why) in [
        (&[&own[..], &["-tls1_2", "-Verify", "1"]].concat(), &["-k"][..], "pass one with --cert and --key"),
        (&[&own[..], &["-Verify", "1"]].concat(), &["-k"], "pass one with --cert and --key"),
        (&[&weak[..], &["-tls1_2"]].concat(), &["-k"], "RSA key of 1024 bits"),
        (&weak.to_vec(), &["-k"], "RSA key of 1024 bits"),
        (&weak.to_vec(), &["--cacert", text(&short)], "RSA key of 1024 bits"),
        (&[&own[..], &["-alpn", "h2"]].concat(), &["-k"], "does not support http/1.1: use --http2"),
    ] {
        let (_running, url) = openssl_server(server);
        let ended = torr(&[flags, &["-c", "1", "-n", "2", &url]].concat());
        let said = ended.stdout.clone() + &ended.stderr;
        assert!(said.contains(why), "{server:?} {flags:?}: {said}");
        assert!(!said.contains("none of the offered cipher suites"), "{server:?}: {said}");
    }
}

/// A server of HTTP/2 that does not look at ALPN begins with its settings.
#[test]
fn http_1_to_a_server_of_http_2_has_a_clear_error() {
    let server = Script::start(|client| {
        client.send(&[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]);
        let _ = client.stream.read_to_end(&mut Vec::new());
    });
    let ended = torr(&["-n", "2", "-c", "1", "-q", &server.url()]);
    let said = ended.stdout.clone() + &ended.stderr;
    assert!(said.contains("supports HTTP/2 only: use --http2-prior-knowledge"), "{ended:?}");
}

/// A server whose certificate has a key that no client of today's browsers knows either.
#[test]
fn a_certificate_that_is_not_supported_is_a_line_that_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("p521.pem"), folder.path().join("p521.key"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp521r1", "-nodes", "-days", "2"])
        .args(["-sha512", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=CA:FALSE", "-keyout", text(&key), "-out", text(&certificate)])
        .output()
        .expect("./test installs openssl");
    assert!(made.status.success(), "{made:?}");
    let server = Nginx::start_tls(&certificate, &key, HELLO);
    for trust in [&["--cacert", text(&certificate)][..], &["--insecure"], &[]] {
        let ended = torr(&[trust, &["-c", "2", "-n", "2", &server.https()]].concat());
        assert_eq!(ended.code, Some(3), "{trust:?}: {ended:?}");
        assert!(ended.stderr.lines().count() == 1, "{trust:?}: {}", ended.stderr);
        assert!(!ended.stderr.contains(['{', '[']), "{trust:?}: {}", ended.stderr);
        assert!(["cipher suites", "signature"].iter().any(|word| ended.stderr.contains(word)), "{}", ended.stderr);
    }
}

#[test]
fn a_client_certificate_is_sent_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = self_signed(folder.path());
    let (authority, mine, my_key) = client_of_an_authority(folder.path());
    let asks = format!("ssl_client_certificate {}; ssl_verify_client on; {HELLO}", authority.display());
    let server = Nginx::start_tls(&certificate, &key, &asks);
    let load = ["-n", "50", "-c", "2", "--cacert", text(&certificate)];
    let with = torr_json(&[&load[..], &["--cert", text(&mine), "--key", text(&my_key), &server.https()]].concat());
    assert_eq!(count(&with, "/status/200"), 50, "{with}");
    let without = torr_json(&[&load[..], &[&server.https()]].concat());
    assert_eq!(count(&without, "/status/400"), 50, "{without}");
}

#[test]
fn large_responses_and_pipelines_come_through_tls_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = self_signed(folder.path());
    std::fs::write(folder.path().join("large"), vec![b'x'; 1_000_000]).unwrap();
    let files = format!("location / {{ root {}; }}", folder.path().display());
    let server = Nginx::start_tls(&certificate, &key, &files);
    let url = format!("{}large", server.https());
    let result = torr_json(&["-n", "40", "-c", "4", "-t", "2", "--insecure", "--pipeline", "3", &url]);
    adds_up(&result);
    assert_eq!((count(&result, "/status/200"), count(&result, "/bytes/body")), (40, 40_000_000), "{result}");
}

#[test]
fn mistakes_about_tls_are_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, _) = self_signed(folder.path());
    let garbage = folder.path().join("garbage");
    std::fs::write(&garbage, "no certificate").unwrap();
    for (args, word) in [
        (&["--cacert", "/no/such/file"][..], "/no/such/file"),
        (&["--cacert", text(&garbage)], "garbage"),
        (&["--cert", text(&certificate)], "key"),
        (&["--key", text(&certificate)], "--cert"),
        (&["--cacert", text(&certificate), "--insecure"], "--insecure"),
        (&["--tls-max", "1.1"], "1.2"),
        (&["--tls-resumption", "maybe"], "full"),
        (&["--sni", "not a name"], "not a name"),
    ] {
        let ended = torr(&[args, &["https://127.0.0.1:1"]].concat());
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.lines().count() == 1 && ended.stderr.contains(word), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn a_server_that_breaks_off_in_the_handshake_is_an_error_of_its_own_kind() {
    let turn = std::sync::atomic::AtomicUsize::new(0);
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = self_signed(folder.path());
    let nginx = Nginx::start_tls(&certificate, &key, HELLO);
    let behind = nginx.address.clone();
    // Every third connection talks nonsense; the others are passed on.
    let relay = Script::start(move |client| {
        if turn.fetch_add(1, std::sync::atomic::Ordering::SeqCst) % 3 == 1 {
            return client.send(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
        client.relay(&behind);
    });
    let url = format!("https://{}/", relay.address);
    let result = torr_json(&["-n", "60", "-c", "2", "-t", "1", "--no-keepalive", "--insecure", &url]);
    adds_up(&result);
    assert_eq!((count(&result, "/errors/tls"), count(&result, "/requests")), (20, 40), "{result}");
    assert_eq!(result["causes"][0]["kind"], "tls", "{result}");
}

/// Responds over TLS to one request by `response` and `close_notify`, and keeps the TCP connection open until the client ends it.
fn end_within_tls(response: &'static str) -> (Script, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = self_signed(folder.path());
    let acceptor = ServerTlsSettings::new(&certificate, &key).load().expect("the certificate is sound");
    let script = Script::start(move |client| {
        let mut tls = acceptor.accept().expect("there is a certificate");
        let (mut input, mut plain) = (vec![0; 65536], Vec::new());
        loop {
            let Ok(len @ 1..) = client.stream.read(&mut input) else { return };
            let mut out = Vec::new();
            tls.receive(&mut input[..len], &mut out, &mut plain).expect("the client speaks TLS");
            if plain.ends_with(b"\r\n\r\n") {
                plain.clear();
                tls.send(response.as_bytes(), &mut out).expect("the handshake is complete");
                tls.close_notify(&mut out);
            }
            client.send(&out);
        }
    });
    (script, folder)
}

#[test]
fn close_notify_ends_a_body_although_the_socket_stays_open() {
    for (response, status, error) in [
        ("HTTP/1.1 200 OK\r\n\r\nhello", 6, None),
        ("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\nhello", 6, None),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 6, None),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 6, None),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello",
            0,
            Some("the server closed the connection in the middle of a response"),
        ),
        ("", 0, Some("the server closed the connection before responding")),
    ] {
        let (server, _folder) = end_within_tls(response);
        let url = server.url().replace("http:", "https:");
        let result = torr_json(&["-n", "6", "-c", "2", "-t", "1", "-k", "--timeout", "20s", &url]);
        adds_up(&result);
        assert_eq!(count(&result, "/errors/timeout"), 0, "{response:?}: {result}");
        assert_eq!(count(&result, "/requests"), status, "{response:?}: {result}");
        assert_eq!(result.pointer("/causes/0/what").and_then(|what| what.as_str()), error, "{response:?}: {result}");
    }
}

#[test]
fn the_test_server_of_openssl_can_be_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = self_signed(folder.path());
    let mut server = Command::new("openssl")
        .args(["s_server", "-www", "-accept", "127.0.0.1:0", "-cert", text(&certificate), "-key", text(&key)])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("openssl starts");
    let mut lines = BufReader::new(server.stdout.take().expect("it is a pipe")).lines().map_while(Result::ok);
    let address = lines.find_map(|line| line.strip_prefix("ACCEPT ").map(str::to_owned)).expect("it tells its address");
    let reads = std::thread::spawn(move || lines.count());
    let result =
        torr_json(&["-n", "6", "-c", "1", "-t", "1", "-k", "--timeout", "20s", &format!("https://{address}/")]);
    server.kill().expect("it runs");
    server.wait().expect("it ends");
    reads.join().expect("reading does not panic");
    adds_up(&result);
    assert_eq!(count(&result, "/status/200"), 6, "{result}");
}
