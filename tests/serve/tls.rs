//! `torr serve` over TLS, seen by curl, OpenSSL and our own press.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use torr_test_support::PATIENCE;
use torr_test_support::certificates::{client_of_an_authority, for_names, self_signed};
use torr_test_support::program::{run, torr, torr_json};
use torr_test_support::result::{adds_up, count};
use torr_test_support::servers::Serve;

/// A server for localhost, with these flags beside.
struct Scene {
    folder: tempfile::TempDir,
    certificate: PathBuf,
    serve: Serve,
}

impl Scene {
    fn set(args: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let (certificate, key) = self_signed(folder.path());
        let serve = Serve::start(&[&["--tls-cert", text(&certificate), "--tls-key", text(&key)], args].concat());
        Self { folder, certificate, serve }
    }

    fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.serve.address)
    }

    /// curl, which must succeed; its output.
    fn curl(&self, args: &[&str], path: &str) -> String {
        let always = ["--silent", "--show-error", "--max-time", "60", "--cacert", text(&self.certificate)];
        let ended = run("curl", &[&always[..], args, &[&self.url(path)]].concat());
        assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
        ended.stdout
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).expect("a file can be written");
        path
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

/// Connects and sends a ClientHello with this version, this one cipher suite, and no list of supported versions.
fn greeted(address: &str, version: [u8; 2], suite: [u8; 2]) -> TcpStream {
    // The groups x25519 and secp256r1, and signatures by ECDSA with SHA-256: without them the server refuses any hello.
    let extensions = [0, 18, 0, 10, 0, 6, 0, 4, 0, 0x1d, 0, 0x17, 0, 13, 0, 4, 0, 2, 4, 3];
    let hello = [&version[..], &[7; 32], &[0, 0, 2], &suite, &[1, 0], &extensions].concat();
    let length = u8::try_from(hello.len()).expect("it is short");
    let record = [&[22, 3, 1, 0, length + 4, 1, 0, 0, length], &hello[..]].concat();
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
    stream.write_all(&record).expect("the server reads");
    stream
}

#[test]
fn older_versions_and_weak_ciphers_are_refused() {
    const ALERT: u8 = 21;
    const HANDSHAKE: u8 = 22;
    const HANDSHAKE_FAILURE: u8 = 40;
    const PROTOCOL_VERSION: u8 = 70;
    let scene = Scene::set(&[]);
    // The server accepts TLS 1.2 with a current suite, so that it refuses those below for their version or suite alone.
    let mut accepted = [0];
    greeted(&scene.serve.address, [3, 3], [0xc0, 0x2b]).read_exact(&mut accepted).expect("the server responds");
    assert_eq!(accepted, [HANDSHAKE]);
    // TLS 1.1 and 1.0 with a cipher suite of their time; TLS 1.2 with RC4, and with keys encrypted by RSA.
    for (version, suite, reason) in [
        ([3, 2], [0xc0, 0x13], PROTOCOL_VERSION),
        ([3, 1], [0xc0, 0x13], PROTOCOL_VERSION),
        ([3, 3], [0, 5], HANDSHAKE_FAILURE),
        ([3, 3], [0, 0x2f], HANDSHAKE_FAILURE),
    ] {
        let mut response = Vec::new();
        // The connection may be reset behind the alert.
        let _ = greeted(&scene.serve.address, version, suite).read_to_end(&mut response);
        assert!(response.len() == 7 && response[0] == ALERT, "{version:?} {suite:?}: {response:?}");
        assert_eq!(response[6], reason, "{version:?} {suite:?}: {response:?}");
    }
}

#[test]
fn curl_is_served_over_each_protocol_and_version() {
    let scene = Scene::set(&["--max-body", "20000000"]);
    let body: Vec<u8> = (0..5_000_000_u32).map(|n| (n % 251) as u8).collect();
    let (upload, back) = (scene.file("upload", &body), scene.folder.path().join("back"));
    for (flags, protocol) in [
        (&["--http1.1", "--tls-max", "1.2"][..], "1.1"),
        (&["--http1.1", "--tlsv1.3"], "1.1"),
        (&["--http2", "--tls-max", "1.2"], "2"),
        (&["--http2", "--tlsv1.3"], "2"),
        // What curl and the server agree on by themselves.
        (&[], "2"),
    ] {
        let shown =
            scene.curl(&[flags, &["--write-out", " %{http_version} %{http_code} %{num_connects}"]].concat(), "/");
        assert_eq!(shown, format!("<p>Hello, world!</p> {protocol} 200 1"), "{flags:?}");
        let length = scene
            .curl(&[flags, &["--output", "/dev/null", "--write-out", "%{size_download}"]].concat(), "/bytes/12345678");
        assert_eq!(length, "12345678", "{flags:?}");
        let data = format!("@{}", text(&upload));
        scene.curl(&[flags, &["--data-binary", &data, "--output", text(&back)]].concat(), "/echo");
        assert!(std::fs::read(&back).expect("curl has written it") == body, "{flags:?}");
        // A second request of the same client goes on the same connection.
        let twice = scene.curl(
            &[
                flags,
                &[
                    "--write-out",
                    "%{num_connects} ",
                    "--output",
                    "/dev/null",
                    &scene.url("/json"),
                    "--output",
                    "/dev/null",
                ],
            ]
            .concat(),
            "/",
        );
        assert_eq!(twice, "1 0 ", "{flags:?}");
    }
    let first_only = Scene::set(&["--http2", "false"]);
    assert_eq!(first_only.curl(&["--http2", "--write-out", " %{http_version}"], "/healthz"), "ok\n 1.1");
}

#[test]
fn the_press_finds_every_response_right() {
    let scene = Scene::set(&["--workers", "2"]);
    let trust = ["--cacert", text(&scene.certificate)];
    for (flags, path, body) in [
        (&["-c", "8"][..], "/", 20),
        (&["-c", "8", "--no-keepalive"], "/", 20),
        (&["-c", "4", "--pipeline", "8"], "/json", 27),
        (&["-c", "4", "--http2", "--streams", "10"], "/", 20),
        (&["-c", "4"], "/bytes/300000", 300_000),
        (&["-c", "4", "--http2"], "/bytes/300000", 300_000),
        (&["-c", "4"], "/sleep/1", 6),
    ] {
        let load = ["-n", "400", "-t", "2", &scene.url(path)];
        let result = torr_json(&[&trust[..], flags, &load].concat());
        adds_up(&result);
        assert_eq!((count(&result, "/requests"), count(&result, "/status/200")), (400, 400), "{flags:?}: {result}");
        assert_eq!(count(&result, "/bytes/body"), 400 * body, "{flags:?} {path}: {result}");
        assert_eq!(result["tls"]["version"], "TLSv1.3", "{flags:?}: {result}");
    }
}

#[test]
fn openssl_sees_the_right_certificate_and_an_end_that_is_said() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (one, other) =
        (for_names(folder.path(), "one", &["one.test"]), for_names(folder.path(), "other", &["other.test"]));
    let both = |of: fn(&(PathBuf, PathBuf)) -> &PathBuf| format!("{},{}", text(of(&one)), text(of(&other)));
    let serve = Serve::start(&["--tls-cert", &both(|pair| &pair.0), "--tls-key", &both(|pair| &pair.1)]);
    for (name, certificate) in [("one.test", &one.0), ("other.test", &other.0)] {
        for version in ["-tls1_2", "-tls1_3"] {
            let mut child = Command::new("openssl")
                .args(["s_client", "-connect", &serve.address, "-servername", name, "-verify_return_error", version])
                .args(["-verify_hostname", name, "-alpn", "http/1.1", "-ign_eof", "-CAfile", text(certificate)])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("openssl starts");
            let mut stdin = child.stdin.take().expect("it was piped");
            stdin.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("openssl takes it");
            // Its input stays open, so that only the server's end ends it.
            let ended = child.wait_with_output().expect("it ends");
            drop(stdin);
            let shown = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
            assert!(ended.status.success(), "{name} {version}: {shown}");
            for part in
                ["HTTP/1.1 200 OK", "<p>Hello, world!</p>", "ALPN protocol: http/1.1", "Verify return code: 0 (ok)"]
            {
                assert!(shown.contains(part), "{name} {version}: no {part} in {shown}");
            }
            // OpenSSL 3 says so where an end comes that was not announced.
            assert!(!shown.contains("unexpected eof"), "{name} {version}: {shown}");
        }
    }
}

#[test]
fn only_clients_with_the_right_certificate_are_let_in() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (authority, mine, key) = client_of_an_authority(folder.path());
    let scene = Scene::set(&["--tls-client-ca", text(&authority)]);
    assert_eq!(scene.curl(&["--cert", text(&mine), "--key", text(&key)], "/healthz"), "ok\n");
    let without = run("curl", &["--silent", "--show-error", "--cacert", text(&scene.certificate), &scene.url("/")]);
    assert!(without.code != Some(0) && without.stderr.contains("certificate required"), "{without:?}");
}

#[test]
fn wrong_files_are_one_line() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (certificate, key) = self_signed(folder.path());
    let (_, other) = for_names(folder.path(), "other", &["other.test"]);
    let garbage = folder.path().join("garbage");
    std::fs::write(&garbage, "no certificate").expect("a file can be written");
    let (certificate, key, other, garbage) = (text(&certificate), text(&key), text(&other), text(&garbage));
    for (args, words) in [
        (&["--tls-cert", "/no/such/file", "--tls-key", key][..], &["/no/such/file"][..]),
        (&["--tls-cert", certificate, "--tls-key", "/no/such/key"], &["/no/such/key"]),
        (&["--tls-cert", garbage, "--tls-key", key], &["no certificate", "garbage"]),
        (&["--tls-cert", certificate, "--tls-key", garbage], &["private key", "garbage"]),
        (&["--tls-cert", certificate, "--tls-key", other], &["other.key"]),
        (&["--tls-cert", certificate], &["tls_key"]),
        (&["--tls-key", key], &["tls_cert"]),
        (&["--tls-cert", certificate, "--tls-key", &format!("{key},{key}")], &["tls_key"]),
        (&["--tls-client-ca", certificate], &["tls_cert"]),
        (&["--tls-cert", certificate, "--tls-key", key, "--tls-client-ca", garbage], &["garbage"]),
    ] {
        let ended = torr(&[&["serve", "--listen", "127.0.0.1:0"], args].concat());
        assert_eq!((ended.code, ended.stderr.lines().count(), &*ended.stdout), (Some(2), 1, ""), "{args:?}: {ended:?}");
        assert!(words.iter().all(|word| ended.stderr.contains(word)), "{args:?}: {}", ended.stderr);
    }
}
