//! Proxies in front of servers that could do more, and TLS.

use crate::environment::Environment;
use crate::environment::proxies::{Haproxy, Nginx};
use crate::error::Error;
use crate::subject::Subject;
use std::process::Command;
use torr_gauge::Factor::{Proxy, SingleCore, TlsHandshake};

/// Puts a certificate with a long key of RSA into the folder, where nginx looks for it.
fn certificate(env: &Environment) -> Result<(), Error> {
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-newkey", "rsa:4096", "-nodes", "-subj", "/CN=localhost", "-days", "2"]);
    command.args(["-keyout", "key.pem", "-out", "certificate.pem"]).current_dir(env.folder());
    let ended = command.output().map_err(Error::at("openssl"))?;
    let said = String::from_utf8_lossy(&ended.stderr);
    if ended.status.success() { Ok(()) } else { Err(Error::failed(format!("openssl: {}", said.trim()))) }
}

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("proxy-opens-each", Proxy, |env| {
            let server = env.torr_serve(&[])?;
            env.nginx(&Nginx { workers: 2, location: &format!("proxy_pass {server};"), ..Nginx::default() })
        })
        .needs(&["nginx"]),
        // The one process of the proxy is the one core that is full: both say the same.
        Subject::fault("proxy-compresses", Proxy, |env| {
            let server = env.torr_serve(&[])?;
            let location = format!(
                "gzip on; gzip_comp_level 9; gzip_types *; gzip_min_length 0; proxy_pass {server};
                 proxy_http_version 1.1; proxy_set_header Connection '';"
            );
            Ok(env.nginx(&Nginx { workers: 1, location: &location, ..Nginx::default() })? + "bytes/50000")
        })
        .or(SingleCore)
        .with(&["--compressed"])
        .needs(&["nginx"]),
        Subject::fault("proxy-haproxy-queue", Proxy, |env| {
            let server = env.torr_serve(&[])?;
            Ok(env.haproxy(&Haproxy { behind: &server, server: "maxconn 2", ..Haproxy::default() })? + "/sleep/5")
        })
        .needs(&["haproxy"]),
        Subject::fault("tls-nginx-rsa4096", TlsHandshake, |env| {
            certificate(env)?;
            let server = "ssl_session_cache off; ssl_session_tickets off; keepalive_timeout 0;";
            env.nginx(&Nginx { workers: 2, tls: true, server, location: "return 200 'Hello';", ..Nginx::default() })
        })
        .with(&["-k"])
        .needs(&["nginx", "openssl"]),
        Subject::fault("tls-new-visitors", TlsHandshake, |env| {
            certificate(env)?;
            let url = env.torr_serve(&["--tls-cert", "certificate.pem", "--tls-key", "key.pem"])?;
            Ok(url.replace("http://", "https://") + "/")
        })
        .with(&["-k", "--no-keepalive", "--tls-resumption", "full"])
        .needs(&["openssl"]),
    ]
}
