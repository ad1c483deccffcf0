//! Proxies in front of servers that could do more, and TLS.

use crate::environment::Environment;
use crate::environment::proxies::{Haproxy, Nginx};
use crate::subject::Subject;
use std::process::Command;
use torr_gauge::Factor::{Proxy, SingleCore, TlsHandshake};
use torr_test_support::error::Error;

/// Writes a certificate with an RSA key of 4096 bits into the folder, where nginx reads it.
fn certificate(env: &Environment) -> Result<(), Error> {
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-newkey", "rsa:4096", "-nodes", "-subj", "/CN=localhost", "-days", "2"]);
    command.args(["-keyout", "key.pem", "-out", "certificate.pem"]).current_dir(env.folder());
    let ended = command.output().map_err(Error::at("openssl"))?;
    let said = String::from_utf8_lossy(&ended.stderr);
    if ended.status.success() { Ok(()) } else { Err(Error::failed(format!("openssl: {}", said.trim()))) }
}

/// Starts an nginx before `torr serve`, with directives that follow `proxy_pass`.
fn nginx(env: &mut Environment, workers: u8, directives: &str) -> Result<String, Error> {
    let server = env.torr_serve(&[])?;
    let location = format!("proxy_pass {server}; {directives}");
    env.nginx(&Nginx { workers, location: &location, ..Nginx::default() })
}

/// Starts an nginx that keeps its connections to `torr serve`.
pub(super) fn keeping_nginx(env: &mut Environment) -> Result<String, Error> {
    let server = env.torr_serve(&[])?;
    let http = format!("upstream torr {{ server {}; keepalive 64; }}", server.trim_start_matches("http://"));
    let location = "proxy_pass http://torr; proxy_http_version 1.1; proxy_set_header Connection '';";
    env.nginx(&Nginx { workers: 2, http: &http, location, ..Nginx::default() })
}

fn haproxy(env: &mut Environment, server: &str) -> Result<String, Error> {
    let behind = env.torr_serve(&[])?;
    Ok(env.haproxy(&Haproxy { behind: &behind, server, ..Haproxy::default() })? + "/sleep/5")
}

/// Starts an nginx with TLS.
fn nginx_tls(env: &mut Environment, server: &str) -> Result<String, Error> {
    certificate(env)?;
    env.nginx(&Nginx { workers: 2, tls: true, server, location: "return 200 'Hello';", ..Nginx::default() })
}

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("proxy-opens-each", Proxy, |env| nginx(env, 2, "")).cured(keeping_nginx).needs(&["nginx"]),
        // The one process of the proxy is the one core that is full: both factors are true.
        Subject::fault("proxy-compresses", Proxy, |env| {
            let gzip = "gzip on; gzip_comp_level 9; gzip_types *; gzip_min_length 0; \
                        proxy_http_version 1.1; proxy_set_header Connection '';";
            Ok(nginx(env, 1, gzip)? + "bytes/50000")
        })
        .or(SingleCore)
        .with(&["--compressed"])
        .cured(|env| Ok(nginx(env, 1, "proxy_http_version 1.1; proxy_set_header Connection '';")? + "bytes/50000"))
        .needs(&["nginx"]),
        Subject::fault("proxy-haproxy-queue", Proxy, |env| haproxy(env, "maxconn 2"))
            .cured(|env| haproxy(env, ""))
            .needs(&["haproxy"]),
        Subject::fault("tls-nginx-rsa4096", TlsHandshake, |env| {
            nginx_tls(env, "ssl_session_cache off; ssl_session_tickets off; keepalive_timeout 0;")
        })
        .with(&["-k"])
        .cured(|env| nginx_tls(env, "ssl_session_cache off; ssl_session_tickets off;"))
        .needs(&["nginx", "openssl"]),
        Subject::fault("tls-new-visitors", TlsHandshake, |env| {
            certificate(env)?;
            let url = env.torr_serve(&["--tls-cert", "certificate.pem", "--tls-key", "key.pem"])?;
            Ok(url.replace("http://", "https://") + "/")
        })
        .with(&["-k", "--no-keepalive", "--tls-resumption", "full"])
        .cured_with(&["-k", "--tls-resumption", "full"])
        .needs(&["openssl"]),
    ]
}
