//! `torr serve` behind proxies: nginx, and curl as one that speaks the PROXY protocol.

use serde_json::Value;
use std::path::{Path, PathBuf};
use torr_test_support::certificates::self_signed;
use torr_test_support::program::{run, torr_json, torr_path};
use torr_test_support::result::{adds_up, count};
use torr_test_support::servers::{Nginx, Serve};
use torr_test_support::wait_until;

/// A server that notes its requests.
struct Scene {
    folder: tempfile::TempDir,
    serve: Serve,
}

impl Scene {
    fn set(args: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let log = folder.path().join("log").display().to_string();
        let mut all = vec!["--access-log".into(), log, "--access-log-format".into(), "json".into()];
        all.extend(args(folder.path()));
        let serve = Serve::start(&all.iter().map(String::as_str).collect::<Vec<_>>());
        Self { folder, serve }
    }

    /// The log, once it has so many lines.
    fn noted(&self, lines: usize) -> Vec<Value> {
        wait_until("the log", || {
            let text = std::fs::read_to_string(self.folder.path().join("log")).expect("it is there");
            let noted: Vec<_> = text.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
            (noted.len() >= lines).then_some(noted)
        })
    }

    /// nginx in front of it.
    fn proxy(&self, more: &str) -> Nginx {
        let upstream = format!("upstream behind {{ server {}; keepalive 16; }}", self.serve.address);
        let location = "proxy_pass http://behind; proxy_http_version 1.1; proxy_set_header Connection '';";
        Nginx::start_beside(&format!("location / {{ {location} {more} }}"), &upstream)
    }
}

const TELLS: &str = "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; \
    proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Host $http_host;";

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// A number of `/metrics`.
fn metric(serve: &Serve, name: &str) -> f64 {
    let text = serve.client().get("/metrics").text().to_owned();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {name} in {text}"))
}

#[test]
fn nginx_reuses_its_connections() {
    let scene = Scene::set(|_| words("--workers 2"));
    let proxy = scene.proxy("");
    let result = torr_json(&["-n", "2000", "-c", "8", "-t", "1", &proxy.url()]);
    adds_up(&result);
    assert_eq!((count(&result, "/status/200"), count(&result, "/bytes/body")), (2000, 40_000), "{result}");
    let accepted = metric(&scene.serve, "torr_connections_accepted_total");
    // Of nginx not many more than there are clients; one asks for the metrics.
    assert!(accepted <= 20.0, "{accepted} connections for 2000 requests");
    let long = torr_json(&["-n", "50", "-c", "4", "-t", "1", &format!("{}bytes/1000000", proxy.url())]);
    assert_eq!((count(&long, "/status/200"), count(&long, "/bytes/body")), (50, 50_000_000), "{long}");
}

/// nginx passes the content on while it arrives, and reports a failure of its own where the server does not take it.
#[test]
fn a_response_to_a_body_that_is_too_large_passes_nginx() {
    let scene = Scene::set(|_| words("--workers 2 --max-body 1000"));
    let proxy = scene.proxy("proxy_request_buffering off; client_max_body_size 0;");
    let body = scene.folder.path().join("body");
    std::fs::write(&body, vec![b'x'; 20_000_000]).expect("there is room for a file");
    let (body, url) = (format!("@{}", body.display()), format!("{}echo", proxy.url()));
    let upload = ["--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--header", "Expect:"];
    for framing in ["A: b", "Transfer-Encoding: chunked"] {
        let upload = [&upload[..], &["--header", framing, "--data-binary", &body, &url]].concat();
        let statuses: Vec<_> = (0..15).map(|_| run("curl", &upload).stdout).collect();
        assert!(statuses.iter().all(|status| status == "413"), "{framing}: {statuses:?}");
    }
}

#[test]
fn nginx_is_believed_where_it_is_trusted_and_its_clients_are_not() {
    let ask = |proxy: &Nginx, path: &str| {
        let url = format!("{}{path}", proxy.url());
        // What a client makes up itself, and where it really is.
        let spoof =
            ["-H", "X-Forwarded-For: 203.0.113.9", "-H", "X-Real-IP: 203.0.113.8", "-H", "Forwarded: for=203.0.113.7"];
        let ended =
            run("curl", &[&["--silent", "--show-error", "--interface", "127.0.0.9"], &spoof[..], &[&url]].concat());
        assert_eq!((ended.code, &*ended.stdout), (Some(0), "ok\n"), "{ended:?}");
    };
    for (trusted, client) in
        [("--trusted-proxies 127.0.0.1", "127.0.0.9"), ("--trusted-proxies 10.0.0.0/8", "127.0.0.1"), ("", "127.0.0.1")]
    {
        let scene = Scene::set(|_| words(trusted));
        let proxy = scene.proxy(TELLS);
        ask(&proxy, "healthz");
        let noted = scene.noted(1);
        assert_eq!(noted[0]["client"], client, "{trusted}: {noted:?}");
    }
}

#[test]
fn ids_that_nginx_gives_are_kept() {
    let scene = Scene::set(|_| words("--trusted-proxies loopback --request-ids true"));
    let proxy = scene.proxy("proxy_set_header X-Request-Id $request_id; add_header X-Nginx-Id $request_id;");
    let ended = run("curl", &["--silent", "--include", &proxy.url()]);
    let field = |name: &str| ended.stdout.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
    let (given, reported) = (field("X-Nginx-Id: "), field("X-Request-Id: "));
    assert!(given.is_some() && given == reported, "{ended:?}");
    assert_eq!(scene.noted(1)[0]["request_id"].as_str(), given.as_deref());
}

#[test]
fn curl_speaks_the_proxy_protocol_over_each_protocol() {
    let mut certificate = PathBuf::new();
    let scene = Scene::set(|folder| {
        let (file, key) = self_signed(folder);
        certificate = file;
        words(&format!(
            "--proxy-protocol required --trusted-proxies 127.0.0.5 --tls-cert {} --tls-key {}",
            certificate.display(),
            key.display()
        ))
    });
    let (url, trust) = (format!("https://{}/healthz", scene.serve.address), certificate.display().to_string());
    let ask = |args: &[&str]| {
        let always =
            ["--silent", "--show-error", "--max-time", "30", "--cacert", &trust, "--write-out", "%{http_version}"];
        run("curl", &[&always[..], args, &[&url]].concat())
    };
    for (protocol, version) in [("--http1.1", "1.1"), ("--http2", "2")] {
        // The header has the client's own address, as a proxy's would.
        let ended = ask(&["--haproxy-protocol", "--interface", "127.0.0.5", protocol]);
        assert_eq!((ended.code, ended.stdout), (Some(0), format!("ok\n{version}")), "{protocol}: {}", ended.stderr);
    }
    assert!(scene.noted(2).iter().all(|line| line["client"] == "127.0.0.5" && line["tls"] == "TLSv1.3"));
    for args in [
        &["--interface", "127.0.0.5"][..],
        &["--haproxy-protocol"],
        &["--haproxy-protocol", "--interface", "127.0.0.6"],
    ] {
        let ended = ask(args);
        assert!(ended.code != Some(0) && !ended.stdout.contains("ok"), "{args:?}: {ended:?}");
    }
    assert_eq!(scene.noted(2).len(), 2);
}

#[test]
fn a_proxy_protocol_without_trusted_proxies_is_one_line() {
    let ended = run(torr_path(), &["serve", "--listen", "127.0.0.1:0", "--proxy-protocol", "required"]);
    assert_eq!((ended.code, ended.stderr.lines().count()), (Some(2), 1), "{ended:?}");
    assert!(ended.stderr.contains("trusted_proxies"), "{}", ended.stderr);
}
