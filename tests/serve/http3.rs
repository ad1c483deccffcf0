//! `torr serve --http3`, seen by Torr's own load side and by clients of quic-go and aioquic.

use crate::lossy_relay::LossyRelay;
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{Connection, Endpoint, RecvStream, TransportConfig};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tempfile::TempDir;
use torr_test_support::certificates::self_signed;
use torr_test_support::program::{built_by_full, run, torr, torr_json};
use torr_test_support::result::{adds_up, count};
use torr_test_support::servers::Serve;
use torr_wire::http3::{kind, qpack, write_header};

/// A server for localhost, with these flags beside.
struct Scene {
    certificate: PathBuf,
    serve: Serve,
    folder: TempDir,
}

impl Scene {
    fn set(args: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let (certificate, key) = self_signed(folder.path());
        let tls = ["--http3", "--tls-cert", text(&certificate), "--tls-key", text(&key)];
        let serve = Serve::start(&[&tls, args].concat());
        Self { certificate, serve, folder }
    }

    fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.serve.address)
    }

    /// Loads the server on one thread.
    fn press(&self, path: &str, args: &[&str]) -> Value {
        let always = ["-t", "1", "--http3", "--cacert", text(&self.certificate), &self.url(path)];
        let result = torr_json(&[args, &always].concat());
        adds_up(&result);
        result
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

#[test]
fn every_request_of_a_load_is_answered() {
    for args in [&["--workers", "1"][..], &["--workers", "3", "--router", "true"]] {
        let scene = Scene::set(args);
        for (load, path, requests, body) in [
            (&["-n", "700", "-c", "3", "--streams", "10"][..], "/", 700, 20),
            (&["-n", "300", "-c", "1", "--streams", "200"], "/benchmark", 300, 20),
            (&["-n", "20", "-c", "2", "--streams", "2"], "/bytes/300000", 20, 300_000),
            (&["-n", "60", "-c", "6", "--no-keepalive"], "/", 60, 20),
            (&["-n", "50", "-c", "5", "--streams", "5"], "/sleep/2", 50, 0),
        ] {
            let result = scene.press(path, load);
            let wrong = (&result["errors"], &result["causes"]);
            assert_eq!((count(&result, "/status/200"), count(&result, "/unfinished")), (requests, 0), "{wrong:?}");
            if body > 0 {
                assert_eq!(count(&result, "/bytes/body"), requests * body, "{path}");
            }
        }
    }
}

#[test]
fn http3_is_used_where_the_server_offers_it() {
    let scene = Scene::set(&["--workers", "1"]);
    let load = ["-t", "1", "-n", "30", "-c", "1", "--streams", "3", "--alt-svc", "--cacert", text(&scene.certificate)];
    let of = |url: &str, more: &[&str]| {
        let result = torr_json(&[&load[..], more, &[url]].concat());
        adds_up(&result);
        assert_eq!(count(&result, "/status/200"), 30, "{}", result["causes"]);
        result["plan"].clone()
    };
    let port = scene.serve.address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    let offered = of(&scene.url("/"), &[]);
    assert_eq!((&offered["protocol"], &offered["depth"]), (&"h3".into(), &3.into()), "{offered}");
    assert_eq!(Some(count(&offered, "/alt_svc/port")), port, "{offered}");
    let without_tls13 = of(&scene.url("/"), &["--tls-max", "1.2"]);
    assert_eq!((&without_tls13["protocol"], &without_tls13["alt_svc"]), (&"http/1.1".into(), &offered["alt_svc"]));
    // A server of the same certificate without HTTP/3.
    let key = scene.folder.path().join("server.key");
    let tls = ["--tls-cert", text(&scene.certificate), "--tls-key", text(&key)];
    let plain = Serve::start(&tls);
    let url = format!("https://{}/", plain.address);
    for (more, protocol, depth) in [(&[][..], "http/1.1", Value::Null), (&["--http2"], "h2", 3.into())] {
        let plan = of(&url, more);
        assert_eq!((&plan["protocol"], &plan["depth"]), (&protocol.into(), &depth), "{plan}");
        assert_eq!(plan["alt_svc"], serde_json::json!({"offer": ""}));
    }
    // The report has the reason, and to print a plan sends nothing.
    let report = torr(&[&load[..], &[url.as_str()]].concat());
    assert!(report.stdout.contains("the server has no Alt-Svc field: this run uses HTTP/1.1"), "{report:?}");
    drop(plain);
    let gone = torr(&[&load[..], &[url.as_str()]].concat());
    let line = "cannot request the server's Alt-Svc: ";
    assert!(gone.code != Some(0) && gone.stderr.contains(line), "{gone:?}");
    let printed = torr(&[&load[..], &[url.as_str(), "--print-plan"]].concat());
    assert_eq!((printed.code, printed.stderr.as_str()), (Some(0), ""), "{printed:?}");
}

#[test]
fn the_access_log_and_the_metrics_have_its_requests() {
    let log = tempfile::NamedTempFile::new().expect("there is room for temporary files");
    let scene = Scene::set(&["--access-log", text(log.path()), "--workers", "1"]);
    scene.press("/?a=b", &["-n", "5", "-c", "1"]);
    let metrics = ["--silent", "--cacert", text(&scene.certificate), &scene.url("/metrics")];
    let metrics = run("curl", &metrics).stdout;
    assert!(metrics.contains("torr_http_requests_total{code=\"200\"} 5"), "{metrics}");
    // The log is complete when the server has ended.
    let Scene { mut serve, folder: _folder, .. } = scene;
    serve.terminate();
    assert_eq!(serve.wait(), Some(0));
    let lines = std::fs::read_to_string(log.path()).expect("there is a log");
    assert_eq!(lines.matches("\"GET /?a=b HTTP/3\" 200 20").count(), 5, "{lines}");
}

#[test]
fn a_load_has_its_first_requests_before_the_handshake_is_complete() {
    let scene = Scene::set(&["--http3-early-data", "--workers", "2"]);
    let load = ["-c", "2", "-n", "90", "--requests-per-connection", "3", "--streams", "3", "--tls-earlydata"];
    let result = scene.press("/plaintext", &load);
    let tls = &result["tls"];
    assert_eq!((count(&result, "/requests"), count(&result, "/status/200")), (90, 90), "{}", result["causes"]);
    assert!(count(tls, "/early_data") > 0 && count(tls, "/early_data") <= count(tls, "/resumed"), "{tls}");
}

#[test]
fn what_http3_needs_is_named() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (certificate, key) = self_signed(folder.path());
    let tls = ["--tls-cert", text(&certificate), "--tls-key", text(&key)];
    for (args, line) in [
        (vec!["--http3"], "http3 needs tls_cert and tls_key: QUIC is always encrypted"),
        ([&["--http3", "--processes", "2"], &tls[..]].concat(), "http3 needs worker threads: set processes to 0"),
        ([&["--http3-early-data"], &tls[..]].concat(), "http3_early_data needs http3"),
    ] {
        let ended = torr(&[&["serve", "--listen", "127.0.0.1:0"], &args[..]].concat());
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(line), "{args:?}: {ended:?}");
    }
}

/// A client of `quinn`, whose windows for a response are small.
async fn connected(scene: &Scene) -> Connection {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_file(&scene.certificate).expect("it is a certificate");
    roots.add(certificate).expect("it is a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[&rustls::version::TLS13]);
    let mut tls = tls.expect("the provider has TLS 1.3").with_root_certificates(roots).with_no_client_auth();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let mut config = quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).expect("it has TLS 1.3")));
    let mut transport = TransportConfig::default();
    transport.stream_receive_window(10_000_u32.into());
    config.transport_config(Arc::new(transport));
    let endpoint = Endpoint::client(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port is free");
    let address = scene.serve.address.parse().expect("it is an address");
    let connecting = endpoint.connect_with(config, address, "localhost").expect("the settings are sound");
    connecting.await.expect("the server accepts")
}

/// Begins a request.
async fn begin(connection: &Connection, path: &str) -> RecvStream {
    let (mut sending, receiving) = connection.open_bi().await.expect("the connection lives");
    let head = http::Request::get(format!("https://localhost{path}")).body(()).expect("it is a request");
    let (mut section, mut bytes) = (Vec::new(), Vec::new());
    qpack::encode(&head, &mut section);
    write_header(kind::HEADERS, section.len() as u64, &mut bytes);
    bytes.extend_from_slice(&section);
    sending.write_all(&bytes).await.expect("the connection lives");
    sending.finish().expect("it was not finished");
    receiving
}

#[test]
fn a_response_that_its_client_does_not_read_ends_and_others_of_the_connection_continue() {
    let scene = Scene::set(&["--workers", "1", "--write-timeout", "2s"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can start");
    runtime.block_on(async {
        let connection = connected(&scene).await;
        let mut unread = begin(&connection, "/bytes/300000").await;
        let code = loop {
            let other = async {
                let content = begin(&connection, "/").await.read_to_end(10_000).await;
                assert!(content.expect("the connection lives").ends_with(b"<p>Hello, world!</p>"));
            };
            let mut other = std::pin::pin!(other);
            tokio::select! {
                code = unread.received_reset() => break code.expect("the connection lives"),
                () = &mut other => {}
            }
        };
        assert_eq!(code.map(u64::from), Some(0x10c));
        let content = begin(&connection, "/").await.read_to_end(10_000).await.expect("the connection lives");
        assert!(content.ends_with(b"<p>Hello, world!</p>"));
    });
}

/// Runs the client by quic-go, which checks what it gets: a small response, 10 MB in either direction, and 1,000 requests at a time.
fn quic_go(scene: &Scene, url: &str) {
    let ended = run(text(&built_by_full("http3/client")), &[text(&scene.certificate), url]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "get\nlarge\npost\nstreams\n"), "{ended:?}");
}

/// Run by `./test full`, which builds the client.
#[test]
#[ignore = "needs a client by quic-go, which ./test full builds"]
fn a_client_of_quic_go_gets_what_it_requests() {
    let scene = Scene::set(&["--workers", "2", "--max-body", "20000000"]);
    quic_go(&scene, &scene.url(""));
}

/// Run by `./test full`, which builds the client.
#[test]
#[ignore = "needs a client by quic-go, which ./test full builds"]
fn a_path_that_loses_and_reorders_datagrams_changes_nothing_for_a_client_of_quic_go() {
    let scene = Scene::set(&["--workers", "2", "--max-body", "20000000"]);
    let relay = LossyRelay::start(scene.serve.address.parse().expect("it is an address"));
    quic_go(&scene, &format!("https://{}", relay.address));
    // 20 MB are 14,000 datagrams at least.
    let counts = [0, 1].map(|kind| relay.counts[kind].load(Ordering::Relaxed));
    assert!(counts.iter().all(|&count| count > 100), "{counts:?} datagrams were lost and overtaken");
}

/// Runs parts of the client by aioquic, each of which checks what it gets on a connection of its own.
fn aioquic(scene: &Scene, url: &str, parts: &[&str]) {
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/http3/aioquic/client.py");
    let python = built_by_full("oracles/aioquic/bin/python");
    let always = [text(&client), text(&scene.certificate), url];
    let ended = run(text(&python), &[&always, parts].concat());
    let lines: Vec<_> = ended.stdout.lines().collect();
    assert_eq!((ended.code, &*lines), (Some(0), parts), "{ended:?}");
}

/// Run by `./test full`, which installs aioquic.
#[test]
#[ignore = "needs aioquic, which ./test full installs"]
fn a_client_of_aioquic_gets_what_it_requests() {
    let scene = Scene::set(&["--workers", "2", "--max-body", "20000000"]);
    aioquic(&scene, &scene.url(""), &["get", "large", "post", "streams", "resumed"]);
}

#[test]
#[ignore = "needs aioquic, which ./test full installs"]
fn a_client_of_aioquic_has_early_data() {
    let scene = Scene::set(&["--workers", "2", "--http3-early-data"]);
    aioquic(&scene, &scene.url(""), &["early", "streams"]);
}

/// Run by `./test full`, which installs aioquic.
#[test]
#[ignore = "needs aioquic, which ./test full installs"]
fn a_client_of_aioquic_has_small_windows_and_leaves_requests() {
    let scene = Scene::set(&["--workers", "2", "--max-body", "20000000"]);
    aioquic(&scene, &scene.url(""), &["narrow", "cancelled"]);
}

/// Run by `./test full`, which installs aioquic.
#[test]
#[ignore = "needs aioquic, which ./test full installs"]
fn a_path_that_loses_and_reorders_datagrams_changes_nothing_for_a_client_of_aioquic() {
    let scene = Scene::set(&["--workers", "2", "--max-body", "20000000"]);
    let relay = LossyRelay::start(scene.serve.address.parse().expect("it is an address"));
    aioquic(&scene, &format!("https://{}", relay.address), &["streams", "cancelled", "keys"]);
    let counts = [0, 1].map(|kind| relay.counts[kind].load(Ordering::Relaxed));
    assert!(counts.iter().all(|&count| count > 100), "{counts:?} datagrams were lost and overtaken");
}

/// Run by `./test full`, which installs aioquic.
#[test]
#[ignore = "needs aioquic, which ./test full installs"]
fn a_client_of_aioquic_changes_its_version_its_keys_and_its_address() {
    // Of 10 addresses in a row, few are those of the same worker.
    let scene = Scene::set(&["--workers", "4", "--max-body", "20000000"]);
    aioquic(&scene, &scene.url(""), &["version", "keys", "addresses"]);
}

/// Run by `./test full`, which installs aioquic.
#[test]
#[ignore = "needs aioquic, which ./test full installs"]
fn a_client_of_aioquic_shows_its_address_where_connections_are_few() {
    // Not even one handshake of each worker may be in progress with an address that is not validated.
    let scene = Scene::set(&["--workers", "2", "--max-connections", "3", "--max-body", "20000000"]);
    aioquic(&scene, &scene.url(""), &["retry", "post"]);
}
