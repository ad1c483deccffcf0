//! Locks, pools and blocked event loops in C, Go, Java, Node.js and Python.

use super::advised::advised;
use crate::subject::Subject;
use torr_gauge::Factor::{AcceptBacklog, Lock, Pool, SingleCore, Workers};
use torr_gauge::machine::cpus;

/// The backlog of a service of C that is none of its faults.
const LONG: &str = "4096";

pub fn subjects() -> Vec<Subject> {
    vec![
        // One core's worth of computation, spread over many threads: the lock is as true as the single core.
        Subject::fault("serial-c", Lock, |env| env.c("compute-locked", LONG))
            .or(SingleCore)
            .cured(|env| env.c("compute", LONG))
            .needs(&["cc"]),
        Subject::fault("serial-go", Lock, |env| env.go("compute-locked", "1"))
            .or(SingleCore)
            .cured(|env| env.go("compute", "1"))
            .needs(&["go"]),
        Subject::fault("serial-java", Lock, |env| env.java("compute-locked", "1"))
            .or(SingleCore)
            .cured(|env| env.java("compute", "1"))
            .compiled_late()
            .needs(&["java", "javac"]),
        // How much more the disk takes without the lock is the disk's to say, so that no cure is judged.
        Subject::fault("lock-fsync-c", Lock, |env| env.c("sync-locked", LONG)).needs(&["cc"]),
        Subject::fault("pool-go", Pool, |env| env.go("pool", "6")).cured(|env| env.go("pool", "12")).needs(&["go"]),
        Subject::fault("pool-java", Pool, |env| env.java("pool", "5"))
            .cured(|env| env.java("pool", "10"))
            .needs(&["java", "javac"]),
        Subject::fault("worker-node-blocked", Workers, |env| {
            env.script("node", "blocked.js", include_str!("../../programs/blocked.js"), &["5", "1"])
        })
        .cured(|env| {
            let workers = advised();
            env.script("node", "blocked.js", include_str!("../../programs/blocked.js"), &["5", &workers])
        })
        .needs(&["node"]),
        // The interpreter lets one of the threads run at a time.
        Subject::fault("single-core-python-threads", SingleCore, |env| {
            env.gunicorn("compute", &["--workers", "1", "--threads", "8", "--keep-alive", "30"])
        })
        .cured(|env| {
            let workers = cpus().to_string();
            env.gunicorn("compute", &["--workers", &workers, "--threads", "8", "--keep-alive", "30"])
        })
        .needs(&["gunicorn"]),
        // Connections come faster than a queue of five takes them: the kernel drops some, which come again after a second.
        Subject::fault("backlog-overflows-c", AcceptBacklog, |env| env.c("none", "5"))
            .with(&["-c", "400", "--no-keepalive"])
            .cured(|env| env.c("none", LONG))
            .needs(&["cc"]),
    ]
}
