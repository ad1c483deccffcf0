//! nginx: its configuration, with or without TLS and HTTP/2.

use std::fs;
use std::io;
use std::path::Path;

use super::certificate;
use super::server_settings::ServerSettings;
use crate::floor::PAGE;
use crate::scenario::Style;

/// One TLS for all, whatever a client would rather have: else tools would be compared by the ciphers that they like.
/// OpenSSL's clients and rustls put this suite and this group first.
const TLS: &str = "ssl_certificate ../certificate.pem;
        ssl_certificate_key ../key.pem;
        ssl_protocols TLSv1.3;
        ssl_conf_command Ciphersuites TLS_AES_256_GCM_SHA384;
        ssl_ecdh_curve X25519;
        ssl_session_cache off;
        ssl_session_tickets off;";

/// One nginx worker that logs nothing and never closes; every file it writes is in its own folder.
pub fn arguments(server: &ServerSettings<'_>) -> io::Result<Vec<String>> {
    if server.scenario.style.tls() {
        certificate::files(server.folder)?;
    }
    configured(&server.folder.join("nginx"), &configuration(server))
}

/// Writes a configuration into a folder, and returns the arguments with which nginx keeps all its files there.
pub fn configured(prefix: &Path, configuration: &str) -> io::Result<Vec<String>> {
    fs::create_dir_all(prefix)?;
    fs::write(prefix.join("nginx.conf"), configuration)?;
    let prefix = prefix.to_string_lossy();
    Ok(["-p", &*prefix, "-c", "nginx.conf", "-e", "error.log"].map(str::to_owned).into())
}

fn configuration(server: &ServerSettings<'_>) -> String {
    let style = server.scenario.style;
    // What comes in another way than it is to be measured gets an error, which every tool counts as a failure.
    let refusal = match style {
        Style::TlsHandshakes => "if ($ssl_session_reused = r) { return 421; }",
        Style::Http2 | Style::H2c => "if ($server_protocol != HTTP/2.0) { return 421; }",
        _ => "",
    };
    let location = format!("location / {{ default_type text/html; return 200 \"{PAGE}\"; }}");
    let (tls, port) = (if style.tls() { TLS } else { "" }, server.port);
    let (ssl, http2) = (if style.tls() { " ssl" } else { "" }, if style.http2() { " http2" } else { "" });
    let server_block = format!(
        "listen 127.0.0.1:{port}{ssl}{http2} backlog=4096;\n        {tls}\n        {refusal}\n        {location}"
    );
    one_worker(server.scenario.connections + 1000, "", &server_block)
}

/// Returns the configuration of one worker that logs nothing and never closes: `http` is for all servers, `server` for the only one.
pub fn one_worker(files: u32, http: &str, server: &str) -> String {
    format!(
        r#"daemon off;
worker_processes 1;
worker_rlimit_nofile {files};
pid nginx.pid;
error_log error.log crit;
events {{ worker_connections {files}; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    {http}
    server {{
        {server}
    }}
}}
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Scenario, Side};

    fn server(style: Style, folder: &Path) -> ServerSettings<'_> {
        ServerSettings { port: 9, scenario: Scenario { side: Side::Transport, style, connections: 100 }, folder }
    }

    #[test]
    fn it_listens_as_the_scenario_wants_and_refuses_what_comes_otherwise() {
        let configured = |style| configuration(&server(style, Path::new(".")));
        let plain = configured(Style::KeepAlive);
        assert!(plain.contains("listen 127.0.0.1:9 backlog=4096;") && !plain.contains("ssl") && !plain.contains("421"));
        let handshakes = configured(Style::TlsHandshakes);
        assert!(handshakes.contains("listen 127.0.0.1:9 ssl backlog=4096;"));
        assert!(handshakes.contains("if ($ssl_session_reused = r) { return 421; }"));
        let http2 = configured(Style::Http2);
        assert!(http2.contains("listen 127.0.0.1:9 ssl http2 backlog=4096;"));
        assert!(http2.contains("if ($server_protocol != HTTP/2.0) { return 421; }"));
        assert!(configured(Style::H2c).contains("listen 127.0.0.1:9 http2 backlog=4096;"));
    }

    #[test]
    fn only_tls_has_a_certificate() {
        for (style, certified) in [(Style::Tls, true), (Style::H2c, false)] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            arguments(&server(style, folder.path())).expect("files can be written there");
            assert_eq!(folder.path().join("certificate.pem").exists(), certified);
            let configured = fs::read_to_string(folder.path().join("nginx/nginx.conf")).expect("it is written");
            assert!(configured.starts_with("daemon off;"));
        }
    }
}
