//! Streams that do not begin: too few to tell, a rate that the user permits, a service that refuses or delays those beyond a number.

use super::load::{at_a_time, double, gaps_are_kept, held, is_flat, is_waiting, open, pace, times, wanted};
use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::rules::waiting;
use crate::setting::StreamKind;
use crate::survey::streams::events_alone;
use crate::survey::{beside_rule, cheap_rule};
use crate::thresholds::MANY_FAILED;
use torr_gauge::verdict::{Advice, Change, Fact, Finding, Headline, Promise, UnknownGain};
use torr_gauge::{Confidence, Factor, RunResult};

/// The budget of the next diagnosis, as a multiple, where a stream had too few events.
const LONGER: f64 = 4.0;

/// One stream alone had too few events to compare loads by.
pub fn few(evidence: &Evidence) -> Step {
    let alone = evidence.alone();
    let has_failed = alone.run.errors.total() > 0 || !alone.run.has_responses();
    if has_failed || events_alone(alone).is_some() {
        return Ok(None);
    }
    let events = alone.run.streams.as_ref().map_or(0, |streams| streams.events);
    let seconds = LONGER * evidence.setting.budget_s;
    let budget = format!("{seconds:.0}s");
    Ok(Some(
        Finding::new(Factor::Unknown, Confidence::Unknown, Headline::FewEvents)
            .because(Fact::Events { events })
            .because(Fact::NoGap { seconds: alone.run.duration_s })
            .advice(Advice::MoreBudgetForStreams { seconds })
            .verify(evidence.setting.commands.doctor(&[("-c", &evidence.setting.connections), ("--budget", &budget)])),
    ))
}

/// The highest permitted rate of new streams did not let the user's load come about.
pub fn capped(evidence: &Evidence) -> Step {
    let Some(cap_per_s) = evidence.setting.max_rate else { return Ok(None) };
    let full = &evidence.full().run;
    let begun = full.started;
    Ok((begun < wanted(evidence) as u64 && full.errors.total() == 0).then(|| {
        Finding::new(Factor::None, Confidence::Likely, Headline::AllAllowed)
            .because(Fact::StreamsCapped { begun_per_s: begun as f64 / full.duration_s.max(1e-6), cap_per_s })
            .because(pace(evidence))
            .because(times(evidence))
            .advice(Advice::RaiseMaxRate)
    }))
}

/// The service refuses streams beyond a number of open ones, with 429 or 503.
pub fn refused(evidence: &Evidence) -> Step {
    let (full, alone) = (&evidence.full().run, &evidence.alone().run);
    let count = |run: &RunResult, status: u16| run.status.get(&status).copied().unwrap_or(0);
    let share = |run: &RunResult| (count(run, 429) + count(run, 503)) as f64 / run.started.max(1) as f64;
    let open = open(full);
    if share(full) < MANY_FAILED || share(alone) >= MANY_FAILED || open == 0 {
        return Ok(None);
    }
    let status = if count(full, 429) >= count(full, 503) { 429 } else { 503 };
    let double = double(evidence);
    // A server that has too much to do may refuse as well.
    let confidence = if is_flat(evidence) && status == 429 { Confidence::Certain } else { Confidence::Likely };
    Ok(Some(
        Finding::new(Factor::RateLimit, confidence, Headline::StreamsRefused { streams: open })
            .because(Fact::Refused { share: share(full), status, alone_share: Some(share(alone)) })
            .because(at_a_time(evidence, evidence.full()))
            .because(double.map(|seen| at_a_time(evidence, seen)))
            .because(times(evidence))
            .because(evidence.figures.server_cpu())
            .advice(Advice::RaiseLimit)
            .gain(Promise::unknown(Change::NoLimiter, UnknownGain::NoMoreTried))
            .verify(
                evidence.setting.commands.press(&[("-c", &evidence.setting.connections), ("--fail-if", &"errors>0")]),
            ),
    ))
}

/// A number of streams have events, as fast as one alone, and the others wait for their first.
pub fn admitted(evidence: &Evidence) -> Step {
    let (figures, full) = (&evidence.figures, evidence.full());
    let streams = held(evidence);
    // What slows the source of all events delays first events as well, but then gaps stretch too.
    let are_admitted = is_waiting(evidence) && open(&full.run) > 0 && gaps_are_kept(evidence);
    if !are_admitted || figures.wants_cpu() || figures.full_threads() > 0 {
        return Ok(None);
    }
    let held = streams as f64;
    let (by_threads, by_hands) = (waiting::by_threads(evidence, held), waiting::by_hands(evidence, held));
    // Where the server's threads and what it has read agree, a light load beside the streams shows nothing more.
    let is_seen = by_threads.is_some() && by_threads == by_hands;
    if !is_seen && evidence.setting.streams == Some(StreamKind::Events) {
        cheap_rule(evidence)?;
        beside_rule(evidence)?;
    }
    let double = double(evidence);
    let others_wait = evidence.figures.others_wait();
    // Whether they wait inside the server, for something that others do not need, rather than for a worker.
    let witnesses = [by_threads, others_wait.map(|wait| !wait), by_hands];
    let inside = witnesses.into_iter().flatten().next();
    let agree = witnesses.into_iter().filter(|witness| witness.is_some() && *witness == inside).count() >= 2;
    let confidence = if agree && is_flat(evidence) { Confidence::Certain } else { Confidence::Likely };
    let gain = evidence.bounds().gain((2.0, 2.0), Change::TwiceTheLimit);
    let finding = match inside {
        Some(false) => Finding::new(Factor::Workers, confidence, Headline::StreamWorkers { streams })
            .advice(Advice::StreamsWithoutWorkers)
            .gain(gain),
        Some(true) => Finding::new(Factor::Pool, confidence, Headline::StreamPool { streams })
            .advice(Advice::FindPool { size: held })
            .gain(gain),
        None => Finding::new(Factor::Unknown, Confidence::Unknown, Headline::StreamsAtATime { streams })
            .advice(Advice::WatchServer),
    };
    let light = figures.cheap.as_ref().zip(figures.beside).zip(others_wait);
    let light = light.map(|((cheap, beside), waits)| Fact::LightLoad {
        connections: beside.connections,
        request: cheap.what,
        response_s: beside.response_s,
        alone_s: cheap.alone_s,
        waits,
    });
    let threads = Some(figures.holding()).filter(|threads| *threads > 0 && inside == Some(false));
    let hands = figures.in_service().filter(|hands| hands.round() > 0.0 && inside.is_some());
    Ok(Some(
        finding
            .because(at_a_time(evidence, full))
            .because(double.map(|seen| at_a_time(evidence, seen)))
            .because(times(evidence))
            .because(light)
            .because(threads.map(|threads| Fact::ThreadsBlocked { threads }))
            .because(hands.map(|hands| Fact::InService { requests: hands.round(), of: figures.connections as f64 }))
            .because(figures.server_cpu()),
    ))
}
