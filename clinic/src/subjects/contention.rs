//! Requests that wait for each other while CPUs are free: locks, and too few workers.

use super::advised::advised;
use crate::environment::Environment;
use crate::subject::Subject;
use torr_gauge::Factor::{Lock, Pool, Workers};
use torr_test_support::error::Error;

/// Starts the clinic's own service with a handler on `/`. Other paths are answered at once.
fn serve(env: &mut Environment, server: &str, handler: &str) -> Result<String, Error> {
    env.service(&["--server", server, "--handler", handler, "--path", "/"])
}

/// Starts a service whose responses wait for acknowledgements as well, though not for as long as for its lock.
fn two_writes(env: &mut Environment, handler: &str) -> Result<String, Error> {
    env.service(&["--server", "threads", "--response", "two-writes", "--handler", handler, "--path", "/"])
}

/// Starts the clinic's own service whose threads or event loops sleep, as many as the doctor advises.
fn advised_sleepers(env: &mut Environment, server: &str, handler: &str) -> Result<String, Error> {
    env.service(&["--server", &format!("{server}={}", advised()), "--handler", handler])
}

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("lock-sleep-pool", Lock, |env| serve(env, "pool=16", "lock-sleep=5ms"))
            .cured(|env| serve(env, "pool=16", "sleep=5ms")),
        Subject::fault("lock-two-writes", Lock, |env| two_writes(env, "lock-sleep=5ms"))
            .cured(|env| two_writes(env, "sleep=5ms")),
        Subject::fault("lock-burn-pool", Lock, |env| serve(env, "pool=16", "lock-burn=1ms"))
            .cured(|env| serve(env, "pool=16", "burn=1ms")),
        Subject::fault("pool-semaphore-four", Pool, |env| serve(env, "loops=2", "semaphore=4:5ms"))
            .cured(|env| serve(env, "loops=2", "semaphore=8:5ms")),
        Subject::fault("lock-async", Lock, |env| serve(env, "loops=2", "async-lock=5ms"))
            .cured(|env| serve(env, "loops=2", "async-sleep=5ms")),
        Subject::fault("lock-one-route", Lock, |env| {
            let url = env.service(&["--server", "threads", "--handler", "lock-sleep=2ms", "--path", "/report"])?;
            Ok(url + "report")
        })
        .cured(|env| {
            let url = env.service(&["--server", "threads", "--handler", "sleep=2ms", "--path", "/report"])?;
            Ok(url + "report")
        }),
        Subject::fault("lock-uvicorn", Lock, |env| env.uvicorn("one_at_a_time", &[]))
            .cured(|env| env.uvicorn("all_at_a_time", &[]))
            .needs(&["uvicorn"]),
        // The lock of PHP's sessions, which is one of a file.
        Subject::fault("lock-php-file", Lock, |env| {
            env.php("8", "<?php $f = fopen('lock', 'c'); flock($f, LOCK_EX); usleep(5000); fclose($f); echo 'done';")
        })
        .cured(|env| env.php("8", "<?php $f = fopen('lock', 'c'); usleep(5000); fclose($f); echo 'done';"))
        .needs(&["php"]),
        Subject::fault("worker-loop-blocked", Workers, |env| serve(env, "loop", "sleep=5ms"))
            .cured(|env| advised_sleepers(env, "loops", "sleep=5ms")),
        Subject::fault("worker-one-thread", Workers, |env| {
            env.service(&["--server", "pool=1", "--handler", "sleep=5ms"])
        })
        .cured(|env| advised_sleepers(env, "pool", "sleep=5ms")),
        Subject::fault("worker-uvicorn-blocked", Workers, |env| env.uvicorn("blocks", &[]))
            .cured(|env| env.uvicorn("blocks", &["--workers", &advised()]))
            .needs(&["uvicorn"]),
        Subject::fault("workers-four-pool", Workers, |env| {
            env.service(&["--server", "pool=4", "--handler", "sleep=5ms"])
        })
        .cured(|env| advised_sleepers(env, "pool", "sleep=5ms")),
        // Four workers and a queue of 32: with more connections requests fail, which hides what limits.
        Subject::fault("workers-queue-full", Workers, |env| {
            env.service(&["--server", "pool=4", "--queue", "32", "--handler", "sleep=10ms"])
        }),
        Subject::fault("workers-four-kept", Workers, |env| {
            env.service(&["--server", "threads=4", "--handler", "sleep=2ms"])
        })
        .cured(|env| advised_sleepers(env, "threads", "sleep=2ms")),
        Subject::fault("workers-gunicorn", Workers, |env| env.gunicorn("nap", &["--workers", "3"]))
            .cured(|env| env.gunicorn("nap", &["--workers", &advised()]))
            .needs(&["gunicorn"]),
        Subject::fault("workers-php", Workers, |env| env.php("4", "<?php usleep(10000); echo 'slept';"))
            .cured(|env| env.php(&advised(), "<?php usleep(10000); echo 'slept';"))
            .needs(&["php"]),
        Subject::fault("workers-torr-pool", Workers, |env| {
            Ok(env.torr_serve(&["--blocking-threads", "4"])? + "/pool/5")
        })
        .cured(|env| Ok(env.torr_serve(&["--blocking-threads", &advised()])? + "/pool/5")),
        Subject::fault("workers-torr-block", Workers, |env| Ok(env.torr_serve(&["--workers", "2"])? + "/block/5"))
            .cured(|env| Ok(env.torr_serve(&["--workers", &advised()])? + "/block/5")),
    ]
}
