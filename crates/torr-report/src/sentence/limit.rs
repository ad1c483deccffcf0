//! The sentences of a search for a limit: its result, and why each step is made. Its facts have theirs in `fact`.

use super::fact::fact;
use super::search::load;
use crate::human::{count, per_second, percent, plural};
use torr_gauge::verdict::{Fact, LimitKind, LoadUnit, StepReason};

/// Returns the result in one sentence: under these objectives, for this reason.
pub fn limit(kind: LimitKind, (most, unit): (f64, LoadUnit), objectives: &[String], reason: &[Fact]) -> String {
    let (slo, sustained, reason) = (objectives.join(","), load(most, unit), limit_reason(reason));
    let one = if unit.is_requests() { "rate" } else { "number of streams" };
    match kind {
        LimitKind::Never => format!("The service does not meet {slo} at any {one}; {reason}."),
        LimitKind::Unknown => format!("No sustained {one} was found; {reason}."),
        LimitKind::Limit => format!("The service sustains {sustained} under {slo}; {reason}."),
        LimitKind::AtLeastMaxRate
        | LimitKind::AtLeastGenerator
        | LimitKind::AtLeastConnections
        | LimitKind::AtLeastTime => {
            format!("The service sustains at least {sustained} under {slo}; {reason}.")
        }
    }
}

/// Returns the reason of a result as clauses.
pub fn limit_reason(reason: &[Fact]) -> String {
    reason.iter().map(fact).collect::<Vec<_>>().join("; ")
}

/// Returns why a step is made.
pub fn step(reason: StepReason) -> String {
    use StepReason as S;
    match reason {
        S::Rung(1) => return "one connection: what throughput does it reach?".into(),
        S::Rung(connections) => {
            return format!("{}: does throughput still grow?", plural(connections as u64, "connection"));
        }
        S::ShareOfClosedLoop(share) => return format!("{} of the closed loop's throughput", percent(share)),
        S::Between { kept_rps, failed_rps } => {
            return format!("between {} (sustained) and {} (failed)", per_second(kept_rps), per_second(failed_rps));
        }
        S::Streams(streams) => return format!("{}: are gaps kept?", load(streams as f64, LoadUnit::Streams)),
        S::BetweenStreams { kept, failed } => {
            let (kept, failed) = (count(kept as u64), count(failed as u64));
            return format!("between {kept} (sustained) and {failed} (failed) streams at a time");
        }
        S::Overload(factor) => {
            return format!("{factor}x the limit: does throughput stay, and does the service recover?");
        }
        S::Unloaded => "a few requests: response time without load",
        S::StreamAlone => "one stream at a time: its first event, its gaps, its length",
        S::FewerRequests => "fewer requests: does the service meet its objectives then?",
        S::LowRate => "a low rate first",
        S::Longer => "the rate that was found, for longer",
        S::Again => "again: one failure may be noise",
        S::FailedRateAgain => "again: the machine may have caused the failure",
        S::Settle => "wait until response times are as before",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_one_sentence_with_its_reason() {
        let slo = ["p99<50ms".to_owned(), "errors<0.1%".to_owned()];
        let missed = Fact::ObjectiveMissed { objective: "p99<50ms".into(), measured: Some("338ms".into()) };
        let failed = Fact::RateFailed { rps: Some(419.0), why: Some(Box::new(missed)) };
        assert_eq!(
            limit(LimitKind::Limit, (384.2, LoadUnit::Requests), &slo, &[failed]),
            "The service sustains 384 requests/s under p99<50ms,errors<0.1%; 419 requests/s failed: p99 was 338 ms."
        );
        assert_eq!(
            limit(LimitKind::AtLeastMaxRate, (384.2, LoadUnit::Requests), &slo, &[Fact::MaxRateReached]),
            "The service sustains at least 384 requests/s under p99<50ms,errors<0.1%; --max-rate allows no more."
        );
        let slo = ["gap_p99<50ms".to_owned()];
        let missed = Fact::ObjectiveMissed { objective: "gap_p99<50ms".into(), measured: Some("61ms".into()) };
        let failed = Fact::StreamsFailed { streams: 130, why: Some(Box::new(missed)) };
        assert_eq!(
            limit(LimitKind::Limit, (120.0, LoadUnit::Streams), &slo, &[failed]),
            "The service sustains 120 streams at a time under gap_p99<50ms; 130 streams at a time failed: gap_p99 was 61.0 ms."
        );
    }
}
