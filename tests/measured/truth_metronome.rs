//! Quantiles against a server that knows them.
//!
//! The truth is the server's own log: how long each request took there, from its arrival in the kernel until its response was about
//! to be written. The server never responds early. A measured quantile may differ from the logged one by 2% or 60 us, whichever is
//! more, plus what the machine adds to that share of a witness's exchanges beyond their median, on the CPU where that is more: a busy
//! or virtual machine delays one wake-up in a thousand by milliseconds, which no program can prevent.
//!
//! A quantile that is further off fails the test at once, with two exceptions, both measured and printed: the excess is smaller
//! than the delays that this share, or one in a hundred, of the witness's exchanges met, or other programs or the hypervisor took the CPU
//! ([`measured`]). Then the measurement is made again.

use crate::metronome::{Awake, Log, Metronome, Witness, bimodal, constant, log_normal, quantile, torr_in_real_time};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::time::{Duration, Instant};
use torr_test_support::alone;
use torr_test_support::measured::{explained, measured};
use torr_test_support::quiet;

/// So many that p99.9 is the eighth longest.
const REQUESTS: usize = 7000;
/// An open loop opens its first connections while requests are due already, and holds up more of them than p99.9 leaves out.
const WARM_UP: [&str; 2] = ["--warmup", "300ms"];
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
fn noise(witness: &[Vec<u64>], share: f64) -> f64 {
    let of_cpu = |times: &Vec<u64>| quantile(times, (1.0 + share) / 2.0) - quantile(times, 0.5);
    witness.iter().map(of_cpu).fold(0.0, f64::max)
}

/// Returns the quantiles that are off, in words, each with whether the machine's own delays can explain the excess.
fn wrong(result: &Value, log: &Log, witness: &[Vec<u64>]) -> Vec<(String, bool)> {
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
    hold_while(what, times, load, |_| ());
}

/// Measures until every quantile is right, however the process is treated meanwhile.
fn hold_while(what: &str, times: &[u64], load: &[&str], meanwhile: impl Fn(Pid)) {
    let _awake = Awake::start();
    measured(what, || {
        let (result, witness, mut log) = measure(times, load, &meanwhile);
        log.forget(result["warmup"]["requests"].as_u64().unwrap_or(0) as usize);
        assert_eq!((&result["requests"], log.served.len()), (&REQUESTS.into(), REQUESTS), "{what}: {result}");
        let mut sorted = [log.programmed.clone(), times.to_vec()];
        sorted.iter_mut().for_each(|times| times.sort_unstable());
        assert_eq!(sorted[0], sorted[1], "{what}: each programmed time was served once");
        let early = log.served.iter().zip(&log.programmed).filter(|(served, programmed)| served < programmed).count();
        assert_eq!(early, 0, "{what}: the server responded early");
        let wrong = wrong(&result, &log, &witness);
        let is_explained = !wrong.is_empty() && wrong.iter().all(|(_, explained)| *explained);
        if is_explained {
            explained(
                format!("{wrong:?}"),
                "the witness saw delays of the machine that are larger than the excess".into(),
            );
        }
        quiet!(wrong.is_empty(), "{wrong:?}");
    });
}

/// Runs `torr` against the server, with a witness beside it.
fn measure(times: &[u64], load: &[&str], meanwhile: impl FnOnce(Pid)) -> (Value, Vec<Vec<u64>>, Log) {
    let server = Metronome::start(times.to_vec());
    let (url, requests) = (server.url(), REQUESTS.to_string());
    let warm_up: &[&str] = if load.contains(&"-r") { &WARM_UP } else { &[] };
    let args = [&["-n", &requests], load, warm_up, &[&url]].concat();
    let witness = Witness::start();
    let result = torr_in_real_time(&args, meanwhile);
    (result, witness.finish(), server.finish())
}

#[test]
fn a_constant_time_is_measured_as_it_is() {
    let _alone = alone();
    hold("constant, closed loop", &constant(10_300, REQUESTS), &["-c", "18"]);
}

#[test]
#[ignore = "measured for long: ./test full"]
fn a_constant_time_is_measured_as_it_is_in_an_open_loop_by_either_clock() {
    let _alone = alone();
    let times = constant(10_300, REQUESTS);
    hold("constant, open loop", &times, &["-c", "100", "-r", "1500"]);
    hold("constant, open loop, user's clock", &times, &["-c", "100", "-r", "1500", "--timestamps", "user"]);
}

#[test]
#[ignore = "measured for long: ./test full"]
fn two_times_are_measured_as_they_are() {
    let _alone = alone();
    let times = bimodal(8000, 0.15, 40_000, REQUESTS);
    hold("bimodal, closed loop", &times, &["-c", "25"]);
    hold("bimodal, open loop", &times, &["-c", "100", "-r", "1500"]);
}

#[test]
#[ignore = "measured for long: ./test full"]
fn a_long_tail_is_measured_as_it_is() {
    let _alone = alone();
    let times = log_normal(10_000, 0.7, REQUESTS);
    hold("log-normal, closed loop", &times, &["-c", "25"]);
    hold("log-normal, open loop", &times, &["-c", "200", "-r", "1500"]);
}

/// Takes the CPU away from a process for 5 ms, again and again, for 2.5 s.
fn take_cpu_away(process: Pid) {
    let until = |moment: Instant| std::thread::sleep(moment.saturating_duration_since(Instant::now()));
    let begin = Instant::now();
    for turn in 1..=50 {
        until(begin + turn * Duration::from_millis(50));
        let frozen = Instant::now();
        kill_process(process, Signal::STOP).expect("it has not been waited for");
        until(frozen + FROZEN);
        kill_process(process, Signal::CONT).expect("it has not been waited for");
    }
}

const FROZEN: Duration = Duration::from_millis(5);

#[test]
#[ignore = "measured for long: ./test full"]
fn a_generator_that_is_stopped_now_and_then_measures_truly_by_the_timestamps_of_the_kernel() {
    let _alone = alone();
    let times = constant(10_300, REQUESTS);
    let load = ["-c", "18", "--timestamps"];
    hold_while("frozen now and then", &times, &[&load[..], &["kernel"]].concat(), take_cpu_away);
    // The user's clock is read when the CPU is back, which a tenth of the responses waited for.
    measured("the user's clock while frozen", || {
        let (result, _, log) = measure(&times, &[&load[..], &["user"]].concat(), take_cpu_away);
        let p99 = result["latency_us"]["p99"].as_u64().expect("there were requests");
        quiet!(p99 as f64 > quantile(&log.served, 0.99) + 1000.0, "a frozen program saw all in time: {result}");
        assert_eq!(result["generator"]["timestamps"], "user");
    });
}

#[test]
fn requests_that_leave_together_are_measured_from_when_they_leave() {
    let _alone = alone();
    // Two or three at a time, which one thread of the server takes in turn.
    let times = constant(10_300, REQUESTS);
    hold("coalesced", &times, &["-c", "200", "-r", "7000", "--coalesce", "400us"]);
}
