//! The sentences of facts about streams of events.

use super::parts::{shown, was};
use crate::human::{plural, seconds, times};
use torr_gauge::verdict::Fact;

/// Returns a fact about streams as a clause, without a full stop; nothing for another one.
pub(super) fn fact(fact: &Fact) -> String {
    use Fact as F;
    match fact {
        F::FirstEvents { p50_s, p99_s, max_s } => {
            let (share, most) = p99_s.map_or(("all", *max_s), |p99_s| ("99%", p99_s));
            format!(
                "half of the streams had their first event within {}, {share} within {}",
                seconds(*p50_s),
                seconds(most)
            )
        }
        F::FirstEventWaits { p50_s, min_s } => format!(
            "the median time to the first event, {}, is {} the shortest, {}",
            seconds(*p50_s),
            times(p50_s / min_s.max(1e-6)),
            seconds(*min_s)
        ),
        F::Gaps { p50_s, p99_s, silence_s } => {
            let p99 = p99_s.map(|p99_s| format!(", 99% at most {}", seconds(p99_s)));
            let (half, longest) = (seconds(*p50_s), seconds(*silence_s));
            format!("half of the gaps between events took at most {half}{}, the longest silence {longest}", shown(p99))
        }
        F::LongestSilence { seconds: longest } => {
            format!("the longest time of a stream without an event was {}", seconds(*longest))
        }
        F::OpenStreams { open, waiting } => format!(
            "{} {} open when the run ended, and {} waited for a first event",
            plural(*open, "stream"),
            was(*open as usize),
            plural(*waiting, "request")
        ),
        F::NoGap { seconds: within } => format!("no stream had two events within {}", seconds(*within)),
        F::StreamAlone { first_event_s, gap_s } => {
            let gap = gap_s.map(|gap_s| format!(", and the others at gaps of {}", seconds(gap_s)));
            format!("one stream at a time has its first event after {}{}", seconds(*first_event_s), shown(gap))
        }
        _ => String::new(),
    }
}
