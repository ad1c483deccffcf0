//! Parts of the sentences of facts that a search for a limit finds.

use crate::human::{count, percent, plural, rate, seconds};
use torr_gauge::verdict::{Course, Fact, LoadUnit, OverloadEffect};

/// The share of the machine's CPU below which others are not named.
const LEAST_SHARE: f64 = 0.01;

/// Returns a load: "384 requests/s", "120 streams at a time".
pub fn load(load: f64, unit: LoadUnit) -> String {
    match unit {
        LoadUnit::Requests => format!("{} requests/s", rate(load)),
        LoadUnit::Streams => format!("{} at a time", plural(load.round() as u64, "stream")),
    }
}

/// Returns the loads whose steps do not agree with the limit, each with how often it was sustained above the limit or failed below;
/// nothing for another fact.
pub fn other_loads(fact: &Fact) -> String {
    let (kept_above, failed_too, failed_below, (higher, lower), shown) = match fact {
        Fact::OtherRates { kept_above, failed_too, failed_below } => {
            (kept_above, *failed_too, failed_below, ("higher rates", "rates"), rate as fn(f64) -> String)
        }
        Fact::OtherStreams { kept_above, failed_too, failed_below } => {
            let streams = |streams: f64| count(streams.round() as u64);
            (
                kept_above,
                *failed_too,
                failed_below,
                ("more streams", "numbers of streams"),
                streams as fn(f64) -> String,
            )
        }
        _ => return String::new(),
    };
    let again = if failed_too { ", but failed when tried again" } else { "" };
    let kept = (!kept_above.is_empty())
        .then(|| format!("the service sustained {higher} too: {}{again}", how_often(kept_above, shown)));
    let failed = (!failed_below.is_empty())
        .then(|| format!("{lower} up to the limit failed too: {}", how_often(failed_below, shown)));
    kept.into_iter().chain(failed).collect::<Vec<_>>().join("; ")
}

/// Returns who else used the machine's CPU.
pub fn others(others_share: f64, stolen_share: f64) -> String {
    let others = (others_share >= LEAST_SHARE)
        .then(|| format!("other programs used up to {} of this machine's CPU", percent(others_share)));
    let whole = if others.is_some() { "it" } else { "this machine's CPU" };
    let stolen = (stolen_share >= LEAST_SHARE)
        .then(|| format!("the hypervisor took up to {} of {whole}", percent(stolen_share)));
    others.into_iter().chain(stolen).collect::<Vec<_>>().join(", and ")
}

/// Returns what an overload did, and what the service did afterwards.
pub fn overload(effect: &OverloadEffect) -> String {
    let OverloadEffect { factor, rps, streams, good_share, p99_s, failed_share, course, recovered_s, waited_s } =
        *effect;
    let p99 = if streams.is_some() { "p99 of gaps" } else { "p99" };
    let slow = p99_s.map_or_else(String::new, |p99_s| format!(", {p99} {}", seconds(p99_s)));
    let failed = if failed_share > 0.0 { format!(", {} failed", percent(failed_share)) } else { String::new() };
    let soon = match recovered_s.unwrap_or(waited_s) {
        s if s < 0.1 => "at once".to_owned(),
        s => format!("within {s:.1} s"),
    };
    let after = match course {
        Course::Recovers => format!("the service recovered {soon}"),
        Course::Collapses => format!("throughput collapsed, and recovered {soon}"),
        Course::StaysSlow => format!("the service stayed slow for at least {waited_s:.1} s afterwards"),
    };
    let offered =
        streams.map_or_else(|| load(rps, LoadUnit::Requests), |streams| load(streams as f64, LoadUnit::Streams));
    let good = percent(good_share);
    format!("at {factor}x the limit ({offered}), throughput was {good} of the limit{slow}{failed}; {after}")
}

/// Returns the connections that the limit needs, and how many of them are busy.
pub fn connections(connections: u64, busy: f64, waiting: f64, all: bool) -> String {
    if all {
        let all = format!("the limit needs all {} connections that --max-connections allows", count(connections));
        return match waiting {
            waiting if waiting > 0.0 => format!("{all}: {} more requests wait for one on average", rate(waiting)),
            _ => format!("{all}: {} are busy on average", rate(busy)),
        };
    }
    format!(
        "the limit needs {}: {} are busy on average (rate x mean response time), the rest covers peaks",
        plural(connections, "connection"),
        rate(busy)
    )
}

/// Returns the universal scalability law with its coefficients.
pub fn law(lambda: f64, sigma: f64, kappa: f64) -> String {
    let (sigma, kappa) = (coefficient(sigma), coefficient(kappa));
    format!("X(N) = {} N / (1 + {sigma} (N-1) + {kappa} N (N-1))", rate(lambda))
}

/// Returns loads with how often each was seen: "100 and 120 once each, 140 twice".
fn how_often(loads: &[(f64, usize)], shown: fn(f64) -> String) -> String {
    let mut counts: Vec<usize> = loads.iter().map(|(_, count)| *count).collect();
    counts.sort_unstable();
    counts.dedup();
    let group = |&times: &usize| {
        let alike: Vec<_> = loads.iter().filter(|(_, count)| *count == times).map(|(load, _)| shown(*load)).collect();
        let often = match times {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            n => format!("{n} times"),
        };
        match &alike[..] {
            [first @ .., before, last] => {
                let first: String = first.iter().map(|load| format!("{load}, ")).collect();
                format!("{first}{before} and {last} {often} each")
            }
            _ => format!("{} {often}", alike.concat()),
        }
    };
    counts.iter().map(group).collect::<Vec<_>>().join(", ")
}

fn coefficient(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        v if v < 0.001 => format!("{v:.1e}"),
        v => format!("{v:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_load_that_does_not_agree_with_the_limit_is_named() {
        let rates = |kept_above: &[(f64, usize)], failed_too, failed_below: &[(f64, usize)]| {
            let (kept_above, failed_below) = (kept_above.to_vec(), failed_below.to_vec());
            other_loads(&Fact::OtherRates { kept_above, failed_too, failed_below })
        };
        assert_eq!(
            rates(&[(78_563.0, 1), (85_673.0, 1)], true, &[]),
            "the service sustained higher rates too: 78,563 and 85,673 once each, but failed when tried again"
        );
        assert_eq!(
            rates(&[(78_563.0, 2)], false, &[(27_776.0, 1), (52_000.0, 3)]),
            "the service sustained higher rates too: 78,563 twice; rates up to the limit failed too: 27,776 once, 52,000 3 times"
        );
        let streams =
            Fact::OtherStreams { kept_above: vec![(80.0, 1)], failed_too: false, failed_below: vec![(40.0, 2)] };
        assert_eq!(
            other_loads(&streams),
            "the service sustained more streams too: 80 once; numbers of streams up to the limit failed too: 40 twice"
        );
    }

    #[test]
    fn others_that_used_the_machine_are_named() {
        assert_eq!(
            others(0.43, 0.08),
            "other programs used up to 43% of this machine's CPU, and the hypervisor took up to 8.0% of it"
        );
        assert_eq!(others(0.0, 0.2), "the hypervisor took up to 20% of this machine's CPU");
    }
}
