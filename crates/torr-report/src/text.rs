//! The text report of a run.

use crate::human::{bytes, count, micros, percent, plural, printable, rate};
use crate::sentence::{self, Named, caution};
use crate::style::{BAD, FAINT, GOOD, STRONG, paint};
use crate::table::align_within;
use crate::{
    entries, expectations, failures, fit, fleet, replay, sessions, steering, streams, summary, transport, websocket,
};
use std::fmt::Write;
use torr_gauge::latency::{SAMPLES_BEYOND, Summary};
use torr_gauge::result::validity::{Criterion, Finding};
use torr_gauge::result::{Arrivals, GRPC, RunResult, Tls, Warmup};
use torr_gauge::{FailureKind, GrpcStatus, Validity, Verdict};

/// Columns of indentation of each line but the heading.
const INDENT: usize = 2;
/// What stands for a percentile that is not known.
const NOT_KNOWN: &str = "-";

/// Returns the report with colours, on lines of any length.
pub fn report(run: &RunResult) -> String {
    report_within(run, usize::MAX)
}

/// Returns the report with colours, in at most `width` columns unless a word is longer.
pub fn report_within(run: &RunResult, width: usize) -> String {
    let mut text = heading(run);
    let _ = writeln!(text, "\n  {}\n", summary::line(run));
    if let Some(cautions) = run.fleet.as_ref().map(fleet::cautions).filter(|cautions| !cautions.is_empty()) {
        text.push_str(&indent(&cautions));
        text.push('\n');
    }
    if let Some(sessions) = &run.sessions {
        let _ = writeln!(text, "  {:<12} {}", "sessions", sessions::counts(sessions, run));
    }
    if let Some(tokens) = run.streams.as_ref().and_then(|streams| streams.tokens.as_ref()) {
        let _ = writeln!(text, "  {:<12} {}", "tokens", streams::tokens(tokens));
    }
    if let Some(streams) = &run.streams {
        let _ = writeln!(text, "  {:<12} {}", "events", streams::events(streams));
        let _ = writeln!(text, "  {:<12} {}", "streams", streams::ends(streams, run));
    }
    let _ = writeln!(text, "  {:<12} {}", "throughput", throughput(run));
    let _ = writeln!(text, "  {:<12} {}", "status", status(run));
    let _ = writeln!(text, "  {:<12} {}", "errors", errors(run));
    if let Some(warmup) = &run.warmup {
        let _ = writeln!(text, "  {:<12} {}", "warm-up", self::warmup(warmup));
    }
    if let Some(steering) = steering::list(&run.steering) {
        let _ = writeln!(text, "  {:<12} {steering}", "steering");
    }
    text.push('\n');
    let latency = latency_table(run);
    text.push_str(&indent(&align_within(&latency, width.saturating_sub(INDENT))));
    // A run with still fewer samples has a caution that says more.
    let has_caution =
        |validity: &Validity| validity.findings.iter().any(|finding| finding.what == Criterion::Samples && !finding.ok);
    if latency.iter().flatten().any(|cell| cell == NOT_KNOWN) && !run.validity.as_ref().is_some_and(has_caution) {
        let few = format!("fewer than {SAMPLES_BEYOND} samples are slower: too few for this percentile");
        let _ = writeln!(text, "  {NOT_KNOWN:<12} {}", paint(FAINT, few));
    }
    text.push('\n');
    if !run.entries.is_empty() {
        text.push_str(&indent(&entries::section(&run.entries, width.saturating_sub(INDENT))));
        text.push('\n');
    }
    if let Some(replay) = &run.replay {
        text.push_str(&indent(&replay::section(replay, width.saturating_sub(INDENT))));
        text.push('\n');
    }
    let _ = writeln!(text, "  {:<12} {}", "connections", connections(run));
    if let Some(line) = run.websocket.as_ref().and_then(|websocket| websocket::line(websocket, run.streams.is_some())) {
        let _ = writeln!(text, "  {:<12} {line}", "websocket");
    }
    if let Some(tls) = &run.tls {
        let _ = writeln!(text, "  {:<12} {}", "tls", self::tls(tls));
    }
    if let Some(offer) = transport::alt_svc(&run.plan) {
        let _ = writeln!(text, "  {:<12} {}", "alt-svc", printable(&offer));
    }
    if let Some(datagrams) = &run.datagrams {
        let _ = writeln!(text, "  {:<12} {}", "datagrams", transport::datagrams(datagrams));
    }
    let _ = writeln!(text, "  {:<12} {}", "bytes", traffic(run));
    let _ = writeln!(text, "  {:<12} {}", "generator", generator(run));
    if let Some(server) = server(run) {
        let _ = writeln!(text, "  {:<12} {server}", "server");
    }
    if let Some(fleet) = &run.fleet {
        text.push('\n');
        text.push_str(&indent(&fleet::section(fleet, width.saturating_sub(INDENT))));
    }
    if !run.checks.is_empty() || !run.thresholds.is_empty() {
        text.push('\n');
        text.push_str(&expectations::section(run));
    }
    if let Some(validity) = run.validity.as_ref().filter(|validity| !validity.ok) {
        text.push('\n');
        text.push_str(&cautions(validity));
    }
    if let Some(verdict) = &run.verdict {
        text.push('\n');
        text.push_str(&self::verdict(verdict));
    }
    fit::wrap(&text, width)
}

fn heading(run: &RunResult) -> String {
    let plan = &run.plan;
    let keep_alive = match (plan.keep_alive, plan.requests_per_connection) {
        (false, _) if is_listening(run) => "a connection per stream".to_owned(),
        (false, _) => "a connection per request".to_owned(),
        (true, Some(most)) => format!("keep-alive for {}", plural(most, "request")),
        (true, None) => "keep-alive".to_owned(),
    };
    let what = match &run.sessions {
        Some(_) => sessions::title(run),
        None if is_listening(run) => format!("messages of {}", run.target),
        None if plan.protocol == "websocket" => format!("{} messages {}", plan.method, run.target),
        None => format!("{} {}", plan.method, run.target),
    };
    let unit = if run.sessions.is_some() { "sessions" } else { "requests" };
    let pace = match (plan.rate, plan.max_rate) {
        (Some(offered), _) => format!("open loop, {} {unit}/s due, ", rate(offered)),
        (None, _) if plan.arrivals == Some(Arrivals::Replayed) => "open loop, times of a log, ".to_owned(),
        (None, _) if plan.staged && is_steered(run) => "steered, ".to_owned(),
        (None, _) if plan.staged && plan.is_scheduled() => "open loop, rates in stages, ".to_owned(),
        (None, Some(most)) if plan.staged => format!("connections in stages, at most {} {unit}/s, ", rate(most)),
        (None, None) if plan.staged => "connections in stages, ".to_owned(),
        (None, Some(most)) => format!("at most {} {unit}/s, ", rate(most)),
        (None, None) => String::new(),
    };
    let deep = match (plan.depth, plan.protocol.as_str()) {
        (0 | 1, _) => String::new(),
        (depth, "h2" | "h3" | GRPC) => format!(" of {}", plural(depth.into(), "stream")),
        (depth, _) => format!(", pipelined {depth} deep"),
    };
    let load = match &run.sessions {
        Some(sessions) => plural(sessions.users, "user"),
        None => plural(plan.connections as u64, "connection"),
    };
    let think = match plan.think_s.map(|range| range.map(|seconds| micros(seconds * 1e6))) {
        None => String::new(),
        Some([least, most]) if least == most => format!(", {least} of think time"),
        Some([least, most]) => format!(", {least} to {most} of think time"),
    };
    let version = transport::newer_version(&plan.protocol).map_or(String::new(), |version| format!(", {version}"));
    let how = format!(
        "{pace}{load}{deep}{}{version}, {keep_alive}{think}, {:.2} s{}",
        plan.threads.map_or(String::new(), |threads| format!(", {}", plural(threads as u64, "thread"))),
        run.duration_s,
        if run.interrupted { ", interrupted" } else { "" }
    );
    format!("{}  {}\n", paint(STRONG, what), paint(FAINT, how))
}

/// Returns whether the run has streams of messages on WebSocket connections.
fn is_listening(run: &RunResult) -> bool {
    run.plan.protocol == "websocket" && run.streams.is_some()
}

/// Returns whether an operator has changed the load.
fn is_steered(run: &RunResult) -> bool {
    run.steering.iter().any(|event| event.what.changes_load())
}

fn throughput(run: &RunResult) -> String {
    let whole = match &run.streams {
        Some(_) => format!("{} streams/s ended", rate(run.rps)),
        None => format!("{} requests/s", rate(run.rps)),
    };
    let received = bytes(run.received_per_s());
    format!("{}   {}, {received}/s received", paint(STRONG, whole), plural(run.completed(), "response"))
}

fn status(run: &RunResult) -> String {
    let followed = match run.redirects_followed {
        0 => String::new(),
        n => paint(FAINT, format!("   ({} followed)", plural(n, "redirect"))),
    };
    let shown = |text: String, is_error: bool| if is_error { paint(BAD, text) } else { text };
    // The status of HTTP is 200 in every response of gRPC, unless it comes from another server before the service. In sessions only
    // calls that failed are distinguished from other responses.
    let failed_calls: u64 = if run.plan.is_grpc() { 0 } else { run.grpc.values().sum() };
    let calls =
        run.grpc.iter().map(|(name, n)| shown(format!("{name} x {}", count(*n)), name != GrpcStatus::OK.name()));
    let others = |status: u16, n: u64| if status == 200 { n.saturating_sub(failed_calls) } else { n };
    let statuses = run.status.iter().map(|(&status, &n)| (status, others(status, n)));
    let statuses = statuses.filter(|(status, n)| *n > 0 && (!run.plan.is_grpc() || *status >= 400));
    let each = statuses.map(|(status, n)| shown(format!("{status} x {}", count(n)), status >= 400));
    let all: Vec<_> = calls.chain(each).collect();
    match all.is_empty() {
        true if run.has_responses() => "no complete responses".into(),
        true => "no responses".into(),
        false => all.join(", ") + &followed,
    }
}

fn errors(run: &RunResult) -> String {
    let unfinished = match run.unfinished {
        0 => String::new(),
        n => paint(FAINT, format!("   ({} unfinished when the run ended)", count(n))),
    };
    if run.errors.total() == 0 && run.unfinished > 0 && run.unfinished == run.started && !run.has_responses() {
        return paint(BAD, format!("{} without a response, unfinished when the run ended", all(run.started)));
    }
    if run.errors.total() == 0 {
        let failed = run.sessions.as_ref().and_then(sessions::failed);
        // The session's checks found what no request showed.
        return failed.map_or_else(
            || format!("{}{unfinished}", paint(GOOD, "none")),
            |failed| format!("no request failed, {failed}{unfinished}"),
        );
    }
    let kinds = FailureKind::ALL.iter().filter(|&&kind| run.errors.of(kind) > 0);
    let kinds: Vec<_> = kinds.map(|&kind| format!("{kind} {}", count(run.errors.of(kind)))).collect();
    let share = percent(run.errors.total() as f64 / run.started.max(1) as f64);
    let mut text =
        format!("{}   {share} of {}{unfinished}", paint(BAD, kinds.join(", ")), plural(run.started, "request"));
    for cause in &run.causes {
        let _ = write!(text, "\n  {:<12} {} x {}: {}", "", count(cause.count), cause.kind, printable(&cause.what));
    }
    for line in failures::lines(run) {
        let _ = write!(text, "\n  {:<12} {line}", "");
    }
    text
}

/// Returns how many requests all of them are.
fn all(requests: u64) -> String {
    let all = if requests == 1 { "" } else { "all " };
    format!("{all}{}", plural(requests, "request"))
}

fn latency_table(run: &RunResult) -> Vec<Vec<String>> {
    let names = ["", "min", "p50", "p75", "p90", "p99", "p99.9", "max", "mean", "stddev"];
    let mut rows = vec![names.map(|name| paint(FAINT, name)).to_vec()];
    let streams = run.streams.as_ref();
    let tokens = streams.and_then(|streams| streams.tokens.as_ref());
    let phases = [
        ("first token", tokens.and_then(|tokens| tokens.first_token_us)),
        ("token gap", tokens.and_then(|tokens| tokens.gap_us)),
        ("first event", streams.and_then(|streams| streams.first_event_us)),
        ("gap", streams.and_then(|streams| streams.gap_us)),
        ("stream", streams.and_then(|streams| streams.length_us)),
        ("latency", run.latency_us.filter(|_| streams.is_none())),
        ("first byte", run.phases_us.first_byte.filter(|_| streams.is_none())),
        ("connect", run.phases_us.connect),
        ("tls", run.phases_us.tls),
        ("handshake", run.websocket.as_ref().and_then(|websocket| websocket.handshake_us)),
        ("session", run.sessions.as_ref().and_then(|sessions| sessions.duration_us)),
    ];
    for (name, summary) in phases {
        if let Some(summary) = summary {
            rows.push(latency_row(name, &summary));
        }
    }
    rows
}

fn latency_row(name: &str, s: &Summary) -> Vec<String> {
    let known = |us: Option<u64>| us.map_or(NOT_KNOWN.into(), |us| micros(us as f64));
    // The name is padded to the width of the other lines' labels.
    let mut row = vec![format!("{name:<12}"), micros(s.min as f64)];
    row.extend([s.p50, s.p75, s.p90, s.p99, s.p99_9].map(known));
    row.extend([micros(s.max as f64), micros(s.mean), micros(s.stddev)]);
    row
}

fn connections(run: &RunResult) -> String {
    let c = &run.connections;
    let closed = match c.closed_by_server {
        0 => String::new(),
        n => format!(", {} closed by the server", count(n)),
    };
    let peak = c.peak.map_or_else(|| "-".into(), count);
    format!("{} opened, {peak} at a time, {} requests each{closed}", count(c.opened), rate(c.requests_per_connection))
}

fn tls(tls: &Tls) -> String {
    let handshakes = plural(tls.full, "full handshake");
    let [version, cipher] = [&tls.version, &tls.cipher].map(|name| printable(name));
    let early = tls.early_data.map_or_else(String::new, |early| format!(", {} of them with early data", count(early)));
    format!("{version} with {cipher}, {handshakes}, {} resumed{early}", count(tls.resumed))
}

fn warmup(warmup: &Warmup) -> String {
    let errors = if warmup.errors > 0 { format!(", {}", plural(warmup.errors, "error")) } else { String::new() };
    let carried = match warmup.carried {
        0 => String::new(),
        n => format!(", {} of them within the measurement (counted in throughput only)", count(n)),
    };
    format!("{}{errors}{carried}", plural(warmup.requests, "response"))
}

fn traffic(run: &RunResult) -> String {
    let b = &run.bytes;
    // What has come of a stream that is open is not known as content.
    let of_bodies = match &run.streams {
        Some(streams) if streams.open > 0 => String::new(),
        _ => format!(" ({} of bodies)", bytes(b.body as f64)),
    };
    format!("{} received{of_bodies}, {} sent", bytes(b.received as f64), bytes(b.sent as f64))
}

fn generator(run: &RunResult) -> String {
    let g = &run.generator;
    let (Some(cost_us), Some(cpu_share), Some(busy_share)) = (g.cpu_us_per_request, g.cpu_share, g.busy_share) else {
        return "-".into();
    };
    let cost = match run.streams.as_ref().map(|streams| streams.cpu_us_per_event) {
        None => format!("{cost_us:.2} us of CPU per request, "),
        Some(Some(cost_us)) => format!("{cost_us:.2} us of CPU per event, "),
        Some(None) => String::new(),
    };
    let cost = format!("{cost}{} of its CPU used", percent(cpu_share));
    let busy = format!("busy {}", percent(busy_share));
    let busy = if g.saturated { paint(BAD, format!("{busy}: saturated")) } else { busy };
    let lag = g.send_lag_p99_us.map_or(String::new(), |us| format!(", p99 send lag {}", micros(us as f64)));
    format!("{cost}, {busy}{lag}")
}

fn server(run: &RunResult) -> Option<String> {
    let host = run.host.as_ref()?;
    let name = host.server.first().map_or("server", |process| process.name.as_str());
    let steal = match host.steal_share.unwrap_or(0.0) {
        s if s >= 0.01 => format!(", {} stolen by the hypervisor", percent(s)),
        _ => String::new(),
    };
    Some(format!(
        "{name} ({}) used {:.2} of {}; the machine used {} of its CPU{steal}",
        plural(host.server.len() as u64, "process"),
        host.server_cores,
        plural(host.cores as u64, "CPU"),
        percent(host.cpu_share)
    ))
}

/// Returns a line for each bad finding, with the remedy.
fn cautions(validity: &Validity) -> String {
    let caution = |finding: &Finding| {
        let advice = caution::remedy(finding).map_or(String::new(), |advice| format!("; {}", printable(&advice)));
        format!("  {:<12} {}{advice}\n", paint(BAD, "caution") + "     ", printable(&caution::note(finding)))
    };
    validity.findings.iter().filter(|finding| !finding.ok).map(caution).collect()
}

/// Returns the verdict with its evidence and advice.
pub fn verdict(verdict: &Verdict) -> String {
    let Named { before, name, behind } = sentence::factor(verdict);
    let name = match name {
        None => paint(STRONG, before),
        Some(name) => format!("{before}{}{}", paint(STRONG, name), paint(FAINT, behind)),
    };
    let mut text =
        format!("  {:<12} {name}\n  {:<12} {}\n", paint(STRONG, "verdict") + "     ", "", printable(&verdict.summary));
    for reason in &verdict.because {
        let _ = writeln!(text, "  {:<12} {} {}", "", paint(FAINT, "because"), printable(reason));
    }
    for advice in &verdict.advice {
        let _ = writeln!(text, "  {:<12} {} {}", "", paint(GOOD, "->"), printable(advice));
    }
    let gain = verdict.gain.as_ref().map(sentence::gain_line);
    for (what, value) in [("gain", &gain), ("verify", &verdict.verify)] {
        if let Some(value) = value {
            let _ = writeln!(text, "  {:<12} {} {}", "", paint(FAINT, what), printable(value));
        }
    }
    text
}

fn indent(lines: &str) -> String {
    lines.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use torr_gauge::collector::RunFacts;
    use torr_gauge::{Collector, Sample};

    #[test]
    fn a_percentile_of_any_row_that_is_not_known_is_explained() {
        let shown = |connects: u64| {
            let mut sample = Sample::default();
            sample.answered.record_many(1000, 10_000);
            sample.connect.record_many(100, connects);
            (0..10_000).for_each(|_| sample.status.count(200));
            let mut collector = Collector::new(1, Duration::from_secs(1));
            collector.take(0, 0, &sample, true);
            let facts = RunFacts { duration: Duration::from_secs(2), started: 10_000, ..RunFacts::default() };
            let run = RunResult { validity: None, ..collector.finish(facts).result };
            anstream::adapter::strip_str(&report(&run)).to_string()
        };
        let line = "  -            fewer than 5 samples are slower: too few for this percentile\n";
        let (few, many) = (shown(10), shown(10_000));
        assert!(few.contains(line), "of few connections p99.9 is not known: {few}");
        assert!(!many.contains("too few"), "{many}");
    }

    #[test]
    fn only_what_is_bad_is_shown_and_on_one_line() {
        let finding = |what, ok| Finding {
            what,
            ok,
            value: 0.31,
            limit: 0.1,
            p: None,
            fact: None,
            agent: None,
            ended_early: Vec::new(),
            note: format!("{what:?} is 31%"),
            advice: (!ok).then(|| "run again".to_owned()),
        };
        let findings =
            vec![finding(Criterion::Queued, false), finding(Criterion::Steal, true), finding(Criterion::Rate, false)];
        let text = anstream::adapter::strip_str(&cautions(&Validity { ok: false, findings })).to_string();
        assert_eq!(text, "  caution      Queued is 31%; run again\n  caution      Rate is 31%; run again\n");
    }
}
