//! Results that are there already, compared: one of each version, or groups.

use crate::archive::Archived;
use crate::bench::{cpu_at_rate, failed_share, invalid};
use crate::block::InvalidReason;
use crate::gate::Rule;
use crate::judgement::Finding;
use crate::metric::{Metric, Times};
use crate::report::{self, Note, Report};
use crate::stats::spending::LEVEL;
use crate::stats::{bootstrap, holm, labels, median};
use std::collections::BTreeMap;
use torr_gauge::latency::is_known;
use torr_gauge::{Latency, RunResult};

/// The number of results of each version from which the test can tell a difference at the level of a comparison.
const ENOUGH: usize = 9;

/// Compares groups of results.
///
/// # Errors
/// If a group has no valid result.
pub fn compare(
    [a, b]: [&[Archived]; 2],
    names: [String; 2],
    rules: &[Rule],
    margin: f64,
    seed: u64,
) -> Result<Report, String> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut reasons = BTreeMap::new();
    let mut left_out = 0;
    let mut valid = |group: &[Archived]| -> Vec<RunResult> {
        let mut kept = Vec::new();
        for archived in group {
            let mut why = invalid(&archived.run);
            if archived.run.interrupted {
                why.push(InvalidReason::Interrupted);
            }
            // Of a closed loop the throughput and the response times are the generator's then.
            left_out += usize::from(!why.is_empty());
            if why.is_empty() {
                kept.push(archived.run.clone());
            }
            why.into_iter().for_each(|reason| *reasons.entry(reason).or_insert(0) += 1);
        }
        kept
    };
    let groups = [valid(a), valid(b)];
    for (name, group) in names.iter().zip(&groups) {
        if group.is_empty() {
            let why: Vec<_> = reasons.keys().map(InvalidReason::to_string).collect();
            return Err(format!("{name} has no valid result: {}", why.join(", ")));
        }
    }
    let notes = notes(&groups);
    let merged = Times::ALL.map(|times| (times, groups.each_ref().map(|group| Merged::of(times, group))));
    let margins = report::margins(rules, margin);
    let mut findings: Vec<_> =
        margins.iter().map(|&(metric, margin)| finding(metric, margin, &groups, &merged, &mut rng)).collect();
    let measured: Vec<usize> = (0..findings.len()).filter(|&at| findings[at].p.is_some()).collect();
    let corrected = holm::corrected(&measured.iter().filter_map(|&at| findings[at].p).collect::<Vec<_>>());
    for (&at, p) in measured.iter().zip(corrected) {
        let finding = &mut findings[at];
        finding.p = Some(p);
        finding.outcome = Finding::settle(finding.interval, p <= LEVEL, finding.margin);
    }
    let [a, b] = names;
    Ok(Report {
        schema: report::SCHEMA,
        torr: env!("CARGO_PKG_VERSION"),
        a,
        b,
        started_at: String::new(),
        machine: None,
        seed,
        seconds: 0.0,
        connections: 0,
        rate: None,
        smallest: BTreeMap::new(),
        rules: report::judged(rules, &findings),
        findings,
        means: None,
        left_out,
        reasons,
        notes,
        interrupted: false,
        noise_blocks: Vec::new(),
        blocks: Vec::new(),
    })
}

fn finding(
    metric: Metric,
    margin: f64,
    groups: &[Vec<RunResult>; 2],
    merged: &[(Times, [Merged; 2])],
    rng: &mut fastrand::Rng,
) -> Finding {
    let nothing = Finding { margin, ..Finding::nothing(metric) };
    let all = |group: &[RunResult]| (0..group.len()).collect::<Vec<_>>();
    let [values_a, values_b] = groups.each_ref().map(|group| group.iter().map(|run| value(metric, run)).collect());
    let (Some(values_a), Some(values_b)): (Option<Vec<f64>>, Option<Vec<f64>>) = (values_a, values_b) else {
        return nothing;
    };
    let values = [values_a, values_b];
    let percentile = metric.percentile().and_then(|(times, share)| {
        let (_, merged) = merged.iter().find(|(of, _)| *of == times)?;
        Some((share, merged))
    });
    let of_group = |group: usize, drawn: &[usize]| {
        whole(percentile.map(|(share, merged)| (share, &merged[group])), &values[group], drawn)
    };
    let (a, b) = (of_group(0, &all(&groups[0])), of_group(1, &all(&groups[1])));
    let Some(log) = a.zip(b).and_then(|(a, b)| metric.log_ratio(a, b)) else {
        return Finding { a, b, ..nothing };
    };
    let sizes = groups.each_ref().map(Vec::len);
    let statistic = |drawn: &[Vec<usize>]| {
        let pair = of_group(0, &drawn[0]).zip(of_group(1, &drawn[1]));
        pair.and_then(|(a, b)| metric.log_ratio(a, b)).unwrap_or(log)
    };
    let interval = bootstrap::interval(&sizes, rng, statistic).map(|[low, high]| [low.exp(), high.exp()]);
    let p = interval.map(|_| labels::test(&values[0], &values[1], rng));
    Finding { pairs: sizes[0].min(sizes[1]), a, b, ratio: Some(log.exp()), interval, p, ..nothing }
}

/// The times of a group's results, such as response times, so that any choice of them is merged in one pass.
struct Merged {
    /// Values ascending, each with its result and its count.
    counts: Vec<(u64, usize, u64)>,
    /// The number of samples of each result.
    totals: Vec<u64>,
}

impl Merged {
    fn of(times: Times, group: &[RunResult]) -> Self {
        let latencies: Vec<_> = group.iter().map(|run| times.latency(run)).collect();
        let of_run = |(run, latency): (usize, &Latency)| {
            latency.counts().map(move |(us, count)| (us, run, count)).collect::<Vec<_>>()
        };
        let mut counts: Vec<_> = latencies.iter().enumerate().flat_map(of_run).collect();
        counts.sort_unstable();
        Self { counts, totals: latencies.iter().map(Latency::count).collect() }
    }

    /// Returns the quantile of the drawn results together, `None` with fewer than five samples beyond it.
    fn quantile(&self, share: f64, drawn: &[usize]) -> Option<f64> {
        let mut times = vec![0; self.totals.len()];
        drawn.iter().for_each(|&run| times[run] += 1);
        let total: u64 = times.iter().zip(&self.totals).map(|(times, total)| times * total).sum();
        if !is_known(total, share) {
            return None;
        }
        let wanted = (total as f64 * share).ceil() as u64;
        let mut until_now = 0;
        let found = self.counts.iter().find(|(_, run, count)| {
            until_now += times[*run] * count;
            until_now >= wanted
        });
        found.map(|(us, ..)| *us as f64)
    }
}

/// Returns the value of some results together: percentiles of their merged histograms, otherwise the median. A result
/// that stands alone may be without a histogram.
fn whole(percentile: Option<(f64, &Merged)>, values: &[f64], drawn: &[usize]) -> Option<f64> {
    match percentile {
        None => Some(median(&drawn.iter().map(|&at| values[at]).collect::<Vec<_>>())),
        Some((_, merged)) if merged.totals == [0] => values.first().copied(),
        Some((share, merged)) => merged.quantile(share, drawn),
    }
}

/// Returns the value of a result.
pub fn value(metric: Metric, run: &RunResult) -> Option<f64> {
    let summary = metric.percentile().and_then(|(times, _)| times.summary(run));
    let us = match metric {
        Metric::Cpu | Metric::EventCpu if run.streams.is_some() != (metric == Metric::EventCpu) => return None,
        Metric::Cpu | Metric::EventCpu => return cpu_at_rate(run.signals.as_ref()?, run),
        // How many streams end per second follows from their length, which is by design.
        Metric::Throughput => return run.streams.is_none().then(|| run.good_rps()),
        Metric::Events => return run.streams.as_ref().map(|streams| streams.events_per_s),
        Metric::Errors => return Some(failed_share(run)),
        Metric::Memory | Metric::Instructions => return None,
        Metric::P50 | Metric::FirstEventP50 | Metric::GapP50 => summary?.p50,
        Metric::P90 => summary?.p90,
        Metric::P99 | Metric::FirstEventP99 | Metric::GapP99 => summary?.p99,
        Metric::P999 => summary?.p99_9,
    };
    us.map(|us| us as f64)
}

fn notes(groups: &[Vec<RunResult>; 2]) -> Vec<Note> {
    let mut notes = Vec::new();
    let runs = || groups.iter().flatten();
    let differ = |of: &dyn Fn(&RunResult) -> String| {
        let first = of(&groups[0][0]);
        runs().any(|run| of(run) != first)
    };
    if groups.iter().any(|group| group.len() < ENOUGH) {
        notes.push(Note::FewResults { enough: ENOUGH });
    }
    let load = |run: &RunResult| {
        let plan = &run.plan;
        format!("{} {:?} {} {}", plan.connections, plan.rate, plan.protocol, run.streams.is_some())
    };
    if differ(&load) {
        notes.push(Note::DifferentLoads);
    }
    // First events and gaps do not follow from throughput.
    if runs().any(|run| !run.plan.is_scheduled() && run.streams.is_none()) {
        notes.push(Note::ClosedLoop);
    }
    let last_of_a = groups[0].iter().map(|run| &run.started_at).max();
    if groups[1].iter().map(|run| &run.started_at).min() > last_of_a {
        notes.push(Note::AllOfAFirst);
    }
    notes
}

#[cfg(test)]
mod tests;
