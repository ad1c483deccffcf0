//! Services that are reached in another way: over a Unix socket, or in a network namespace of this machine as containers are.

use super::advised::advised;
use crate::environment::Environment;
use crate::environment::programs::OVER_UNIX;
use crate::subject::Subject;
use torr_gauge::Factor::{Lock, Workers};
use torr_test_support::error::Error;

/// Starts a service in a namespace.
fn contained(env: &mut Environment, server: &str, handler: &str) -> Result<String, Error> {
    env.contain()?;
    env.service(&["--server", server, "--handler", handler, "--path", "/"])
}

/// Starts a gunicorn in a namespace, whose workers resolve a name that takes the name server 20 ms.
fn resolving(env: &mut Environment, workers: &str) -> Result<String, Error> {
    env.contain()?;
    env.write("names.py", include_str!("../../programs/names.py"))?;
    env.run("/usr/bin/python3", &["names.py", "127.0.0.1", "20"])?;
    env.gunicorn_with("resolve", &["--workers", workers], &[("NAMESERVER", "127.0.0.1")])
}

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("unix-gunicorn", Workers, |env| env.gunicorn_over_unix("nap", &["--workers", "3"]))
            .with(OVER_UNIX)
            .cured(|env| env.gunicorn_over_unix("nap", &["--workers", &advised()]))
            .needs(&["gunicorn"]),
        Subject::fault("unix-lock-uvicorn", Lock, |env| env.uvicorn_over_unix("one_at_a_time"))
            .with(OVER_UNIX)
            .cured(|env| env.uvicorn_over_unix("all_at_a_time"))
            .needs(&["uvicorn"]),
        Subject::fault("contained-workers", Workers, |env| contained(env, "pool=4", "sleep=5ms"))
            .cured(|env| contained(env, &format!("pool={}", advised()), "sleep=5ms"))
            .for_root(),
        Subject::fault("contained-lock", Lock, |env| contained(env, "loops=2", "async-lock=5ms"))
            .cured(|env| contained(env, "loops=2", "async-sleep=5ms"))
            .for_root(),
        Subject::fault("contained-resolving", Workers, |env| resolving(env, "4"))
            .cured(|env| resolving(env, &advised()))
            .for_root()
            .needs(&["gunicorn", "python3"]),
    ]
}
