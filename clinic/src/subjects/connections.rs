//! Connections: opened for every request, dropped before they are accepted, or held up by delayed acknowledgements.

use crate::environment::Environment;
use crate::environment::proxies::{Haproxy, Nginx};
use crate::subject::Subject;
use torr_gauge::Factor::{AcceptBacklog, DelayedAck, KeepAlive};
use torr_test_support::error::Error;

fn nginx(env: &mut Environment, server: &str) -> Result<String, Error> {
    env.nginx(&Nginx { workers: 2, server, location: "return 200 'Hello';", ..Nginx::default() })
}

fn haproxy(env: &mut Environment, frontend: &str) -> Result<String, Error> {
    let behind = env.torr_serve(&[])?;
    Ok(env.haproxy(&Haproxy { frontend, behind: &behind, ..Haproxy::default() })? + "/")
}

fn python(env: &mut Environment, arguments: &[&str]) -> Result<String, Error> {
    env.script("/usr/bin/python3", "server.py", include_str!("../../programs/http_server.py"), arguments)
}

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("keep-alive-closes", KeepAlive, |env| env.service(&["--response", "close-each"]))
            .cured(|env| env.service(&[])),
        Subject::fault("keep-alive-gzip-only", KeepAlive, |env| env.service(&["--response", "gzip-only"]))
            .cured(|env| env.service(&[])),
        Subject::fault("keep-alive-http10", KeepAlive, |env| {
            env.service(&["--server", "threads", "--response", "http10"])
        })
        .cured(|env| env.service(&["--server", "threads"])),
        Subject::fault("keep-alive-nginx", KeepAlive, |env| nginx(env, "keepalive_timeout 0;"))
            .cured(|env| nginx(env, ""))
            .needs(&["nginx"]),
        Subject::fault("keep-alive-haproxy", KeepAlive, |env| haproxy(env, "option httpclose"))
            .cured(|env| haproxy(env, ""))
            .needs(&["haproxy"]),
        Subject::fault("keep-alive-two", KeepAlive, |env| env.service(&["--response", "most=2"]))
            .cured(|env| env.service(&[])),
        // The load opens a connection for each request: it is not the server that closes them.
        Subject::fault("backlog-slow-accept", AcceptBacklog, |env| {
            env.service(&["--backlog", "2", "--accept-every", "20ms"])
        })
        .with(&["--no-keepalive"])
        .cured(|env| env.service(&[])),
        Subject::fault("backlog-slow-threads", AcceptBacklog, |env| {
            env.service(&["--server", "threads", "--backlog", "16", "--accept-every", "5ms"])
        })
        .with(&["--no-keepalive"])
        .cured(|env| env.service(&["--server", "threads"])),
        Subject::fault("nagle-two-writes", DelayedAck, |env| {
            env.service(&["--server", "threads", "--response", "two-writes"])
        })
        .cured(|env| env.service(&["--server", "threads"])),
        Subject::fault("nagle-python", DelayedAck, |env| python(env, &[]))
            .cured(|env| python(env, &["buffered"]))
            .needs(&["python3"]),
    ]
}
