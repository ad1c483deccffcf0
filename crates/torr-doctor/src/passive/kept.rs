//! Whether a run kept its scheduled rate. A run that did has no limiting factor: its throughput is the rate.

use super::seen::{busy_generator, likely, other_programs, undecided};
use super::{failing, sessions, wire};
use crate::streams::first_events;
use crate::thresholds::{
    ALL_IN_USE, AT_THE_CAP, BACKLOG_DEVIATIONS, BACKLOG_GREW, BACKLOG_GREW_IN_STAGES, BACKLOG_LATE, BACKLOG_S,
    BACKLOG_SHARE, FEW_IN_FLIGHT, MACHINE_PAUSE, MANY_FAILED, OWN_PAUSE, STALLED,
};
use crate::witnesses;
use torr_gauge::fleet::Fleet;
use torr_gauge::latency::Summary;
use torr_gauge::result::Arrivals;
use torr_gauge::result::validity::Criterion;
use torr_gauge::validity::longest_silence;
use torr_gauge::verdict::{Advice, Fact, Finding, Headline, KeptRate, Unit};
use torr_gauge::{Factor, RunResult};

/// The rate was kept: nothing limited the run.
pub fn rule(run: &RunResult) -> Option<Finding> {
    if fails(run) || sessions::too_many_failed(run) {
        return None;
    }
    let (rate, done) = if kept_schedule(run) {
        if let Some(finding) = failing::slow_connections(run).or_else(|| silence(run)) {
            return Some(finding.because(response_times(run)));
        }
        (kept_rate(run), done(run))
    } else if ran_at_the_cap(run) {
        let cap_rps = run.plan.max_rate?;
        let (unit, rps) = match &run.sessions {
            Some(sessions) => (Unit::Session, sessions.started as f64 / run.duration_s.max(1e-3)),
            None if run.streams.is_some() => (Unit::Request, run.started as f64 / run.duration_s.max(1e-3)),
            None => (Unit::Request, run.rps),
        };
        (KeptRate::Cap(cap_rps), Fact::RateCapped { unit, rps, cap_rps })
    } else {
        return None;
    };
    let failed = run.errors.total();
    let (tail, stopped) = (witnesses::tail(run), run.signals.as_ref().and_then(witnesses::stopped));
    let throttled = run.signals.as_ref().and_then(witnesses::ever_throttled);
    let is_throttled = witnesses::throttled(run.signals.as_ref()).is_some();
    let headline = match tail {
        Some(_) => Headline::RateKeptWithTail(rate),
        None if is_throttled => Headline::RateKeptThrottled(rate),
        None => Headline::RateKept(rate),
    };
    let has_cause = is_throttled || throttled.is_some() && tail.is_some();
    let causes = [(has_cause, Advice::RaiseQuota), (stopped.is_some(), Advice::FindStops)];
    let finding = causes
        .into_iter()
        .filter(|(is_so, _)| *is_so)
        .fold(likely(Factor::None, headline), |finding, (_, advice)| finding.advice(advice));
    Some(
        finding
            .because(done)
            .because((failed > 0).then_some(Fact::FewFailed { failed }))
            .because(response_times(run))
            .because(tail)
            .because(witnesses::stalls(run))
            .because(server(run))
            .because(throttled)
            .because(stopped)
            .because(busy_generator(run))
            .because(other_programs(run))
            .because(wire::delayed_ack(run).map(|_| Fact::DelayedAckTimes))
            .advice(if run.streams.is_some() { Advice::RaiseRate } else { Advice::FindLimit }),
    )
}

fn kept_rate(run: &RunResult) -> KeptRate {
    match run.plan.rate {
        Some(planned) if run.sessions.is_some() => KeptRate::Sessions(planned),
        Some(planned) => KeptRate::Planned(planned),
        None if run.steering.iter().any(|event| event.what.changes_load()) => KeptRate::Steered,
        None if run.plan.arrivals == Some(Arrivals::Replayed) => KeptRate::Logged,
        None => KeptRate::Stages,
    }
}

/// The service fell silent, and served all that was due later: a rate that was kept otherwise does not make up for it. `None` if the
/// generator itself was late.
fn silence(run: &RunResult) -> Option<Finding> {
    let findings = run.validity.iter().flat_map(|validity| &validity.findings);
    let of = |what| findings.clone().find(|finding| finding.what == what);
    let silence = of(Criterion::Silence).filter(|silence| !silence.ok && !run.generator.saturated)?;
    // The send lag is in microseconds.
    if of(Criterion::SendLag).is_some_and(|lag| lag.value / 1e6 >= OWN_PAUSE * silence.value) {
        return None;
    }
    let (from_s, to_s) = longest_silence(&run.series)?;
    Some(
        undecided(Headline::Silence)
            .because(Fact::Silence { from_s, to_s })
            .because(match &run.streams {
                Some(streams) => Fact::LongestSilence { seconds: streams.longest_silence_us as f64 / 1e6 },
                None => Fact::LongestResponse { seconds: run.latency_us?.max as f64 / 1e6 },
            })
            .because(done(run))
            .because(server(run))
            .advice(Advice::LogOfSilence),
    )
}

/// Responses kept up with a schedule or a cap, but too many were failures: no limit was met, the service failed.
pub fn failures(run: &RunResult) -> Option<Finding> {
    if !fails(run) || !(kept_schedule(run) || ran_at_the_cap(run)) {
        return None;
    }
    let count = |status: u16| run.status.get(&status).copied().unwrap_or(0);
    // 503 says many things, 429 one (RFC 6585, section 4).
    let limited = || failing::refusals(run).filter(|_| count(429) > count(503));
    failing::client_ports(run).or_else(limited).or_else(|| failing::errors(run))
}

/// Returns as evidence how far a schedule was missed. `None` for a closed loop.
pub fn shortfall(run: &RunResult) -> Option<Fact> {
    if !run.plan.is_scheduled() || !run.has_responses() || kept_schedule(run) {
        return None;
    }
    if run.fleet.iter().flat_map(Fleet::lost).next().is_some() {
        // What was not made is said of the agent.
        return None;
    }
    if let Some(agent) = run.fleet.iter().flat_map(Fleet::ended_early).next() {
        return Some(Fact::RateLostWithAgent { agent: agent.name.clone() });
    }
    let missed = |unit, due: u64, open: u64| Fact::RateMissed { unit, due, share: open as f64 / due.max(1) as f64 };
    if is_abandoned(run)
        && let Some(patience_s) = run.plan.patience_s
    {
        let (unit, due) = match &run.sessions {
            Some(sessions) => (Unit::Session, sessions.started),
            None => (Unit::Request, run.started),
        };
        let share = run.errors.abandoned as f64 / due.max(1) as f64;
        return Some(Fact::RateAbandoned { unit, due, share, patience_s });
    }
    if let Some(sessions) = &run.sessions {
        let (due, open) = (sessions.started, sessions.unfinished);
        return (open > 0).then(|| missed(Unit::Session, due, open));
    }
    let due = run.started;
    match run.waiting() {
        0 => last_due_s(run).map(|last_due_s| Fact::RateLate { due, last_due_s, ended_s: run.duration_s }),
        open => Some(missed(Unit::Request, due, open)),
    }
}

/// Returns what became of the requests or sessions that were due.
fn done(run: &RunResult) -> Fact {
    match &run.sessions {
        Some(sessions) => Fact::Done {
            unit: Unit::Session,
            done: sessions.finished + sessions.failed,
            due: sessions.started,
            unfinished: sessions.unfinished,
        },
        // A stream that is open has responded.
        None => {
            let (done, unfinished) = (run.requests + run.unfinished - run.waiting(), run.waiting());
            Fact::Done { unit: Unit::Request, done, due: run.started, unfinished }
        }
    }
}

/// When the last request of a run with so many requests was due, in seconds. `None` where time ends the run, or stages.
fn last_due_s(run: &RunResult) -> Option<f64> {
    let rate = run.plan.rate.filter(|_| run.plan.requests.is_some())?;
    let due = run.sessions.as_ref().map_or(run.started, |sessions| sessions.started);
    Some(due.saturating_sub(1) as f64 / rate)
}

fn fails(run: &RunResult) -> bool {
    !run.has_responses() || witnesses::failed(run) as f64 > MANY_FAILED * run.started as f64
}

/// Whether too many requests were not sent, since users had waited too long: the service was too slow for the rate, as it is where
/// they wait to the end.
fn is_abandoned(run: &RunResult) -> bool {
    run.errors.abandoned as f64 > MANY_FAILED * run.started as f64
}

/// The count of what a rate is about, its times, and the part that was unfinished when the run ended: sessions, whose rate a run
/// with sessions has, or requests. A stream that is open has had its response.
fn scheduled(run: &RunResult) -> Option<(u64, Summary, u64)> {
    match &run.sessions {
        Some(sessions) => Some((sessions.started, sessions.duration_us?, sessions.unfinished)),
        None => Some((run.started, run.waits_us()?, run.waiting())),
    }
}

/// Whether an open loop's requests were answered as they became due. How late they were sent does not matter here: all that were due
/// are among those due, at their age, whether a slot was available for them or not. What an agent that ended early, or was lost, left
/// out was not even due.
pub(super) fn kept_schedule(run: &RunResult) -> bool {
    let Some((due, latency, unfinished)) = scheduled(run).filter(|_| run.plan.is_scheduled() && run.has_responses())
    else {
        return false;
    };
    if is_abandoned(run) {
        return false;
    }
    if run.fleet.iter().flat_map(|fleet| fleet.ended_early().chain(fleet.lost())).next().is_some() {
        return false;
    }
    let (total, mean_s) = (due as f64, latency.mean / 1e6);
    // A run of so many requests ends with the last response, which may be long after the last was due.
    let last_due_s = last_due_s(run);
    let per_second = total / last_due_s.unwrap_or(run.duration_s).clamp(1e-3, run.duration_s.max(1e-3));
    // How long the last stream lasts is by design.
    let overtime = last_due_s
        .filter(|_| run.streams.is_none())
        .map_or(0.0, |due_s| (run.duration_s - due_s).max(0.0) * per_second);
    let in_flight = per_second * mean_s;
    let steady = in_flight * if run.plan.staged { BACKLOG_GREW_IN_STAGES } else { BACKLOG_GREW }
        + BACKLOG_DEVIATIONS * in_flight.sqrt()
        + FEW_IN_FLIGHT;
    let backlog = (unfinished as f64).max(overtime);
    let p90_s = latency.p90.unwrap_or(latency.max) as f64 / 1e6;
    let had_grown = p90_s * per_second >= BACKLOG_LATE * backlog;
    let stalled = unfinished as f64 - steady > STALLED * total;
    let grew = backlog - steady > (BACKLOG_SHARE * total).min(BACKLOG_S * per_second) && had_grown;
    let is_pause = backlog <= per_second * MACHINE_PAUSE.0.min(MACHINE_PAUSE.1 * run.duration_s);
    is_pause || !stalled && !grew && !response_times_grew(run, backlog, per_second)
}

/// Whether response times grew from the first third of a run to its last, and with them the backlog: however large the mean has become
/// by that, it is none of a steady state.
fn response_times_grew(run: &RunResult, backlog: f64, per_second: f64) -> bool {
    // Stages change the load, and the times over the run are neither those of sessions nor those to first events.
    if run.plan.staged || run.sessions.is_some() || run.streams.is_some() {
        return false;
    }
    let mut medians_s: Vec<_> = run.series.iter().filter_map(|point| Some(point.p50? as f64 / 1e6)).collect();
    let third = medians_s.len() / 3;
    if third == 0 {
        return false;
    }
    let median = |part: &mut [f64]| {
        part.sort_unstable_by(f64::total_cmp);
        part[part.len() / 2]
    };
    let late_s = median(&mut medians_s.split_off(2 * third));
    let early_s = median(&mut medians_s[..third]);
    let in_flight = per_second * early_s;
    let steady = in_flight * BACKLOG_GREW + BACKLOG_DEVIATIONS * in_flight.sqrt() + FEW_IN_FLIGHT;
    let is_longer = late_s > BACKLOG_GREW * early_s && (late_s - early_s) * per_second >= BACKLOG_LATE * backlog;
    is_longer && backlog - steady > BACKLOG_SHARE * per_second * run.duration_s
}

/// Whether a closed loop began as many requests as `--max-rate` allows.
fn ran_at_the_cap(run: &RunResult) -> bool {
    let (Some(cap), Some((begun, times, _))) = (run.plan.max_rate, scheduled(run)) else { return false };
    // A stream takes its connection for its whole length.
    let mean_s = run.streams.as_ref().and(run.latency_us).unwrap_or(times).mean / 1e6;
    // A run of so many requests begins none while it waits for the last responses.
    let waiting_s = if run.plan.requests.is_some_and(|requests| begun >= requests) { mean_s } else { 0.0 };
    let sending_s = (run.duration_s - waiting_s).max(run.duration_s / 2.0);
    let slots = run.plan.connections as f64 * f64::from(run.plan.depth);
    let per_second = match (&run.sessions, &run.streams) {
        (Some(sessions), _) => sessions.per_second,
        (None, Some(_)) => begun as f64 / run.duration_s.max(1e-3),
        (None, None) => run.rps,
    };
    let in_use = per_second * (mean_s + run.plan.mean_think_s()) / slots;
    begun as f64 + run.plan.threads.unwrap_or(1) as f64 >= AT_THE_CAP * cap * sending_s && in_use < ALL_IN_USE
}

fn response_times(run: &RunResult) -> Option<Fact> {
    if run.streams.is_some() {
        return first_events(run);
    }
    let latency = run.latency_us?;
    let seconds = |us: u64| us as f64 / 1e6;
    Some(Fact::ResponseTimes {
        p50_s: seconds(latency.p50?),
        p99_s: latency.p99.map(seconds),
        max_s: seconds(latency.max),
    })
}

/// Returns what shows that the server stopped now and then: its threads, and times without a response to requests that were due.
pub fn stops(run: &RunResult) -> Vec<Fact> {
    let stopped = run.signals.as_ref().and_then(witnesses::stopped);
    let stalls = witnesses::stalls(run).filter(|_| run.plan.is_scheduled());
    stopped.into_iter().chain(stalls).collect()
}

fn server(run: &RunResult) -> Fact {
    let Some(host) = &run.host else { return Fact::ServerNotVisible };
    Fact::ServerCpu {
        used_cores: host.server_cores,
        cores: Some(host.cores),
        busiest_thread: host.server_threads.first().copied(),
    }
}
