//! The report of a limit: the result first, then its evidence.

use super::sentences;
use super::verify::Commands;
use super::{curve, spread};
use crate::output;
use std::fmt::Write;
use torr_doctor::limit::{ABOVE, Connections, Course, Fit, Outcome, Overload, ResultKind, Rung, Sustained};
use torr_gauge::Factor;
use torr_gauge::verdict::Finding;
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
    }
    let failure = outcome.failed.as_ref().and_then(|reading| reading.failure.as_ref()).map(sentences::failure);
    if let (Some(at), Some(failure), Some(_)) = (outcome.fails_at, failure, &outcome.sustained) {
        line("above it", format!("{} requests/s failed: {failure}", rate(at)));
    }
    let sustained = outcome.sustained.as_ref().map_or(0.0, |sustained| sustained.rate);
    if let Some(spread) = spread::spread(&outcome.spread, sustained) {
        line("spread", spread);
    }
    if let Some(disturbance) = &outcome.disturbance {
        line("disturbed", spread::disturbance(disturbance));
    }
    if let Some(overload) = &outcome.overload {
        line("overload", self::overload(overload, outcome.sustained.as_ref()));
    }
    if let Some(connections) = &outcome.connections {
        line("connections", self::connections(connections, outcome.max_connections));
    }
    if let Some(base) = &outcome.base_us {
        line(
            "unloaded",
            format!(
                "{} a response, when there is nothing else to do",
                micros(base.p50.map_or(base.mean, |us| us as f64))
            ),
        );
    }
    section(&mut text, "rates, in an open loop", &curve::rows(&outcome.steps, output::columns_of_table()));
    section(&mut text, "connections, in a closed loop", &ladder(&outcome.ladder));
    let bends: Vec<_> = knee(outcome).into_iter().chain(outcome.fit.as_ref().map(law)).collect();
    if !outcome.ladder.is_empty() {
        bends.iter().for_each(|line| {
            let _ = writeln!(text, "  {line}");
        });
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
    let how = format!(
        "{}, {} arrivals, {:.0} s of {:.0} s{}",
        outcome.slo.join(", "),
        if outcome.arrivals == "poisson" { "independent" } else { "even" },
        outcome.spent_s,
        outcome.budget_s,
        if outcome.interrupted { ", interrupted" } else { "" }
    );
    format!("{}  {}\n\n", paint(STRONG, format!("the limit of {title}")), paint(FAINT, how))
}

fn headline(outcome: &Outcome) -> String {
    let Some(sustained) = &outcome.sustained else {
        return paint(BAD, sentences::summary(outcome));
    };
    let figure = paint(STRONG, format!("{} requests/s", rate(sustained.rate)));
    match outcome.kind {
        ResultKind::Limit => figure,
        _ => format!("{} {figure}: {}", paint(STRONG, "at least"), sentences::reason(outcome)),
    }
}

fn at_it(sustained: &Sustained) -> String {
    let latency = sustained.latency_us.map_or(String::new(), |latency| {
        let known = [("p50", latency.p50), ("p99", latency.p99), ("p99.9", latency.p99_9)];
        let known = known.iter().filter_map(|(name, us)| Some(format!("{name} {}, ", micros((*us)? as f64))));
        known.collect::<String>() + &format!("max {}, ", micros(latency.max as f64))
    });
    let confirmed = if sustained.confirmed { "confirmed over" } else { "seen once, over" };
    format!("{latency}{} failed; {confirmed} {:.1} s", percent(sustained.error_share), sustained.seconds)
}

fn connections(connections: &Connections, most: usize) -> String {
    let Connections { busy, recommended, waiting } = connections;
    let at_the_limit = format!("{} at the limit", paint(STRONG, count(*recommended)));
    match waiting {
        waiting if *waiting > 0.0 => {
            let waiting = rate(*waiting);
            format!(
                "{at_the_limit}, all that --max-connections permits: {waiting} more requests wait for one on average"
            )
        }
        _ if *recommended >= most as u64 => {
            let busy = rate(*busy);
            format!("{at_the_limit}, all that --max-connections permits: {busy} are busy on average")
        }
        _ => {
            let busy = rate(*busy);
            format!("{at_the_limit}: {busy} are busy on average (rate x mean response time), the rest is for chance")
        }
    }
}

fn overload(overload: &Overload, sustained: Option<&Sustained>) -> String {
    let share = sustained.map_or(0.0, |sustained| overload.good_per_s / sustained.rate);
    let slow = overload
        .latency_us
        .and_then(|latency| latency.p99)
        .map_or(String::new(), |us| format!(", p99 {}", micros(us as f64)));
    let after = match (overload.course, overload.recovered_after_s) {
        (Course::StaysSlow, _) | (_, None) => {
            let stays = format!("stays slow: not as before within {:.1} s after it", overload.waited_s);
            paint(BAD, stays)
        }
        (Course::Collapses, Some(s)) => {
            paint(BAD, "throughput collapses") + &format!(", and all is as before {} after it", soon(s))
        }
        (Course::Recovers, Some(s)) => paint(GOOD, "recovers") + &format!(": as before {} after it", soon(s)),
    };
    let errors =
        if overload.error_share > 0.0 { format!(", {} failed", percent(overload.error_share)) } else { String::new() };
    format!(
        "at {ABOVE} x ({} requests/s) it gives {} of the limit{slow}{errors}; {after}",
        rate(overload.rate),
        percent(share)
    )
}

/// Returns a time in words; very short ones are "at once".
fn soon(seconds: f64) -> String {
    if seconds < 0.1 { "at once".into() } else { format!("{seconds:.1} s") }
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
        let note = if rung.generator_saturated { paint(BAD, "generator full") } else { String::new() };
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

fn knee(outcome: &Outcome) -> Option<String> {
    let knee = outcome.knee?;
    let knee = knee.round().max(1.0) as u64;
    let connections = if knee == 1 { "1 connection".to_owned() } else { format!("{} connections", count(knee)) };
    Some(format!("it bends at about {connections}: fewer leave it idle, more of them mostly wait"))
}

fn law(fit: &Fit) -> String {
    if !fit.good {
        return format!("no universal scalability law describes this: the nearest is {} off", percent(fit.off));
    }
    let peak = match fit.peak {
        Some(peak) if peak >= 1.5 => format!("; most at {} connections", count(peak.round() as u64)),
        Some(_) => "; most with one connection".to_owned(),
        None => String::new(),
    };
    format!(
        "X(N) = {} N / (1 + {} (N-1) + {} N (N-1)), {} off, R2 {:.3}{peak}",
        rate(fit.lambda),
        coefficient(fit.sigma),
        coefficient(fit.kappa),
        percent(fit.off),
        fit.r2
    )
}

fn coefficient(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        v if v < 0.001 => format!("{v:.1e}"),
        v => format!("{v:.3}"),
    }
}

fn advice(outcome: &Outcome, commands: &Commands) -> Vec<String> {
    let mut advice: Vec<String> = Vec::new();
    match outcome.kind {
        ResultKind::AtLeastGenerator => {
            advice.push("run Torr on a machine with free CPU, to find the service's limit".into())
        }
        ResultKind::AtLeastConnections => {
            advice.push(format!("allow more connections: --max-connections {}", outcome.max_connections * 4))
        }
        ResultKind::AtLeastTime if !outcome.interrupted => {
            advice.push(format!("allow more time: --budget {:.0}s", outcome.budget_s * 3.0))
        }
        ResultKind::Never => {
            advice.push("ask for less with --slo".into());
            advice.push(format!("see what one request at a time takes: {}", commands.alone))
        }
        ResultKind::Limit => {
            let names_one = |finding: &Finding| ![Factor::None, Factor::Unknown].contains(&finding.factor);
            let what = outcome
                .failed
                .as_ref()
                .and_then(|reading| reading.finding.clone())
                .filter(names_one)
                .map(sentence::verdict);
            advice.extend(what.map(|verdict| {
                format!("at the rate that failed the likely limit was {}: {}", verdict.factor, verdict.summary)
            }));
        }
        _ => {}
    }
    if let Some(overload) = outcome.overload.as_ref().filter(|overload| overload.course != Course::Recovers) {
        let shed = match overload.course {
            Course::Collapses => {
                "its throughput falls under overload: refuse excess requests early (a limit of requests in flight, 503)"
            }
            _ => "its queue outlives the load: bound it, and drop what has waited too long",
        };
        advice.push(shed.into());
    }
    if outcome.disturbance.is_some_and(|disturbance| disturbance.failed > 0) {
        advice.push("search again when nothing else runs on this machine: without that the limit may be higher".into());
    }
    if outcome.overload.as_ref().is_some_and(|overload| overload.kept) {
        let limit = outcome.sustained.as_ref().map_or(f64::INFINITY, |sustained| sustained.rate);
        let so = match outcome.fails_at {
            Some(at) if at <= ABOVE * limit => "a failure below was noise",
            _ => "the limit is higher",
        };
        advice.push(format!("it kept to all at {ABOVE} x the limit, too, so {so}: try again, with a longer --budget"));
    }
    advice.extend(commands.before.clone());
    advice.extend(commands.verify.as_ref().map(|command| format!("verify: {command}")));
    advice
}
