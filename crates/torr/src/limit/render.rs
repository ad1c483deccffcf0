//! The report of a limit: the result first, then its evidence.

use super::curve;
use super::verify::Commands;
use super::written::summary;
use crate::output;
use std::fmt::Write;
use torr_doctor::limit::{Outcome, Rung, StreamReading, Sustained};
use torr_gauge::Factor;
use torr_gauge::latency::Summary;
use torr_gauge::verdict::{Fact, Finding, LimitKind, LoadUnit};
use torr_report::human::{count, micros, percent, rate};
use torr_report::sentence;
use torr_report::style::{BAD, FAINT, GOOD, STRONG, paint};
use torr_report::table;

/// The whole report on what `title` names, with colours and the commands that press again.
pub fn text(outcome: &Outcome, title: &str, commands: &Commands) -> String {
    let mut text = heading(outcome, title);
    let mut line = |name: &str, what: String| {
        let _ = writeln!(text, "  {name:<12} {what}");
    };
    line("limit", headline(outcome));
    if let Some(sustained) = &outcome.sustained {
        line("", at_it(sustained));
        if let Some(streams) = &sustained.streams {
            line("", first_events(streams));
        }
    }
    let reason = if outcome.sustained.is_some() { outcome.reason() } else { vec![] };
    let seen = outcome.observations();
    let (bends, seen): (Vec<_>, Vec<_>) = seen.iter().partition(|fact| is_of_ladder(fact));
    for fact in reason.iter().chain(seen) {
        line(label(fact), sentence::fact(fact));
    }
    let loads = match outcome.unit {
        LoadUnit::Requests => "rates, in an open loop",
        LoadUnit::Streams => "streams at a time",
    };
    section(&mut text, loads, &curve::rows(&outcome.steps, outcome.unit, output::columns_of_table()));
    section(&mut text, "connections, in a closed loop", &ladder(&outcome.ladder));
    for fact in bends {
        let _ = writeln!(text, "  {}", sentence::fact(fact));
    }
    let advice = advice(outcome, commands);
    if !advice.is_empty() {
        text.push('\n');
        advice.iter().for_each(|advice| {
            let _ = writeln!(text, "  {} {advice}", paint(GOOD, "->"));
        });
    }
    text
}

fn heading(outcome: &Outcome, title: &str) -> String {
    let arrivals = match (outcome.unit, outcome.arrivals.as_str()) {
        (LoadUnit::Streams, _) => "closed loop",
        (LoadUnit::Requests, "poisson") => "independent arrivals",
        (LoadUnit::Requests, "logged") => "arrivals of the log",
        (LoadUnit::Requests, _) => "even arrivals",
    };
    let how = format!(
        "{}, {arrivals}, {:.0} s of {:.0} s{}",
        outcome.slo.join(", "),
        outcome.spent_s,
        outcome.budget_s,
        if outcome.interrupted { ", interrupted" } else { "" }
    );
    format!("{}  {}\n\n", paint(STRONG, format!("the limit of {title}")), paint(FAINT, how))
}

fn headline(outcome: &Outcome) -> String {
    let Some(sustained) = &outcome.sustained else {
        return paint(BAD, summary(outcome));
    };
    let figure = paint(STRONG, sentence::load(sustained.load(), outcome.unit));
    match outcome.kind {
        LimitKind::Limit => figure,
        _ => format!("{} {figure}", paint(STRONG, "at least")),
    }
}

fn at_it(sustained: &Sustained) -> String {
    let times = |what: &str, times: Option<Summary>| {
        times.map_or(String::new(), |times| {
            let known = [("p50", times.p50), ("p99", times.p99), ("p99.9", times.p99_9)];
            let known = known.iter().filter_map(|(name, us)| Some(format!("{name} {}, ", micros((*us)? as f64))));
            format!("{what}{}max {}, ", known.collect::<String>(), micros(times.max as f64))
        })
    };
    let confirmed = if sustained.confirmed { "confirmed over" } else { "seen once, over" };
    let times = match &sustained.streams {
        None => times("", sustained.latency_us),
        Some(streams) => format!("{} events/s, {}", rate(streams.events_per_s), times("gaps ", streams.gap_us)),
    };
    format!("{times}{} failed; {confirmed} {:.1} s", percent(sustained.error_share), sustained.seconds)
}

/// Returns the first events of the streams, and how many streams began.
fn first_events(streams: &StreamReading) -> String {
    let first = streams.first_event_us.map_or(String::new(), |first| {
        let p99 = first.p99.map_or(String::new(), |us| format!("p99 {}, ", micros(us as f64)));
        format!("first events {p99}max {}, ", micros(first.max as f64))
    });
    format!("{first}{} streams/s began", rate(streams.begun_per_s))
}

/// Whether a fact belongs to the ladder of connections.
fn is_of_ladder(fact: &Fact) -> bool {
    matches!(fact, Fact::Knee { .. } | Fact::ScalabilityLaw { .. })
}

/// Returns the name of a fact's line.
fn label(fact: &Fact) -> &'static str {
    match fact {
        Fact::RateFailed { .. } | Fact::StreamsFailed { .. } => "above it",
        Fact::OtherRates { .. } | Fact::OtherStreams { .. } => "spread",
        Fact::DisturbedSteps { .. } => "disturbed",
        Fact::Overload(_) => "overload",
        Fact::ConnectionsNeeded { .. } => "connections",
        Fact::RequestAlone { .. } | Fact::StreamAlone { .. } => "unloaded",
        _ => "because",
    }
}

fn section(text: &mut String, name: &str, table: &str) {
    if !table.is_empty() {
        let _ = writeln!(text, "\n  {}", paint(FAINT, name));
        text.extend(table.lines().map(|line| format!("  {line}\n")));
    }
}

fn ladder(rungs: &[Rung]) -> String {
    if rungs.is_empty() {
        return String::new();
    }
    let mut rows =
        vec![["connections", "requests/s", "p50", "p99", "errors", ""].map(|cell| paint(FAINT, cell)).to_vec()];
    rows.extend(rungs.iter().map(|rung| {
        let known = |us: Option<u64>| us.map_or("-".into(), |us| micros(us as f64));
        let note = if rung.generator_saturated { paint(BAD, "generator saturated") } else { String::new() };
        vec![
            count(rung.connections as u64),
            rate(rung.good_per_s),
            known(rung.latency_us.and_then(|latency| latency.p50)),
            known(rung.latency_us.and_then(|latency| latency.p99)),
            percent(rung.error_share),
            note,
        ]
    }));
    table::align_within(&rows, output::columns_of_table())
}

fn advice(outcome: &Outcome, commands: &Commands) -> Vec<String> {
    let mut advice: Vec<_> = outcome.advice().iter().map(sentence::advice).collect();
    match outcome.kind {
        LimitKind::Never => advice.push(format!("measure one request at a time: {}", commands.alone)),
        LimitKind::Limit => {
            let names_one = |finding: &Finding| ![Factor::None, Factor::Unknown].contains(&finding.factor);
            let failed = outcome.failed.as_ref().and_then(|reading| reading.finding.clone()).filter(names_one);
            advice.extend(failed.map(sentence::verdict).map(|verdict| {
                format!("at the rate that failed, the likely limit is {}: {}", verdict.factor, verdict.summary)
            }));
        }
        _ => {}
    }
    advice.extend(commands.before.clone());
    advice.extend(commands.verify.as_ref().map(|command| format!("verify: {command}")));
    advice
}
