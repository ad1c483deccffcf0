//! Values on the command line: counts, durations, rates.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZero;
use std::time::Duration;
use torr_gauge::threshold::AbortRule;
use torr_gauge::{ThresholdRule, limits, number, threshold};
use torr_press::request::Order;
use torr_press::{Arrivals, EventRule, Schedule, ThinkTime, Timestamps, TokenRule};

/// A number of connections.
pub fn connections(text: &str) -> Result<usize, String> {
    count(text, limits::MOST_CONNECTIONS).map(|n| n as usize)
}

/// A number of threads, or of worker threads of a server.
pub fn threads(text: &str) -> Result<usize, String> {
    count(text, limits::MOST_THREADS).map(|n| n as usize)
}

/// A number of agents of a fleet.
pub fn agents(text: &str) -> Result<usize, String> {
    count(text, limits::MOST_AGENTS).map(|n| n as usize)
}

/// A number of rounds.
pub fn rounds(text: &str) -> Result<usize, String> {
    count(text, limits::MOST_ROUNDS).map(|n| n as usize)
}

/// A number of requests.
pub fn requests(text: &str) -> Result<u64, String> {
    count(text, limits::MOST_REQUESTS)
}

/// A count from 1 to `most`, in any form that people write numbers in.
fn count(text: &str, most: u64) -> Result<u64, String> {
    let count = number::count(text).filter(|n| (1..=most).contains(n));
    count.ok_or_else(|| format!("must be a whole number from 1 to {most}, such as 500, 1.5k or 1e3"))
}

/// Requests per second, as a schedule that never ends.
pub fn rate(text: &str) -> Result<Schedule, String> {
    let rate = number::number(text).ok_or("must be a number of requests per second, such as 500, 0.5 or 20k")?;
    Schedule::constant(rate).map_err(|error| error.to_string())
}

/// Requests per second, as a number.
pub fn per_second(text: &str) -> Result<f64, String> {
    rate(text).map(|schedule| schedule.peak())
}

/// What `--stages` lets rise and fall.
#[derive(Debug, Clone, PartialEq)]
pub enum Stages {
    /// Requests per second.
    Rates(Schedule),
    /// Connections at a time.
    Connections(Schedule),
}

impl Stages {
    /// Returns the length of all stages together.
    pub fn length(&self) -> Duration {
        let (Self::Rates(schedule) | Self::Connections(schedule)) = self;
        schedule.length().unwrap_or(Duration::MAX)
    }
}

/// Pairs of a length and a rate, or a number of connections.
pub fn stages(text: &str) -> Result<Stages, String> {
    let stage = |stage: &str| {
        let (length, level) =
            stage.split_once(':').ok_or_else(|| format!("expected a stage such as 10s:100, found '{stage}'"))?;
        let length = if length == "0" { Ok(Duration::ZERO) } else { duration(length) };
        let (text, connections) = level.strip_suffix('c').map_or((level, false), |number| (number, true));
        let bad = || match connections {
            true => format!("expected a number of connections up to {}, found '{level}'", limits::MOST_CONNECTIONS),
            false => format!("expected a number of requests per second, found '{level}'"),
        };
        let level = number::number(text).ok_or_else(bad)?;
        if connections && !(0.0..=limits::MOST_CONNECTIONS as f64).contains(&level) {
            return Err(bad());
        }
        Ok((length?, level, connections))
    };
    let stages: Vec<_> = text.split(',').map(|s| stage(s.trim())).collect::<Result<_, String>>()?;
    let connections = stages.iter().all(|stage| stage.2);
    if !connections && stages.iter().any(|stage| stage.2) {
        return Err("either all stages or none must have a 'c' (connections)".into());
    }
    let lines: Vec<_> = stages.iter().map(|&(length, level, _)| (length, level)).collect();
    let schedule = Schedule::stages(&lines).map_err(|error| error.to_string())?;
    Ok(if connections { Stages::Connections(schedule) } else { Stages::Rates(schedule) })
}

/// A number of events of a stream.
pub fn events(text: &str) -> Result<NonZero<u64>, String> {
    count(text, limits::MOST_REQUESTS).map(|count| NonZero::new(count).expect("a count is 1 or more"))
}

/// A rule of tokens.
pub fn token_rule(text: &str) -> Result<TokenRule, String> {
    TokenRule::parse(text).map_err(|error| error.to_string())
}

/// A rule of an event.
pub fn event_rule(text: &str) -> Result<EventRule, String> {
    EventRule::parse(text).map_err(|error| error.to_string())
}

/// Parses the number of requests in flight on a connection.
pub fn depth(text: &str) -> Result<u16, String> {
    let depth = number::count(text).and_then(|n| u16::try_from(n).ok());
    depth.filter(|n| (1..=1000).contains(n)).ok_or_else(|| "must be a whole number from 1 to 1000".into())
}

/// A time to think, or a range of them.
pub fn think(text: &str) -> Result<ThinkTime, String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let (from, to) = (duration(from)?, duration(to)?);
    if from > to {
        return Err("the range must not end before it starts".into());
    }
    Ok(ThinkTime { range: from..=to })
}

/// Parses a duration; a bare number is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let seconds = || text.parse::<f64>().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    let parsed = seconds().or_else(|| humantime::parse_duration(text).ok());
    // A clock of nanoseconds in 64 bits must be able to tell its end.
    let fits = |d: &Duration| *d >= Duration::from_millis(1) && *d <= Duration::from_secs(limits::MOST_SECONDS);
    parsed.filter(fits).ok_or_else(|| "must be a duration such as 10s, 500ms or 2m, from 1ms to 10 years".into())
}

/// How often figures are sent: the progress of a run comes once a second.
pub fn push_interval(text: &str) -> Result<Duration, String> {
    let fits = |interval: &Duration| *interval >= Duration::from_secs(1);
    duration(text).ok().filter(fits).ok_or_else(|| "must be a duration such as 5s or 1m, at least 1s".into())
}

/// The deadline of a call: what `grpc-timeout` can tell in milliseconds with its 8 digits.
pub fn deadline(text: &str) -> Result<Duration, String> {
    let fits = |deadline: &Duration| deadline.as_millis() < 100_000_000;
    duration(text).ok().filter(fits).ok_or_else(|| "must be a duration such as 500ms or 2s, from 1ms to 27h".into())
}

/// A coding of the messages of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrpcEncoding {
    /// As they are.
    Identity,
    /// Compressed by gzip.
    Gzip,
}

/// Parses a coding of the messages of calls.
pub fn grpc_encoding(text: &str) -> Result<GrpcEncoding, String> {
    choice(text, &[("identity", GrpcEncoding::Identity), ("gzip", GrpcEncoding::Gzip)])
}

/// The duration of a run. `-d` is `--data` of curl, whose values are known by their characters.
pub fn run_duration(text: &str) -> Result<Duration, String> {
    let hint = if text.contains(['=', '&', '{', '@']) { "; pass a body with --data" } else { "" };
    duration(text).map_err(|error| format!("{error}{hint}"))
}

/// The length of the windows within which requests leave together: at most the lag of a send that is never acceptable.
pub fn window(text: &str) -> Result<Duration, String> {
    let parsed = if text == "0" { Some(Duration::ZERO) } else { humantime::parse_duration(text).ok() };
    let fits = |window: &Duration| *window <= Duration::from_millis(1);
    parsed.filter(fits).ok_or_else(|| "must be 0 or a time such as 150us, up to 1ms".into())
}

/// An address, or the port of one on loopback.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.trim_start_matches(':').parse::<u16>() {
        return Ok(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port));
    }
    text.parse().map_err(|_| "must be an address with a port, such as 127.0.0.1:8089, or a port alone".into())
}

/// Rules with commas between them.
pub fn rules(text: &str) -> Result<Vec<ThresholdRule>, String> {
    let texts = threshold::split(text);
    let parse = |rule: &&str| {
        ThresholdRule::parse(rule).map_err(|error| match texts.len() {
            1 => error.to_string(),
            _ => format!("'{}': {error}", rule.trim()),
        })
    };
    texts.iter().map(parse).collect()
}

/// Rules that end a run early, with commas between them, each with the time for which it has to hold.
pub fn abort_rules(text: &str) -> Result<Vec<AbortRule>, String> {
    let parse = |rule: &str| {
        let (rule, window) = match rule.rsplit_once(" for ") {
            Some((rule, window)) => (rule, duration(window.trim()).map_err(|error| format!("'for' {error}"))?),
            None => (rule, Duration::ZERO),
        };
        AbortRule::new(ThresholdRule::parse(rule).map_err(|error| error.to_string())?, window)
    };
    threshold::split(text).into_iter().map(parse).collect()
}

/// How requests of an open loop are spread.
pub fn arrivals(text: &str) -> Result<Arrivals, String> {
    choice(text, &Arrivals::ALL.map(|arrivals| (arrivals.name(), arrivals)))
}

/// The clock of arriving responses.
pub fn timestamps(text: &str) -> Result<Timestamps, String> {
    choice(text, &[("auto", Timestamps::Auto), ("kernel", Timestamps::Kernel), ("user", Timestamps::User)])
}

/// How URLs or records are chosen.
pub fn order(text: &str) -> Result<Order, String> {
    choice(text, &[("random", Order::Random), ("sequence", Order::Sequence)])
}

/// The use of TLS sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsResumption {
    /// Later connections resume earlier sessions.
    On,
    /// No session is resumed, and no ticket requested.
    Off,
    /// Each connection makes a full handshake, as a new visitor does.
    Full,
}

/// Parses a use of TLS sessions.
pub fn tls_resumption(text: &str) -> Result<TlsResumption, String> {
    choice(text, &[("on", TlsResumption::On), ("off", TlsResumption::Off), ("full", TlsResumption::Full)])
}

/// Parses the latest version of TLS.
pub fn tls_max(text: &str) -> Result<&'static str, String> {
    choice(text, &[("1.2", "1.2"), ("1.3", "1.3")])
}

fn choice<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, String> {
    choices.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        format!("must be one of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_durations() {
        assert_eq!(["1", "1.5k", "100_000", "1e5"].map(|t| requests(t).unwrap()), [1, 1_500, 100_000, 100_000]);
        for bad in ["", "0", "-1", "1.5", "k", "5x", "99999999999G", "18446744073709551615"] {
            assert!(requests(bad).is_err(), "{bad:?} was taken");
        }
        assert_eq!(
            ["0.5", "1.5k", "1e5", "20_000"].map(|t| per_second(t).unwrap()),
            [0.5, 1_500.0, 100_000.0, 20_000.0]
        );
        assert!(["0", "-1", "inf", "NaN", ""].iter().all(|text| rate(text).is_err()));
        assert_eq!(["1", "1k", "1e3"].map(|t| depth(t).unwrap()), [1, 1000, 1000]);
        assert!(["0", "1001", "66k"].iter().all(|text| depth(text).is_err()));
        assert_eq!(stages("1s:1.5k,0:1e3"), stages("1s:1500,0:1000"));
        assert_eq!(stages("1s:0.2kc"), stages("1s:200c"));
        assert_eq!(
            ["10", "0.5", "250ms", "1m 30s"].map(|t| duration(t).unwrap().as_millis()),
            [10_000, 500, 250, 90_000]
        );
        assert_eq!(
            run_duration("a=1").unwrap_err(),
            "must be a duration such as 10s, 500ms or 2m, from 1ms to 10 years; pass a body with --data"
        );
        for bad in ["", "0", "-1", "0s", "ten", "1e30", "NaN", "inf", "5x", "100000000000000s"] {
            assert!(duration(bad).is_err(), "{bad:?} was taken");
        }
    }

    #[test]
    fn a_port_alone_is_one_of_loopback() {
        for (text, parsed) in [("8089", "127.0.0.1:8089"), (":8089", "127.0.0.1:8089"), ("[::]:1", "[::]:1")] {
            assert_eq!(address(text).map(|address| address.to_string()).as_deref(), Ok(parsed));
        }
        for text in ["", "localhost", "127.0.0.1", "70000", "a:1"] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
