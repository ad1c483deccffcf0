//! The sentences of facts about streams of events.

use super::parts::{shown, was};
use crate::human::{count, per_second, percent, plural, rate, seconds, times};
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
        F::EventsAtMost { events_per_s } => format!("the most were {}", events(*events_per_s)),
        F::EventsFlat { events_per_s, from, to: Some(to) } => {
            format!("events stayed at {} from {from} to {}", events(*events_per_s), plural(*to, "stream"))
        }
        F::EventsFlat { events_per_s, from, to: None } => {
            format!("{} had {}", plural(*from, "stream"), events(*events_per_s))
        }
        F::EventsGrew { factor, from, to } => {
            format!("events per second grew {} from {from} to {}", times(*factor), plural(*to, "stream"))
        }
        F::StreamsPace { streams, events_per_s, share } => format!(
            "{} had {}, {} of {} times those of one stream alone",
            plural(*streams, "stream"),
            events(*events_per_s),
            percent(*share),
            count(*streams)
        ),
        F::StreamsAtATime { open, of } => {
            format!("of {}, {} had an event and were open at the end", plural(*of, "stream"), count(*open))
        }
        F::StreamsCapped { begun_per_s, cap_per_s } => {
            format!("streams began at {}, and --max-rate allows {}", per_second(*begun_per_s), per_second(*cap_per_s))
        }
        F::NullStreams { null_events_per_s, events_per_s } => format!(
            "as many streams of a service that does nothing have {} here at that pace, those of the target {}",
            events(*null_events_per_s),
            events(*events_per_s)
        ),
        _ => String::new(),
    }
}

/// Returns a number of events per second with its unit.
fn events(per_s: f64) -> String {
    format!("{} events/s", rate(per_s))
}
