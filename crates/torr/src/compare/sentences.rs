//! The sentences of a comparison of two versions: its findings, its thresholds and its notes.

use torr_lab::judgement::{Finding, Outcome};
use torr_lab::mean::Means;
use torr_lab::metric::Metric;
use torr_lab::report::{Judged, Note, Report};
use torr_report::human::{difference, times};

/// The ratio from which a difference is shown as a ratio instead of in percent.
const TIMES: f64 = 10.0;

/// Returns a finding as a clause, without a full stop.
pub fn finding(finding: &Finding) -> String {
    let metric = finding.metric;
    let Some(ratio) = finding.ratio else {
        let why = if finding.a.is_some() { "too few samples in a turn" } else { "not measured" };
        return format!("cannot tell: {why}");
    };
    let change = finding.change(ratio);
    match (finding.outcome, finding.interval) {
        (Outcome::Different, Some([low, high])) if ratio >= TIMES => {
            format!("{} ({} to {})", in_times(metric, ratio), times(low), times(high))
        }
        (Outcome::Different, Some(ends)) => {
            let [low, high] = ends.map(|end| finding.change(end));
            let (near, far) = if change > 0.0 { (low, high) } else { (-high, -low) };
            format!("{} ({} to {})", differs(metric, change), difference(near), difference(far))
        }
        (Outcome::Same, _) => format!("no difference of {} or more", size(metric, finding.margin)),
        (_, Some(_)) => format!("cannot tell: the noise is {}", size(metric, finding.noise().unwrap_or_default())),
        (_, None) => {
            let measured = if finding.pairs == 1 { "one pair gives" } else { "so few pairs give" };
            let shown = if metric == Metric::Errors { differs(metric, change) } else { in_times(metric, ratio) };
            format!("cannot tell: {measured} no interval ({shown})")
        }
    }
}

/// Returns why a threshold holds or not.
pub fn because(report: &Report, judged: &Judged) -> String {
    let measured = report.findings.iter().find(|finding| finding.metric == judged.rule.metric);
    measured.map_or("not measured".into(), finding)
}

/// Returns what the reader should know.
pub fn note(note: Note) -> String {
    match note {
        Note::FewResults { enough } => {
            return format!(
                "a test needs at least {enough} results of each version; 'torr compare URL URL' measures both in turns"
            );
        }
        Note::DifferentLoads => "the runs had different loads: connections, rate or protocol",
        Note::ClosedLoop => "in a closed loop response times follow from throughput: compare them at a fixed rate (-r)",
        Note::AllOfAFirst => "all of A was measured before all of B: whatever changed between them counts as a difference",
        Note::StartedOnce => {
            "each server was started once, and starts of the same program differ by about 1%: pass commands with --a and --b to \
             start the servers for each turn"
        }
        Note::LittleCpu => "the servers used too little CPU in a turn to measure CPU per request: set a longer --budget",
        Note::ServerNotVisible => {
            "the servers' processes are not visible from here, so CPU per request and memory are unknown"
        }
        Note::Queueing { cpu, mean } => {
            let (version, mean) = if cpu < 1.0 { ("B", mean) } else { ("A", 1.0 / mean) };
            return format!(
                "{version} uses less CPU per request, but its mean response time is {} as long: a server needs less CPU per request \
                 when requests queue, so {version} may do no less work; compare again at a lower --rate",
                times(mean)
            );
        }
    }
    .to_owned()
}

/// Returns what the mean response times show, which no test judges.
pub fn means(means: &Means) -> String {
    let change = means.ratio - 1.0;
    match means.interval {
        Some([low, high]) if low > 1.0 || high < 1.0 => {
            let (near, far) = if change > 0.0 { (low - 1.0, high - 1.0) } else { (1.0 - high, 1.0 - low) };
            let how = if change > 0.0 { "longer" } else { "shorter" };
            let by = difference(change.abs());
            format!("B's mean is {by} {how} ({} to {}), not tested", difference(near), difference(far))
        }
        Some(_) => "no clear difference, not tested".into(),
        None => "too few pairs, not tested".into(),
    }
}

/// Returns the size of a difference with its unit.
fn size(metric: Metric, change: f64) -> String {
    let percent = difference(change);
    match metric {
        Metric::Errors => format!("{} percentage points", percent.trim_end_matches('%')),
        _ => percent,
    }
}

/// Returns a difference of B as a clause.
fn differs(metric: Metric, change: f64) -> String {
    let by = size(metric, change.abs());
    let how = |more: &'static str, less| if change > 0.0 { more } else { less };
    match metric {
        Metric::Cpu => format!("B uses {by} {} CPU per request", how("more", "less")),
        Metric::EventCpu => format!("B uses {by} {} CPU per event", how("more", "less")),
        Metric::Instructions => format!("B executes {by} {} instructions per request", how("more", "fewer")),
        Metric::Memory => format!("B uses {by} {} memory", how("more", "less")),
        Metric::Throughput => format!("B's throughput is {by} {}", how("higher", "lower")),
        Metric::Events => format!("B has {by} {} events per second", how("more", "fewer")),
        Metric::Errors => format!("B's error rate is {by} {}", how("higher", "lower")),
        percentile => format!("B's {} is {by} {}", percentile.name(), how("longer", "shorter")),
    }
}

/// Returns a ratio of B to A as a clause.
fn in_times(metric: Metric, ratio: f64) -> String {
    let ratio = times(ratio);
    match metric {
        Metric::Cpu => format!("B uses {ratio} the CPU per request"),
        Metric::EventCpu => format!("B uses {ratio} the CPU per event"),
        Metric::Instructions => format!("B executes {ratio} the instructions per request"),
        Metric::Memory => format!("B uses {ratio} the memory"),
        Metric::Events => format!("B has {ratio} the events per second"),
        Metric::Errors => format!("B's error rate is {ratio} that of A"),
        other => format!("B's {} is {ratio} that of A", other.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_difference_and_its_interval() {
        let of = |outcome, ratio, interval| Finding { outcome, ratio, interval, ..Finding::nothing(Metric::Cpu) };
        for (found, words) in [
            (of(Outcome::Different, Some(1.031), Some([1.022, 1.04])), "B uses 3.1% more CPU per request (2.2% to 4%)"),
            (of(Outcome::Different, Some(0.9), Some([0.88, 0.93])), "B uses 10% less CPU per request (7% to 12%)"),
            (of(Outcome::Same, Some(1.001), Some([0.99, 1.01])), "no difference of 2% or more"),
            (of(Outcome::CannotTell, Some(1.0), Some([0.94, 1.06])), "cannot tell: the noise is 6%"),
            (
                of(Outcome::Different, Some(13.21), Some([12.04, 205.88])),
                "B uses 13.2x the CPU per request (12.0x to 206x)",
            ),
            (
                Finding { pairs: 1, ..of(Outcome::CannotTell, Some(3.64), None) },
                "cannot tell: one pair gives no interval (B uses 3.64x the CPU per request)",
            ),
            (Finding::nothing(Metric::Cpu), "cannot tell: not measured"),
        ] {
            assert_eq!(finding(&found), words);
        }
    }

    #[test]
    fn queueing_is_named_with_the_version_that_it_may_favour() {
        let less = note(Note::Queueing { cpu: 0.95, mean: 1.4 });
        assert!(less.starts_with("B uses less CPU per request, but its mean response time is 1.40x as long"), "{less}");
        let more = note(Note::Queueing { cpu: 1.05, mean: 0.5 });
        assert!(more.starts_with("A uses less CPU per request, but its mean response time is 2.00x as long"), "{more}");
        let of = |ratio, interval| means(&Means { a: 100.0, b: 100.0 * ratio, ratio, interval });
        assert_eq!(of(1.4, Some([1.3, 1.5])), "B's mean is 40% longer (30% to 50%), not tested");
        assert_eq!(of(0.8, Some([0.75, 0.9])), "B's mean is 20% shorter (10% to 25%), not tested");
        assert_eq!(of(1.1, Some([0.9, 1.2])), "no clear difference, not tested");
    }

    #[test]
    fn errors_differ_by_percentage_points() {
        let ratio = |a: f64, b: f64| Metric::Errors.log_ratio(a, b).expect("shares of errors have one").exp();
        let of = |outcome, interval: Option<[f64; 2]>| Finding {
            outcome,
            pairs: 1,
            a: Some(0.125),
            b: Some(0.0),
            ratio: Some(ratio(0.125, 0.0)),
            interval: interval.map(|ends| ends.map(|b| ratio(0.125, b))),
            ..Finding::nothing(Metric::Errors)
        };
        for (found, words) in [
            (
                of(Outcome::CannotTell, None),
                "cannot tell: one pair gives no interval (B's error rate is 12.5 percentage points lower)",
            ),
            (
                of(Outcome::Different, Some([0.0, 0.025])),
                "B's error rate is 12.5 percentage points lower (10% to 12.5%)",
            ),
            (of(Outcome::Same, None), "no difference of 2 percentage points or more"),
        ] {
            assert_eq!(finding(&found), words);
        }
    }
}
