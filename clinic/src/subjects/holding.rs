//! Requests that wait for each other while CPUs are free: locks, and too few workers.

use crate::subject::Subject;
use torr_gauge::Factor::{Lock, Workers};

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("lock-sleep-pool", Lock, |bed| {
            bed.patient(&["--server", "pool=16", "--work", "lock-sleep=5ms", "--path", "/"])
        }),
        // Answers wait for acknowledgements as well, but not for as long as for the lock.
        Subject::fault("lock-two-writes", Lock, |bed| {
            bed.patient(&["--server", "threads", "--wire", "two-writes", "--work", "lock-sleep=5ms", "--path", "/"])
        }),
        Subject::fault("lock-burn-pool", Lock, |bed| {
            bed.patient(&["--server", "pool=16", "--work", "lock-burn=1ms", "--path", "/"])
        }),
        Subject::fault("lock-async", Lock, |bed| {
            bed.patient(&["--server", "loops=2", "--work", "async-lock=5ms", "--path", "/"])
        }),
        Subject::fault("lock-one-route", Lock, |bed| {
            let url = bed.patient(&["--server", "threads", "--work", "lock-sleep=2ms", "--path", "/report"])?;
            Ok(url + "report")
        }),
        Subject::fault("lock-uvicorn", Lock, |bed| bed.uvicorn("one_at_a_time", &[])).needs(&["uvicorn"]),
        // As PHP's sessions do, which lock their file.
        Subject::fault("lock-php-file", Lock, |bed| {
            bed.php("8", "<?php $f = fopen('lock', 'c'); flock($f, LOCK_EX); usleep(5000); fclose($f); echo 'done';")
        })
        .needs(&["php"]),
        Subject::fault("worker-loop-blocked", Workers, |bed| {
            bed.patient(&["--server", "loop", "--work", "sleep=5ms", "--path", "/"])
        }),
        Subject::fault("worker-one-thread", Workers, |bed| bed.patient(&["--server", "pool=1", "--work", "sleep=5ms"])),
        Subject::fault("worker-uvicorn-blocked", Workers, |bed| bed.uvicorn("blocks", &[])).needs(&["uvicorn"]),
        Subject::fault("workers-four-pool", Workers, |bed| bed.patient(&["--server", "pool=4", "--work", "sleep=5ms"])),
        Subject::fault("workers-four-kept", Workers, |bed| {
            bed.patient(&["--server", "threads=4", "--work", "sleep=2ms"])
        }),
        Subject::fault("workers-gunicorn", Workers, |bed| bed.gunicorn("nap", &["--workers", "3"]))
            .needs(&["gunicorn"]),
        Subject::fault("workers-php", Workers, |bed| bed.php("4", "<?php usleep(10000); echo 'slept';"))
            .needs(&["php"]),
        Subject::fault("workers-torr-pool", Workers, |bed| {
            Ok(bed.torr_serve(&["--blocking-threads", "4"])? + "/pool/5")
        }),
        Subject::fault("workers-torr-block", Workers, |bed| Ok(bed.torr_serve(&["--workers", "2"])? + "/block/5")),
    ]
}
