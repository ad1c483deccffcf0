//! Connections that are opened over and over, and how bytes go over them.

use crate::subject::Subject;
use crate::ward::proxies::Nginx;
use torr_gauge::Factor::{AcceptBacklog, DelayedAck, KeepAlive};

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("keep-alive-closes", KeepAlive, |bed| bed.patient(&["--wire", "close-each"])),
        Subject::fault("keep-alive-gzip-only", KeepAlive, |bed| bed.patient(&["--wire", "gzip-only"])),
        Subject::fault("keep-alive-http10", KeepAlive, |bed| bed.patient(&["--server", "threads", "--wire", "http10"])),
        Subject::fault("keep-alive-nginx", KeepAlive, |bed| {
            let server = "keepalive_timeout 0;";
            bed.nginx(&Nginx { workers: 2, server, location: "return 200 'Hello';", ..Nginx::default() })
        })
        .needs(&["nginx"]),
        Subject::fault("keep-alive-two", KeepAlive, |bed| bed.patient(&["--wire", "most=2"])),
        // The load is of visitors who come once: it is not the server that gives connections up.
        Subject::fault("backlog-slow-accept", AcceptBacklog, |bed| {
            bed.patient(&["--backlog", "2", "--accept-every", "20ms"])
        })
        .with(&["--no-keepalive"]),
        Subject::fault("backlog-slow-threads", AcceptBacklog, |bed| {
            bed.patient(&["--server", "threads", "--backlog", "16", "--accept-every", "5ms"])
        })
        .with(&["--no-keepalive"]),
        Subject::fault("nagle-two-writes", DelayedAck, |bed| {
            bed.patient(&["--server", "threads", "--wire", "two-writes"])
        }),
        Subject::fault("nagle-python", DelayedAck, |bed| {
            bed.script("/usr/bin/python3", "server.py", include_str!("../../programs/http_server.py"), &[])
        })
        .needs(&["python3"]),
    ]
}
