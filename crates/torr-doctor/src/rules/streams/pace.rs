//! The pace of streams: kept as by one alone, or held back though nothing is busy.

use super::load::{double, flat, gaps_are_kept, growth, is_flat, is_waiting, pace, streams_of, times, wanted};
use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::figures::Figures;
use crate::thresholds::{PACE_KEPT, PROVED_FROM, RUNGS_KEPT, STILL_GROWS, WHOLE_PACE};
use torr_gauge::verdict::{Advice, Fact, Finding, Headline};
use torr_gauge::{Confidence, Factor};

/// Each stream has its events as one alone has them, and more streams have more.
pub fn paced(evidence: &Evidence) -> Step {
    let figures = &evidence.figures;
    let wanted = wanted(evidence);
    let growth = growth(evidence);
    // Few streams have the pace of one by themselves: then it is the next ones that show it.
    let grows = growth.is_some_and(|growth| growth >= STILL_GROWS);
    let is_proved = grows || wanted >= PROVED_FROM && rungs_keep(figures) || growth.is_none() && wanted > 1;
    // Where more streams have no more events, the limit may be just below the user's load.
    let least = if grows { PACE_KEPT } else { WHOLE_PACE };
    if is_waiting(evidence) || figures.alone_mean_s <= 0.0 || figures.utilisation() < least || !is_proved {
        return Ok(None);
    }
    let is_certain = growth.is_some() && gaps_are_kept(evidence);
    let confidence = if is_certain { Confidence::Certain } else { Confidence::Likely };
    let more = 4 * figures.connections;
    let headline = Headline::StreamsPaced { streams: wanted as u64, gap_s: figures.alone_mean_s };
    Ok(Some(
        Finding::new(Factor::None, confidence, headline)
            .because(pace(evidence))
            .because(growth.map(|factor| {
                let to = double(evidence).map_or(wanted, streams_of);
                Fact::EventsGrew { factor, from: wanted as u64, to: to as u64 }
            }))
            .because(times(evidence))
            .because(figures.server_cpu())
            .advice(Advice::TestStreams { connections: more })
            .verify(evidence.setting.commands.press(&[("-c", &more)])),
    ))
}

/// Events come no faster with more streams, though nothing is busy.
pub fn held(evidence: &Evidence) -> Step {
    let figures = &evidence.figures;
    // Without a view of the server it may be busy.
    let is_idle = figures.server_cores().is_some() && !figures.wants_cpu() && figures.full_threads() == 0;
    if !is_flat(evidence) || !is_idle || figures.alone_mean_s <= 0.0 {
        return Ok(None);
    }
    Ok(Some(
        Finding::new(Factor::Unknown, Confidence::Unknown, Headline::EventsHeld)
            .because(pace(evidence))
            .because(flat(evidence))
            .because(times(evidence))
            .because(figures.server_cpu())
            .because(figures.machine_cpu())
            .advice(Advice::FindHeldEvents),
    ))
}

/// Returns whether all rungs below the user's load have the pace of one stream.
fn rungs_keep(figures: &Figures) -> bool {
    let each = figures.in_flight as f64 / figures.connections.max(1) as f64;
    let below = figures.ladder.0.iter().filter(|rung| rung.connections <= figures.connections);
    below.into_iter().all(|rung| rung.rps * figures.alone_mean_s >= RUNGS_KEPT * rung.connections as f64 * each)
}
