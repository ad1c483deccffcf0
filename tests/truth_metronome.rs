//! Quantiles against a server that knows them.
//!
//! Each figure is held against two truths: how long the requests were programmed to take, and how long the server itself
//! saw each take. The server's own log always counts; the program counts where the server kept to it. What may lie between is 2% or 60 us, whichever is more, and what the machine itself adds to so many of a witness's
//! exchanges, beyond their median: a busy or virtual machine holds up one of a thousand wake-ups for milliseconds, and no
//! program can be blamed for that. On a quiet machine that is next to nothing.
//!
//! Since witness and request are not held up by the same pauses, a run is repeated up to [`ATTEMPTS`] times, until each
//! quantile has been right in one run or another. That is no way out for a wrong tool: one that starts its clock late,
//! misses the wait for a connection, or rounds to milliseconds, is wrong every time.

mod support;

use serde_json::Value;
use std::sync::Mutex;
use support::metronome::{Awake, Log, Metronome, Witness, bimodal, constant, log_normal, quantile, torr_in_real_time};

const ATTEMPTS: usize = 5;
/// So many that p99.9 is the eighth longest: the first few are sent while the program is still starting.
const REQUESTS: usize = 7000;
const SHARE: f64 = 0.02;
const FLOOR_US: f64 = 60.0;
const QUANTILES: [(&str, f64); 5] = [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999)];

/// One measurement at a time: two would disturb each other.
static ALONE: Mutex<()> = Mutex::new(());

/// How far a figure may be from the truth, in microseconds.
fn allowed(truth: f64) -> f64 {
    (SHARE * truth).max(FLOOR_US)
}

/// What the machine adds to the slowest of the witness's exchanges, beyond what it adds to any. Half as many of them as of
/// the requests: a request may be held up within the server as well as outside.
fn noise(witness: &[u64], share: f64) -> f64 {
    quantile(witness, (1.0 + share) / 2.0) - quantile(witness, 0.5)
}

/// Which of its two truths each quantile is off, in words.
fn wrong(result: &Value, log: &Log, witness: &[u64]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, share) in QUANTILES {
        let measured = result["latency_us"][name].as_u64().unwrap_or_else(|| panic!("no {name}: {result}")) as f64;
        let noise = if share > 0.9 { noise(witness, share) } else { 0.0 };
        let (programmed, served) = (quantile(&log.programmed, share), quantile(&log.served, share));
        // Where the server itself was late, what it served is all the truth there is: timers of a virtual machine can be.
        let kept = (served - programmed).abs() <= allowed(programmed) / 2.0;
        for (what, truth) in [("served", Some(served)), ("programmed", kept.then_some(programmed))] {
            let off = truth.filter(|truth| (measured - truth).abs() > allowed(*truth) + noise);
            wrong.extend(
                off.map(|truth| format!("{name} {what}: measured {measured} us, true {truth} us, noise {noise:.0} us")),
            );
        }
    }
    wrong
}

/// Measures until each quantile has been right.
fn hold(what: &str, times: &[u64], load: &[&str]) {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let _awake = Awake::start();
    // What each attempt still to be convinced of says, by the beginning of its words.
    let mut open: Option<Vec<String>> = None;
    for _ in 0..ATTEMPTS {
        let server = Metronome::start(times.to_vec());
        let (url, requests) = (server.url(), REQUESTS.to_string());
        let args = [&["-n", &requests], load, &[&url]].concat();
        let witness = Witness::start();
        let result = torr_in_real_time(&args);
        let (witness, log) = (witness.finish(), server.finish());
        assert_eq!((&result["requests"], log.served.len()), (&REQUESTS.into(), REQUESTS), "{what}: {result}");
        let mut sorted = [log.programmed.clone(), times.to_vec()];
        sorted.iter_mut().for_each(|times| times.sort_unstable());
        assert_eq!(sorted[0], sorted[1], "{what}: each programmed time was served once");
        let now = wrong(&result, &log, &witness);
        let topic = |line: &str| line.split(':').next().unwrap_or_default().to_owned();
        let still = |line: &String| open.as_ref().is_none_or(|open| open.iter().any(|o| topic(o) == topic(line)));
        let left: Vec<_> = now.into_iter().filter(still).collect();
        if left.is_empty() {
            return;
        }
        eprintln!("{what}: {left:?}");
        open = Some(left);
    }
    panic!("{what}: off in each of {ATTEMPTS} runs: {open:#?}");
}

#[test]
fn a_constant_time_is_measured_as_it_is() {
    let times = constant(10_300, REQUESTS);
    hold("constant, closed loop", &times, &["-c", "18"]);
    hold("constant, open loop", &times, &["-c", "100", "-r", "1500"]);
}

#[test]
fn two_times_are_measured_as_they_are() {
    let times = bimodal(8000, 0.15, 40_000, REQUESTS);
    hold("bimodal, closed loop", &times, &["-c", "25"]);
    hold("bimodal, open loop", &times, &["-c", "100", "-r", "1500"]);
}

#[test]
fn a_long_tail_is_measured_as_it_is() {
    let times = log_normal(10_000, 0.7, REQUESTS);
    hold("log-normal, closed loop", &times, &["-c", "25"]);
    hold("log-normal, open loop", &times, &["-c", "200", "-r", "1500"]);
}
