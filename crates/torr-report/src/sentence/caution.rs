//! The sentences of the findings of a run's validity: what was measured, and the remedy if that is bad.

use super::fact::fact;
use crate::human::{count, percent, plural, times};
use torr_gauge::Validity;
use torr_gauge::datagrams::RECEIVE_BUFFER;
use torr_gauge::result::validity::{Caution, Finding, OffSchedule};
use torr_gauge::verdict::{Fact, Unit};

/// Writes the sentences of a run's findings. Those of a result of another version stay as they are.
pub fn write(validity: &mut Validity) {
    for finding in &mut validity.findings {
        (finding.note, finding.advice) = (note(finding), remedy(finding));
    }
}

/// Returns a finding as a clause, without a full stop.
pub(crate) fn note(finding: &Finding) -> String {
    let Some(caution) = &finding.fact else { return finding.note.clone() };
    let agent = finding.agent.as_ref().map_or(String::new(), |agent| format!("{agent}: "));
    agent + &measured(caution)
}

/// Returns the remedy for a finding that is bad.
pub(crate) fn remedy(finding: &Finding) -> Option<String> {
    match &finding.fact {
        None => finding.advice.clone(),
        Some(_) if finding.ok => None,
        Some(_) if !finding.ended_early.is_empty() => {
            Some(format!("the load dropped when agents ended early: {}", finding.ended_early.join(", ")))
        }
        Some(caution) => Some(advice(caution).to_owned()),
    }
}

fn measured(caution: &Caution) -> String {
    use Caution as C;
    match caution {
        C::Throughput { change, .. } => drift("throughput", *change),
        C::Latency { change, .. } => drift("the median response time", *change),
        C::Silence { from_s, to_s } if to_s <= from_s => {
            "every interval since the first response had a response".into()
        }
        C::Silence { from_s, to_s } => fact(&Fact::Silence { from_s: *from_s, to_s: *to_s }),
        C::SendLag { p99_us } => fact(&Fact::SendLag { p99_s: p99_us / 1e6 }),
        C::Rate { unit, count: sent, deviation, reason } => {
            let began = match unit {
                Unit::Request => format!("Torr sent {} requests", count(*sent)),
                Unit::Session => format!("Torr began {} sessions", count(*sent)),
            };
            let than = match *deviation {
                0.0 => "as many as scheduled".to_owned(),
                d if d < 0.0 => format!("{} fewer than scheduled", percent(-d)),
                d => format!("{} more than scheduled", percent(d)),
            };
            let why = match (reason, unit) {
                (Some(OffSchedule::AllWaiting), Unit::Request) => {
                    ": all connections were waiting for responses, so the service is saturated, or -c is too small"
                }
                (Some(OffSchedule::AllWaiting), Unit::Session) => {
                    ": all users were in sessions, so the service is saturated, or -c is too small"
                }
                (Some(OffSchedule::Failures), _) => ": Torr paused connections after failures",
                (Some(OffSchedule::GeneratorBehind | OffSchedule::Unknown) | None, _) => "",
            };
            format!("{began}, {than}{why}")
        }
        C::Arrivals { distance, a2, gaps } => format!(
            "the gaps between requests differ from an exponential distribution by {} (Anderson-Darling statistic {a2:.1} of {} \
             gaps)",
            percent(*distance),
            count(*gaps as u64)
        ),
        C::Generator { share, .. } => fact(&Fact::GeneratorBusy { share: *share, cores: None }),
        C::Queued { share, others } => {
            let waited = fact(&Fact::GeneratorStarved { share: *share });
            match others.is_empty() {
                true => waited,
                false => format!("{waited}; {}", fact(&Fact::OtherPrograms { programs: others.clone() })),
            }
        }
        C::Steal { share } => fact(&Fact::Steal { share: *share }),
        C::Unfinished { share, unfinished, started } => format!(
            "{} of {} requests had no response when the run ended: the throughput is up to {} too low",
            count(*unfinished),
            count(*started),
            percent(*share)
        ),
        C::Samples { count: samples, left_out, of_events } => {
            let times = if *of_events { "gaps between events" } else { "response times" };
            match left_out.is_empty() {
                true => format!("{} {times} are enough for every percentile", count(*samples)),
                false => format!("{} {times} are too few for {}", count(*samples), left_out.join(", ")),
            }
        }
        C::Drops { dropped: 0, .. } => "the kernel dropped no datagram before Torr read it".into(),
        C::Drops { share, dropped, receive_buffer } => {
            let buffer = match receive_buffer {
                0 => String::new(),
                bytes => format!(": the receive buffer of a socket has {} bytes", count(*bytes)),
            };
            let datagrams = plural(*dropped, "datagram");
            format!("the kernel dropped {datagrams} ({}) before Torr read them{buffer}", percent(*share))
        }
        C::Bursts { per_receive, received } => {
            format!("a system call received {per_receive:.2} of {} datagrams on average", count(*received))
        }
    }
}

fn drift(what: &str, change: f64) -> String {
    let how = match change {
        0.0 => "did not change".to_owned(),
        change if change < 0.0 => format!("fell by {}", percent(-change)),
        change if change < 1.0 => format!("rose by {}", percent(change)),
        change => format!("rose {}", times(1.0 + change)),
    };
    format!("{what} {how} from the first third of the run to the last")
}

fn advice(caution: &Caution) -> &'static str {
    use Caution as C;
    match caution {
        C::Throughput { scheduled: false, .. } | C::Latency { scheduled: false, .. } => {
            "no single figure describes this run: find out what changed, or run longer"
        }
        C::Throughput { scheduled: true, .. } => {
            "the scheduled rate was constant: check whether requests failed or queued"
        }
        C::Latency { scheduled: true, .. } => {
            "if response times keep rising, requests queue because the service cannot handle this rate: lower the rate"
        }
        C::Silence { .. } => {
            "the throughput includes that time: look in the service's log for a hang, a crash or a restart"
        }
        C::Rate { reason: Some(OffSchedule::Unknown) | None, .. } => {
            "nothing was saturated, so this is unexpected: run again"
        }
        C::SendLag { .. } | C::Rate { .. } => {
            "response times include Torr's own delays: lower the rate, or run Torr on a machine with free CPU"
        }
        C::Arrivals { .. } => {
            "Torr sent requests in bunches, so response times include Torr's own delays: lower the rate"
        }
        C::Generator { scheduled: false, .. } => {
            "the run may show Torr's limit, not the service's: run Torr on another machine, or with more threads"
        }
        C::Generator { scheduled: true, .. } => {
            "response times include Torr's own delays: lower the rate, or run Torr on another machine"
        }
        C::Queued { .. } => {
            "response times include Torr's own delays: run Torr on another machine, or leave it a free CPU"
        }
        C::Steal { .. } => "response times include these pauses: run again, or use a dedicated machine",
        C::Unfinished { .. } => {
            "run longer, or add --warmup: it balances the requests in flight at the start and at the end"
        }
        C::Drops { receive_buffer: 1..RECEIVE_BUFFER, .. } => {
            "net.core.rmem_max limits it: run `sysctl -w net.core.rmem_max=4194304`"
        }
        C::Drops { .. } => {
            "response times include the time until the server sends their content again: use more threads, or fewer \
             streams per connection"
        }
        C::Bursts { .. } => {
            "the path takes bursts apart, or the server sends datagrams one by one: each costs Torr a system call, so \
             compare CPU times only with runs over the same path"
        }
        C::Samples { of_events: false, .. } => "run longer: the 99th percentile needs 500 response times",
        C::Samples { of_events: true, .. } => "run longer: the 99th percentile needs 500 gaps between events",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(fact: Caution, ok: bool) -> Finding {
        let what = fact.criterion();
        let (value, limit, p, note, advice) = (fact.value(), 0.1, None, String::new(), None);
        Finding { what, ok, value, limit, p, fact: Some(fact), agent: None, ended_early: vec![], note, advice }
    }

    #[test]
    fn findings_have_sentences_and_bad_ones_a_remedy() {
        let rate = |deviation, reason| Caution::Rate { unit: Unit::Request, count: 900, deviation, reason };
        for (fact, text) in [
            (
                Caution::Throughput { change: -7.0 / 19.0, scheduled: false },
                "throughput fell by 37% from the first third of the run to the last",
            ),
            (
                Caution::Latency { change: 1.5, scheduled: true },
                "the median response time rose 2.50x from the first third of the run to the last",
            ),
            (Caution::SendLag { p99_us: 400.0 }, "Torr sent 1% of the requests at least 400 us late"),
            (rate(0.0, None), "Torr sent 900 requests, as many as scheduled"),
            (
                rate(-0.1, Some(OffSchedule::Failures)),
                "Torr sent 900 requests, 10% fewer than scheduled: Torr paused connections after failures",
            ),
            (
                Caution::Samples { count: 1000, left_out: vec!["p99.9".into(), "p99.99".into()], of_events: false },
                "1,000 response times are too few for p99.9, p99.99",
            ),
            (
                Caution::Samples { count: 30, left_out: vec!["p99".into()], of_events: true },
                "30 gaps between events are too few for p99",
            ),
            (
                Caution::Drops { share: 0.02, dropped: 1200, receive_buffer: 212_992 },
                "the kernel dropped 1,200 datagrams (2.0%) before Torr read them: the receive buffer of a socket has 212,992 bytes",
            ),
            (
                Caution::Bursts { per_receive: 1.0, received: 4000 },
                "a system call received 1.00 of 4,000 datagrams on average",
            ),
        ] {
            let mut validity =
                Validity { ok: false, findings: vec![finding(fact.clone(), false), finding(fact, true)] };
            write(&mut validity);
            let [bad, good] = &validity.findings[..] else { panic!("{validity:?}") };
            assert_eq!((bad.note.as_str(), good.note.as_str()), (text, text));
            assert!(bad.advice.is_some() && good.advice.is_none(), "{validity:?}");
        }
    }

    #[test]
    fn agents_are_named_and_older_results_keep_their_words() {
        let steal = finding(Caution::Steal { share: 0.05 }, false);
        let of_agent = Finding { agent: Some("a".into()), ..steal.clone() };
        assert_eq!(note(&of_agent), format!("a: {}", note(&steal)));
        let fewer = finding(Caution::Throughput { change: -0.5, scheduled: false }, false);
        let early = Finding { ended_early: vec!["a".into(), "b".into()], ..fewer };
        assert_eq!(remedy(&early).as_deref(), Some("the load dropped when agents ended early: a, b"));
        let older = Finding { fact: None, note: "as it was".into(), advice: Some("do it".into()), ..steal };
        let mut validity = Validity { ok: false, findings: vec![older.clone()] };
        write(&mut validity);
        assert_eq!(validity.findings, [older]);
    }
}
