//! Numbers from outside: each has bounds, which one line names before anything is sent.

use std::collections::BTreeSet;
use torr_test_support::program::{Running, torr, torr_command, torr_path};

/// No program can do anything with these.
const NO_NUMBER: [&str; 7] = ["18446744073709551615", "18446744073709551616", "1e300", "-1", "nan", "inf", "1e-300"];

/// The values that a kind of number refuses.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// A whole number from 1 up.
    Count,
    /// A number above 0.
    Rate,
    /// A duration above 0.
    Duration,
    /// A duration, or 0 for none.
    Window,
    /// A share or a factor.
    Factor,
    /// A port from 1 up.
    Port,
    /// Any number of 64 bits.
    Seed,
}

impl Kind {
    fn refused(self) -> Vec<&'static str> {
        let also: &[&str] = match self {
            Self::Count => &["0", "0.5", "1.0000001", "9999999999G", ""],
            Self::Rate => &["0", "2e9", "1x", ""],
            Self::Duration => &["0", "0s", "1000000000000s", "99999999999y", ""],
            Self::Window => &["1h", "-1us", ""],
            Self::Factor => &["0", "1000", ""],
            Self::Port => &["0", "65536", "80.5", ""],
            Self::Seed => &["0.5", ""],
        };
        let is_huge = |text: &&str| *text != "18446744073709551615" || self != Self::Seed;
        NO_NUMBER.into_iter().filter(is_huge).chain(also.iter().copied()).collect()
    }
}

const URL: &str = "http://127.0.0.1:1/";

/// Each flag with a number: the words before it, the flag, its kind.
const FLAGS: &[(&[&str], &str, Kind)] = &[
    (&[URL], "--connections", Kind::Count),
    (&[URL, "-r", "10"], "--max-connections", Kind::Count),
    (&[URL], "--threads", Kind::Count),
    (&[URL], "--duration", Kind::Duration),
    (&[URL], "--requests", Kind::Count),
    (&[URL], "--rate", Kind::Rate),
    (&[URL], "--max-rate", Kind::Rate),
    (&[URL, "-r", "10"], "--coalesce", Kind::Window),
    (&[URL, "-r", "10"], "--patience", Kind::Duration),
    (&[URL, "--influxdb", URL], "--push-interval", Kind::Duration),
    (&[URL], "--timeout", Kind::Duration),
    (&[URL], "--warmup", Kind::Duration),
    (&[URL], "--think", Kind::Duration),
    (&[URL], "--pipeline", Kind::Count),
    (&[URL], "--requests-per-connection", Kind::Count),
    (&[URL, "--http2"], "--streams", Kind::Count),
    (&[URL, "--sse"], "--max-events", Kind::Count),
    (&[URL, "--sse"], "--idle-timeout", Kind::Duration),
    (&[URL], "--deadline", Kind::Duration),
    (&["doctor", URL], "--connections", Kind::Count),
    (&["doctor", URL], "--threads", Kind::Count),
    (&["doctor", URL], "--budget", Kind::Duration),
    (&["doctor", URL], "--max-rate", Kind::Rate),
    (&["doctor", URL], "--max-connections", Kind::Count),
    (&["limit", URL], "--budget", Kind::Duration),
    (&["limit", URL], "--max-rate", Kind::Rate),
    (&["limit", URL], "--max-connections", Kind::Count),
    (&["limit", URL], "--threads", Kind::Count),
    (&["compare", URL, URL], "--budget", Kind::Duration),
    (&["compare", URL, URL], "--difference", Kind::Factor),
    (&["compare", URL, URL], "--rate", Kind::Rate),
    (&["compare", URL, URL], "--max-rate", Kind::Rate),
    (&["compare", URL, URL], "--connections", Kind::Count),
    (&["compare", URL, URL], "--threads", Kind::Count),
    (&["compare", URL, URL], "--seed", Kind::Seed),
    (&["once", URL], "--timeout", Kind::Duration),
    (&["history", "a.json"], "--seed", Kind::Seed),
    (&["lab", "run", "hello"], "--scale", Kind::Factor),
    (&["lab", "run", "hello"], "--rounds", Kind::Count),
    (&["lab", "run", "hello"], "--seed", Kind::Seed),
    (&["watch"], "--port", Kind::Port),
    (&["fleet", "run", URL], "--agents", Kind::Count),
    (&["fleet", "run", URL], "--connections", Kind::Count),
    (&["fleet", "agent"], "--ceiling", Kind::Rate),
    (&["fleet", "agent"], "--longest", Kind::Duration),
    (&["fleet", "wait"], "--agents", Kind::Count),
    (&["fleet", "wait"], "--timeout", Kind::Duration),
    (&["serve"], "--workers", Kind::Count),
    (&["serve"], "--max-headers", Kind::Count),
    (&["serve"], "--max-connections", Kind::Count),
    (&["serve"], "--backlog", Kind::Count),
    (&["serve"], "--blocking-threads", Kind::Count),
    (&["serve"], "--db-pool-size", Kind::Count),
    (&["serve"], "--db-rows", Kind::Count),
    (&["serve"], "--idle-timeout", Kind::Duration),
    (&["serve"], "--stop-timeout", Kind::Duration),
];

/// Each number of another program's command line: the words before and behind the value, and its name.
const FRONTS: &[(&[&str], &[&str])] = &[
    (&["ab", "-n"], &[URL]),
    (&["ab", "-c"], &[URL]),
    (&["ab", "-t"], &[URL]),
    (&["ab", "-s"], &[URL]),
    (&["ab", "-b"], &[URL]),
    (&["wrk", "-c"], &[URL]),
    (&["wrk", "-t"], &[URL]),
    (&["wrk", "-d"], &[URL]),
    (&["wrk", "--timeout"], &[URL]),
    (&["wrk2", "-R"], &[URL]),
    (&["wrk2", "-R1000", "-c"], &[URL]),
    (&["httpress", "-n"], &[URL]),
    (&["httpress", "-c"], &[URL]),
    (&["httpress", "-t"], &[URL]),
    (&["press", "-n"], &[URL]),
    (&["press", "-c"], &[URL]),
    (&["press", "-t"], &[URL]),
];

#[track_caller]
fn is_refused(args: &[&str]) {
    let ended = torr(args);
    assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{args:?}: {ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{args:?}: {}", ended.stderr);
}

#[test]
fn every_flag_with_a_number_refuses_what_is_none_in_one_line() {
    for (before, flag, kind) in FLAGS {
        for value in kind.refused() {
            is_refused(&[before, &[&*format!("{flag}={value}")][..]].concat());
        }
    }
}

#[test]
fn numbers_of_other_command_lines_are_refused_in_their_own_words() {
    for (before, behind) in FRONTS {
        for value in ["18446744073709551615", "18446744073709551616", "1e300", "0", "-1", "0.5", "nan", ""] {
            let args = [before, &[value][..], behind].concat();
            let ended = torr(&args);
            assert!(matches!(ended.code, Some(1 | 2 | 22)), "{args:?}: {ended:?}");
            let output = ended.stderr + &ended.stdout;
            assert!(!output.contains("panicked") && !output.is_empty(), "{args:?}: {output}");
        }
    }
}

#[test]
fn numbers_of_a_plan_are_refused_with_their_line() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let plan = folder.path().join("plan.toml");
    for key in ["connections", "threads", "requests", "rate", "max_rate", "pipeline", "requests_per_connection"] {
        for value in ["9223372036854775807", "18446744073709551615", "-1", "0", "1e300", "nan", "\"x\""] {
            std::fs::write(&plan, format!("url = \"{URL}\"\n{key} = {value}\n")).expect("a file can be written");
            let ended = torr(&[plan.to_str().expect("it is text")]);
            assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{key} = {value}: {ended:?}");
            assert_eq!(ended.stderr.lines().count(), 1, "{key} = {value}: {}", ended.stderr);
        }
    }
}

#[test]
fn numbers_of_the_environment_are_refused_in_one_line() {
    for name in ["WORKERS", "PROCESSES", "MAX_CONNECTIONS", "BACKLOG", "IDLE_TIMEOUT"] {
        for value in ["18446744073709551616", "1e300", "-1", "nan"] {
            let mut command = torr_command(&["serve"]);
            command.env(format!("TORR_SERVE_{name}"), value);
            let ended = Running::start(command).wait();
            assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{name}={value}: {ended:?}");
            assert_eq!(ended.stderr.lines().count(), 1, "{name}={value}: {}", ended.stderr);
        }
    }
}

/// A flag that is new is in the table above, or its value is no number.
#[test]
fn no_flag_with_a_number_is_left_out() {
    let help = torr(&["--help-all"]).stdout;
    let flag = regex::Regex::new(r"(--[a-z0-9-]+) <(N|RATE|DURATION|THREADS|REQUESTS|PERCENT|FACTOR|BYTES|PORT)>");
    let flag = flag.expect("it is an expression");
    let tested: BTreeSet<&str> = FLAGS.iter().map(|(_, flag, _)| *flag).collect();
    let left: Vec<_> = flag.captures_iter(&help).map(|found| found.get(1).expect("it is there").as_str()).collect();
    assert!(left.len() > 10, "{help}");
    let left: Vec<_> = left.into_iter().filter(|flag| !tested.contains(flag)).collect();
    assert_eq!(left, Vec::<&str>::new(), "{}", torr_path());
}
