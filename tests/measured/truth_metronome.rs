//! Quantiles against a server that knows them.
//!
//! The truth is the server's own log: how long each request took there, from the end of the wait that brought the request until its
//! response was about to be written. The server never responds early. A measured quantile may differ from the logged one by 2% or
//! 60 us, whichever is more, plus what the machine adds to that share of a witness's exchanges beyond their median: a busy or virtual
//! machine delays one wake-up in a thousand by milliseconds, which no program can prevent.
//!
//! A quantile that is further off fails the test at once, with two exceptions, both measured and printed: the excess is smaller
//! than the delays that this share, or one in a hundred, of the witness's exchanges met, or other programs or the hypervisor took the CPU
//! ([`Disturbance`]). Then the measurement is made again, five times at most, so that a tool that is always wrong fails.

use crate::metronome::{Awake, Log, Metronome, Witness, bimodal, constant, log_normal, quantile, torr_in_real_time};
use serde_json::Value;
use torr_test_support::alone;
use torr_test_support::disturbance::{Disturbance, Outcome, until_right};

/// So many that p99.9 is the eighth longest: the first few are sent while the program is still starting.
const REQUESTS: usize = 7000;
const SHARE: f64 = 0.02;
const FLOOR_US: f64 = 60.0;
/// The share of the witness's exchanges whose delays explain an excess: delays come in bursts, and a burst that one in a hundred of
/// the witness's exchanges meets can meet more of the requests.
const EXPLAINING: f64 = 0.99;
const QUANTILES: [(&str, f64); 5] = [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999)];

/// How far a figure may be from the truth, in microseconds.
fn allowed(truth: f64) -> f64 {
    (SHARE * truth).max(FLOOR_US)
}

/// What the machine adds to the slowest of the witness's exchanges, beyond what it adds to any. Half as many of them as of
/// the requests: a request may be held up within the server as well as outside.
fn noise(witness: &[u64], share: f64) -> f64 {
    quantile(witness, (1.0 + share) / 2.0) - quantile(witness, 0.5)
}

/// Returns the quantiles that are off, in words, each with whether the machine's own delays can explain the excess.
fn wrong(result: &Value, log: &Log, witness: &[u64]) -> Vec<(String, bool)> {
    let mut wrong = Vec::new();
    for (name, share) in QUANTILES {
        let measured = result["latency_us"][name].as_u64().unwrap_or_else(|| panic!("no {name}: {result}")) as f64;
        let (served, noise) = (quantile(&log.served, share), noise(witness, share));
        let excess = (measured - served).abs() - allowed(served) - noise;
        if excess > 0.0 {
            let said = format!("{name}: measured {measured} us, served in {served} us, noise {noise:.0} us");
            wrong.push((said, excess < noise.max(self::noise(witness, EXPLAINING))));
        }
    }
    wrong
}

/// Measures until every quantile is right.
fn hold(what: &str, times: &[u64], load: &[&str]) {
    let _awake = Awake::start();
    until_right(what, || {
        let ((result, witness, log), disturbance) = Disturbance::during(|| measure(times, load));
        assert_eq!((&result["requests"], log.served.len()), (&REQUESTS.into(), REQUESTS), "{what}: {result}");
        let mut sorted = [log.programmed.clone(), times.to_vec()];
        sorted.iter_mut().for_each(|times| times.sort_unstable());
        assert_eq!(sorted[0], sorted[1], "{what}: each programmed time was served once");
        let early = log.served.iter().zip(&log.programmed).filter(|(served, programmed)| served < programmed).count();
        assert_eq!(early, 0, "{what}: the server responded early");
        let wrong = wrong(&result, &log, &witness);
        match wrong.is_empty() {
            true => Outcome::Right(()),
            false if wrong.iter().all(|(_, explained)| *explained) => {
                Outcome::Unknown(format!("the machine's own delays are larger than the excess: {wrong:?}"))
            }
            false => Outcome::Wrong(format!("{wrong:?}"), disturbance),
        }
    });
}

/// Runs `torr` against the server, with a witness beside it.
fn measure(times: &[u64], load: &[&str]) -> (Value, Vec<u64>, Log) {
    let server = Metronome::start(times.to_vec());
    let (url, requests) = (server.url(), REQUESTS.to_string());
    let args = [&["-n", &requests], load, &[&url]].concat();
    let witness = Witness::start();
    let result = torr_in_real_time(&args);
    (result, witness.finish(), server.finish())
}

#[test]
fn a_constant_time_is_measured_as_it_is() {
    let _alone = alone();
    let times = constant(10_300, REQUESTS);
    hold("constant, closed loop", &times, &["-c", "18"]);
    hold("constant, open loop", &times, &["-c", "100", "-r", "1500"]);
}

#[test]
fn two_times_are_measured_as_they_are() {
    let _alone = alone();
    let times = bimodal(8000, 0.15, 40_000, REQUESTS);
    hold("bimodal, closed loop", &times, &["-c", "25"]);
    hold("bimodal, open loop", &times, &["-c", "100", "-r", "1500"]);
}

#[test]
fn a_long_tail_is_measured_as_it_is() {
    let _alone = alone();
    let times = log_normal(10_000, 0.7, REQUESTS);
    hold("log-normal, closed loop", &times, &["-c", "25"]);
    hold("log-normal, open loop", &times, &["-c", "200", "-r", "1500"]);
}
