//! The way to servers: HTTP/2, TLS, proxies, rates, addresses, and the bytes on sockets.

mod common;

use common::{echo, run, run_as};
use std::path::Path;
use torr_k6::run::{NetworkSettings, Proxies, RunSettings};
use torr_test_support::certificates::{client_of_an_authority, self_signed};
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::servers::Nginx;

/// Returns a script with these options and this body of its default function.
fn script(options: &str, body: &str) -> String {
    format!(
        "import http from 'k6/http'; import {{ sleep }} from 'k6';
         export const options = {{ insecureSkipTLSVerify: true, {options} }};
         export default function () {{ {body} }};"
    )
}

/// Returns nginx that responds with what it knows of the request.
fn secured(folder: &Path, more: &str) -> Nginx {
    let (certificate, key) = self_signed(folder);
    let response = "location / { return 200 '$server_protocol $ssl_protocol $ssl_cipher $ssl_client_verify'; }";
    let upload =
        "location /upload { client_max_body_size 0; client_body_buffer_size 1m; proxy_pass http://$http_x_to; }";
    Nginx::start_tls(&certificate, &key, &format!("{more} {response} {upload}"))
}

#[test]
fn a_server_with_tls_chooses_http2() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (server, behind) = (secured(folder.path(), ""), Script::start(echo()));
    let body = format!(
        "const res = http.get(__ENV.URL, {{cookies: {{a: '1', b: '2'}}, headers: {{'X-Odd': 'é'}}}});
        if (res.proto !== 'HTTP/2.0' || !res.body.startsWith('HTTP/2.0 TLSv1.3') || res.status_text !== '200 OK') {{
            throw new Error(res.proto + ' ' + res.body + ' ' + res.error);
        }}
        if (res.headers['Content-Length'] !== String(res.body.length) || !res.headers.Server) throw new Error('headers');
        const large = 'x'.repeat(300000);
        const to = {{headers: {{'X-To': '{}', 'Content-Type': 'text/plain'}}}};
        const sent = http.post(__ENV.URL + 'upload?a=%20|', large, to);
        if (sent.body !== large || sent.proto !== 'HTTP/2.0') throw new Error('upload ' + sent.status + sent.error);
        if (http.head(__ENV.URL).body !== '') throw new Error('head');
        if (res.ocsp.status !== 'unknown') throw new Error('ocsp ' + res.ocsp.status);
        const all = http.batch([__ENV.URL, __ENV.URL, __ENV.URL]);
        if (all.some((one) => one.proto !== 'HTTP/2.0')) throw new Error('batch');",
        behind.address
    );
    let ended = run(&script("vus: 2, iterations: 6", &body), &server.https());
    ended.assert_quiet();
    assert_eq!((ended.count("http_reqs"), ended.rate("http_req_failed")), (36.0, 0.0));
    let texts = behind.texts();
    assert!(texts.iter().all(|text| text.starts_with("POST /upload?a=%20| HTTP/1.")), "{}", texts[0]);
}

#[test]
fn http2_is_not_used_where_it_is_turned_off_or_not_offered() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let server = secured(folder.path(), "");
    let body = "const res = http.get(__ENV.URL); if (!res.body.startsWith('HTTP/1.1 ')) throw new Error(res.body);
        if (res.proto !== 'HTTP/1.1' || res.timings.tls_handshaking < 0) throw new Error(res.proto);";
    let network = NetworkSettings::of(|name| (name == "GODEBUG").then(|| "x=1,http2client=0".to_owned()));
    let ended =
        run_as(&script("iterations: 3", body), &server.https(), RunSettings { network, ..RunSettings::default() });
    ended.assert_quiet();
    let (certificate, key) = self_signed(folder.path());
    let files = format!("ssl_certificate {}; ssl_certificate_key {};", certificate.display(), key.display());
    let old = Nginx::start_with("ssl", &format!("{files} location / {{ return 200 '$server_protocol '; }}"));
    run(&script("iterations: 3", body), &old.https()).assert_quiet();
}

#[test]
fn a_request_in_http2_that_times_out_fails_alone() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let silent = Script::start(|client| while client.request().is_some() {});
    let server = secured(folder.path(), &format!("location /silent {{ proxy_pass http://{}; }}", silent.address));
    let body = "const late = http.get(__ENV.URL + 'silent', {timeout: 200});
        if (late.error_code !== 1050 || late.error !== 'request timeout') throw new Error(late.error);
        const res = http.get(__ENV.URL);
        if (res.proto !== 'HTTP/2.0' || res.timings.tls_handshaking !== 0) throw new Error('a new connection: ' + res.error);";
    let ended = run(&script("iterations: 2", body), &server.https());
    assert_eq!((ended.end.exit_code, ended.rate("http_req_failed")), (0, 0.5));
    assert_eq!(ended.log.matches("Request Failed").count(), 2, "{}", ended.log);
    assert!(!ended.log.contains("a new connection"), "{}", ended.log);
}

#[test]
fn versions_cipher_suites_and_certificates_of_tls_are_those_of_the_options() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (authority, certificate, key) = client_of_an_authority(folder.path());
    let asks = format!("ssl_client_certificate {}; ssl_verify_client optional;", authority.display());
    let server = secured(folder.path(), &asks);
    let read = |path: &Path| std::fs::read_to_string(path).expect("it is written");
    let pem = |text: String| format!("'{}'", text.replace('\n', "\\n"));
    let auth = format!("{{cert: {}, key: {}}}", pem(read(&certificate)), pem(read(&key)));
    let own = |domain: &str| format!("tlsAuth: [{}]", auth.replacen('{', &format!("{{domains: ['{domain}'], "), 1));
    let suites = "tlsVersion: 'tls1.2', tlsCipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384']";
    for (options, expected, suite) in [
        ("tlsVersion: 'tls1.2'".to_owned(), "HTTP/2.0 TLSv1.2 ", ""),
        ("tlsVersion: {min: 'tls1.3'}".to_owned(), "HTTP/2.0 TLSv1.3 ", ""),
        (
            suites.to_owned(),
            "HTTP/2.0 TLSv1.2 ECDHE-ECDSA-AES256-GCM-SHA384 NONE",
            "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        ),
        (format!("tlsVersion: 'tls1.3', tlsAuth: [{auth}]"), "SUCCESS", ""),
        (own("127.0.0.1"), "SUCCESS", ""),
        // With one certificate it is the one that is shown, as in k6.
        (own("other.test"), "SUCCESS", ""),
    ] {
        let body = format!(
            "const res = http.get(__ENV.URL); if (!res.body || !res.body.includes('{expected}')) throw new Error(res.body + res.error);
            if (!res.tls_cipher_suite.startsWith('{suite}')) throw new Error(res.tls_cipher_suite);"
        );
        run(&script(&options, &body), &server.https()).assert_quiet();
    }
}

#[test]
fn a_certificate_that_is_not_trusted_has_the_number_of_k6() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    // It does not wait for a request, since what a client of TLS sends is none.
    let (server, plain) = (secured(folder.path(), ""), Script::start(|client| client.send(OK)));
    let body = format!(
        "const res = http.get(__ENV.URL);
        if (res.error_code !== 1310 || res.error !== 'x509: unknown authority') throw new Error('unexpected: ' + res.error);
        const none = http.get('https://{}/');
        if (none.error_code !== 1301) throw new Error('unexpected: ' + none.error);",
        plain.address
    );
    let ended = run(&script("insecureSkipTLSVerify: false", &body), &server.https());
    assert_eq!(ended.end.exit_code, 0);
    assert!(!ended.log.contains("unexpected"), "{}", ended.log);
}

#[test]
fn proxies_are_those_of_the_environment() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (server, plain) = (secured(folder.path(), ""), Script::start(answering(OK)));
    let behind = server.https().trim_start_matches("https://").trim_end_matches('/').to_owned();
    let tunnels = Script::start(move |client| {
        if client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\n\r\n");
            client.relay(&behind);
        }
    });
    let variables = [
        ("HTTP_PROXY", format!("http://ann:secret@{}", plain.address)),
        ("HTTPS_PROXY", tunnels.address.to_string()),
        ("NO_PROXY", "direct.test".to_owned()),
    ];
    let variable = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    let settings = RunSettings {
        network: NetworkSettings { proxies: Proxies::of(variable), ..NetworkSettings::default() },
        ..RunSettings::default()
    };
    let body = "const res = http.get('http://a.test:81/page?x=1');
        if (res.body !== 'ok' || res.url !== 'http://a.test:81/page?x=1' || res.request.headers['Proxy-Authorization']) throw new Error('proxy');
        if (http.get('http://direct.test/own').body !== 'ok') throw new Error('direct');
        if (http.get(__ENV.URL + 'here').body !== 'ok') throw new Error('here');
        const secured = http.get('https://b.test:444/');
        if (!secured.body || !secured.body.startsWith('HTTP/2.0')) throw new Error('tunnel ' + secured.error);";
    let options = format!("iterations: 2, hosts: {{'direct.test': '{}'}}", plain.address);
    run_as(&script(&options, body), &plain.url(), settings).assert_quiet();
    let texts = plain.texts();
    let proxied =
        "GET http://a.test:81/page?x=1 HTTP/1.1\r\nHost: a.test:81\r\nProxy-Authorization: Basic YW5uOnNlY3JldA==\r\n";
    assert_eq!(texts.iter().filter(|text| text.starts_with(proxied)).count(), 2, "{texts:?}");
    assert!(texts.iter().any(|text| text.starts_with("GET /own HTTP/1.1\r\nHost: direct.test\r\n")), "{texts:?}");
    assert!(texts.iter().any(|text| text.starts_with("GET /here HTTP/1.1\r\n")), "{texts:?}");
    let opened = tunnels.texts();
    assert!(opened.len() == 1 && opened[0].starts_with("CONNECT b.test:444 HTTP/1.1\r\n"), "{opened:?}");
}

#[test]
fn the_rate_of_all_requests_is_limited() {
    let server = Script::start(answering(OK));
    let script = "import http from 'k6/http'; import { Counter } from 'k6/metrics';
        const blocked = new Counter('blocked');
        export const options = {rps: 4, scenarios: {s: {executor: 'per-vu-iterations', vus: 4, iterations: 3}}};
        export default function () { if (http.get(__ENV.URL).timings.blocked > 500) blocked.add(1); }";
    let ended = run(script, &server.url());
    ended.assert_quiet();
    // Twelve requests, a quarter of a second between two.
    let seconds = ended.end.summary.state.duration_ms / 1000.0;
    assert!(seconds > 2.7, "{seconds} s");
    assert_eq!(ended.count("http_reqs"), 12.0);
    // The wait of some 0.75 s before most of them is not the request's; on a busy machine a few may wait for their connection.
    assert!(ended.count("blocked") < 6.0, "{}", ended.count("blocked"));
}

#[test]
fn requests_come_from_the_addresses_of_an_option() {
    let server = Script::start(|client| {
        let from = client.stream.peer_addr().map(|address| address.ip().to_string()).unwrap_or_default();
        while client.request().is_some() {
            client.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{from}", from.len()).as_bytes());
        }
    });
    let body = "console.log(http.get(__ENV.URL).body);";
    let options =
        "scenarios: {s: {executor: 'per-vu-iterations', vus: 2, iterations: 1}}, localIPs: '127.0.1.1-127.0.1.2'";
    let ended = run(&script(options, body), &server.url());
    assert_eq!(ended.end.exit_code, 0);
    for address in ["127.0.1.1", "127.0.1.2"] {
        assert_eq!(ended.log.matches(address).count(), 1, "{}", ended.log);
    }
}

#[test]
fn bytes_are_counted_at_the_sockets() {
    let server = Script::start(answering(OK));
    let ended = run(&script("iterations: 5", "http.get(__ENV.URL);"), &server.url());
    let request = server.texts()[0].len() as f64;
    assert_eq!((ended.count("data_sent"), ended.count("data_received")), (5.0 * request, 5.0 * OK.len() as f64));
    // With TLS those of the handshake and of records are part of it.
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let ended = run(&script("iterations: 1", "http.get(__ENV.URL);"), &secured(folder.path(), "").https());
    assert!(ended.count("data_sent") > 400.0 && ended.count("data_received") > 800.0);
}

#[test]
fn bodies_are_compressed_by_all_codings() {
    let server = Script::start(|client| {
        while let Some(request) = client.request() {
            let at = request.windows(4).position(|window| window == b"\r\n\r\n").map_or(0, |at| at + 4);
            let head = String::from_utf8_lossy(&request[..at]).into_owned();
            let coding = head.lines().find_map(|line| line.strip_prefix("Content-Encoding: ")).unwrap_or_default();
            let length = request.len() - at;
            client.send(
                format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {length}\r\n\r\n").as_bytes(),
            );
            client.send(&request[at..]);
        }
    });
    // The response is decoded by another program than the one that has encoded the request.
    let body = "const text = 'some text, '.repeat(500);
        for (const compression of ['gzip', 'deflate', 'br', 'zstd']) {
            const res = http.post(__ENV.URL, text, {compression});
            if (res.body !== text) throw new Error(compression);
            if (Number(res.headers['Content-Length']) > 500) throw new Error(compression + ' is large');
        }";
    run(&script("iterations: 1", body), &server.url()).assert_quiet();
}
