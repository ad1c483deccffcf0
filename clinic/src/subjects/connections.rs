//! Connections that are opened over and over, and how bytes go over them.

use crate::environment::proxies::{Haproxy, Nginx};
use crate::subject::Subject;
use torr_gauge::Factor::{AcceptBacklog, DelayedAck, KeepAlive};

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("keep-alive-closes", KeepAlive, |env| env.service(&["--response", "close-each"])),
        Subject::fault("keep-alive-gzip-only", KeepAlive, |env| env.service(&["--response", "gzip-only"])),
        Subject::fault("keep-alive-http10", KeepAlive, |env| {
            env.service(&["--server", "threads", "--response", "http10"])
        }),
        Subject::fault("keep-alive-nginx", KeepAlive, |env| {
            let server = "keepalive_timeout 0;";
            env.nginx(&Nginx { workers: 2, server, location: "return 200 'Hello';", ..Nginx::default() })
        })
        .needs(&["nginx"]),
        Subject::fault("keep-alive-haproxy", KeepAlive, |env| {
            let behind = env.torr_serve(&[])?;
            let frontend = "option httpclose";
            Ok(env.haproxy(&Haproxy { frontend, behind: &behind, ..Haproxy::default() })? + "/")
        })
        .needs(&["haproxy"]),
        Subject::fault("keep-alive-two", KeepAlive, |env| env.service(&["--response", "most=2"])),
        // The load is of visitors who come once: it is not the server that gives connections up.
        Subject::fault("backlog-slow-accept", AcceptBacklog, |env| {
            env.service(&["--backlog", "2", "--accept-every", "20ms"])
        })
        .with(&["--no-keepalive"]),
        Subject::fault("backlog-slow-threads", AcceptBacklog, |env| {
            env.service(&["--server", "threads", "--backlog", "16", "--accept-every", "5ms"])
        })
        .with(&["--no-keepalive"]),
        Subject::fault("nagle-two-writes", DelayedAck, |env| {
            env.service(&["--server", "threads", "--response", "two-writes"])
        }),
        Subject::fault("nagle-python", DelayedAck, |env| {
            env.script("/usr/bin/python3", "server.py", include_str!("../../programs/http_server.py"), &[])
        })
        .needs(&["python3"]),
    ]
}
