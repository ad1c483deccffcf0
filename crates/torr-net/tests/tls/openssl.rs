//! The server's side against OpenSSL's client over a socket.

use crate::authority::Authority;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;
use torr_net::tls::{ServerTlsSettings, TlsAcceptor, TlsServer};

/// A process of `openssl s_client`, which ends with the value.
struct OpenSsl {
    process: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
    said: String,
    server: Option<JoinHandle<TlsServer>>,
}

impl OpenSsl {
    fn connect(authority: &Authority, acceptor: &TlsAcceptor, options: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let to = listener.local_addr().expect("it listens").to_string();
        let acceptor = acceptor.clone();
        let mut process = Command::new("openssl")
            .args(["s_client", "-connect", &to, "-servername", "localhost", "-verify_hostname", "localhost"])
            .args(["-verify_return_error", "-CAfile"])
            .arg(authority.path())
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("openssl can be started: ./test installs it");
        let stdin = process.stdin.take();
        let stdout = BufReader::new(process.stdout.take().expect("it is piped"));
        let stderr = BufReader::new(process.stderr.take().expect("it is piped"));
        let server = Some(std::thread::spawn(move || serve(&listener, &acceptor)));
        Self { process, stdin, stdout, stderr, said: String::new(), server }
    }

    fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("it still listens");
        stdin.write_all(line.as_bytes()).expect("it still listens");
    }

    fn wait_for(&mut self, text: &str) {
        while !self.said.contains(text) {
            let length = self.stdout.read_line(&mut self.said).expect("it can be read");
            assert!(length > 0, "OpenSSL ended without {text}: {}", self.said);
        }
        // The version is queried once.
        let end = self.said.find(text).map_or(0, |start| start + text.len());
        self.said.drain(..end);
    }

    /// Requests a key update of both sides. OpenSSL reads the command only if it arrives alone.
    fn renew_keys(&mut self) {
        self.say("K\n");
        let mut noted = String::new();
        while !noted.contains("KEYUPDATE") {
            let length = self.stderr.read_line(&mut noted).expect("it can be read");
            assert!(length > 0, "OpenSSL ended without new keys: {noted}");
        }
    }

    /// Ends the client, and returns the server's connection.
    fn leave(mut self) -> TlsServer {
        drop(self.stdin.take());
        let server = self.server.take().expect("it is waited for once").join().expect("the server has no trouble");
        assert!(self.process.wait().expect("it can be waited for").success());
        server
    }
}

impl Drop for OpenSsl {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Echoes one client's bytes in capitals until the client ends the connection.
fn serve(listener: &TcpListener, acceptor: &TlsAcceptor) -> TlsServer {
    let (mut socket, _) = listener.accept().expect("a client comes");
    socket.set_read_timeout(Some(Duration::from_secs(20))).expect("sockets have time-outs");
    let mut server = acceptor.accept().expect("it can be accepted");
    let mut input = [0; 4096];
    while !server.is_closed() {
        let length = socket.read(&mut input).expect("it can be read");
        assert!(length > 0, "the client went without a word");
        let (mut out, mut plain) = (vec![], vec![]);
        server.receive(&mut input[..length], &mut out, &mut plain).expect("it is right");
        if !plain.is_empty() {
            server.send(&plain.to_ascii_uppercase(), &mut out).expect("it can be sent");
        }
        if server.is_closed() {
            server.close_notify(&mut out);
        }
        // The client may have closed the socket right after its last record.
        let sent = socket.write_all(&out);
        assert!(sent.is_ok() || server.is_closed(), "{sent:?}");
    }
    server
}

#[test]
fn talks_with_new_keys_and_resumes() {
    let authority = Authority::new();
    let alpn = vec!["h2".into(), "http/1.1".into()];
    let acceptor = ServerTlsSettings { alpn, ..authority.server() }.load().expect("the settings are right");
    for (option, version) in [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")] {
        let file = authority.folder.path().join(version);
        let file = file.to_str().expect("the name is text");
        for (session, resumed) in [(["-sess_out", file], false), (["-sess_in", file], true)] {
            let options = [option, "-alpn", "http/1.1", session[0], session[1]];
            let mut client = OpenSsl::connect(&authority, &acceptor, &options);
            client.wait_for(if resumed { "Reused, TLSv1" } else { "New, TLSv1" });
            client.say("first words\n");
            client.wait_for("FIRST WORDS");
            if option == "-tls1_3" {
                client.renew_keys();
            }
            client.say("second words\n");
            client.wait_for("SECOND WORDS");
            let server = client.leave();
            let secured = server.negotiated().expect("the handshake is done");
            assert_eq!((&secured.version[..], secured.resumed), (version, resumed));
            assert_eq!(server.protocol(), Some(&b"http/1.1"[..]));
            assert_eq!(server.server_name(), Some("localhost"));
        }
    }
}

/// With two certificates for one name the client receives the first one whose signature it supports.
#[test]
fn is_shown_a_certificate_that_it_can_use() {
    let authority = Authority::new();
    let usual = authority.identity("usual", &["localhost"]);
    let modern = authority.identity_by("modern", &["localhost"], &rcgen::PKCS_ED25519);
    let identities = vec![usual.clone(), modern.clone()];
    let acceptor = ServerTlsSettings { identities, ..authority.server() }.load().expect("the settings are right");
    for (algorithms, identity) in [("ECDSA+SHA256", &usual), ("ed25519", &modern), ("ed25519:ECDSA+SHA256", &usual)] {
        let mut client = OpenSsl::connect(&authority, &acceptor, &["-tls1_3", "-sigalgs", algorithms]);
        client.wait_for(&first_line(&identity.0));
        client.leave();
    }
}

/// Returns the serial number of a certificate's text, which is unique.
fn first_line(certificate: &Path) -> String {
    let text = std::fs::read_to_string(certificate).expect("it is there");
    text.lines().nth(1).expect("it has lines").trim().into()
}
