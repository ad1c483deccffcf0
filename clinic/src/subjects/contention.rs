//! Requests that wait for each other while CPUs are free: locks, and too few workers.

use crate::subject::Subject;
use torr_gauge::Factor::{Lock, Workers};

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("lock-sleep-pool", Lock, |env| {
            env.service(&["--server", "pool=16", "--handler", "lock-sleep=5ms", "--path", "/"])
        }),
        // Answers wait for acknowledgements as well, but not for as long as for the lock.
        Subject::fault("lock-two-writes", Lock, |env| {
            env.service(&[
                "--server",
                "threads",
                "--response",
                "two-writes",
                "--handler",
                "lock-sleep=5ms",
                "--path",
                "/",
            ])
        }),
        Subject::fault("lock-burn-pool", Lock, |env| {
            env.service(&["--server", "pool=16", "--handler", "lock-burn=1ms", "--path", "/"])
        }),
        Subject::fault("lock-async", Lock, |env| {
            env.service(&["--server", "loops=2", "--handler", "async-lock=5ms", "--path", "/"])
        }),
        Subject::fault("lock-one-route", Lock, |env| {
            let url = env.service(&["--server", "threads", "--handler", "lock-sleep=2ms", "--path", "/report"])?;
            Ok(url + "report")
        }),
        Subject::fault("lock-uvicorn", Lock, |env| env.uvicorn("one_at_a_time", &[])).needs(&["uvicorn"]),
        // As PHP's sessions do, which lock their file.
        Subject::fault("lock-php-file", Lock, |env| {
            env.php("8", "<?php $f = fopen('lock', 'c'); flock($f, LOCK_EX); usleep(5000); fclose($f); echo 'done';")
        })
        .needs(&["php"]),
        Subject::fault("worker-loop-blocked", Workers, |env| {
            env.service(&["--server", "loop", "--handler", "sleep=5ms", "--path", "/"])
        }),
        Subject::fault("worker-one-thread", Workers, |env| {
            env.service(&["--server", "pool=1", "--handler", "sleep=5ms"])
        }),
        Subject::fault("worker-uvicorn-blocked", Workers, |env| env.uvicorn("blocks", &[])).needs(&["uvicorn"]),
        Subject::fault("workers-four-pool", Workers, |env| {
            env.service(&["--server", "pool=4", "--handler", "sleep=5ms"])
        }),
        Subject::fault("workers-four-kept", Workers, |env| {
            env.service(&["--server", "threads=4", "--handler", "sleep=2ms"])
        }),
        Subject::fault("workers-gunicorn", Workers, |env| env.gunicorn("nap", &["--workers", "3"]))
            .needs(&["gunicorn"]),
        Subject::fault("workers-php", Workers, |env| env.php("4", "<?php usleep(10000); echo 'slept';"))
            .needs(&["php"]),
        Subject::fault("workers-torr-pool", Workers, |env| {
            Ok(env.torr_serve(&["--blocking-threads", "4"])? + "/pool/5")
        }),
        Subject::fault("workers-torr-block", Workers, |env| Ok(env.torr_serve(&["--workers", "2"])? + "/block/5")),
    ]
}
