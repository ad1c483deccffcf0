//! Runs whose responses are streams of events. A stream may last for as long as it is made to: what tells of a limit is the time to the
//! first event, and the times between events.

use super::kept::kept_schedule;
use super::seen::{busy_generator, likely, machine_cpu, undecided};
use crate::streams::{first_events, gaps};
use crate::thresholds::{ALL_IN_USE, FEW_IN_FLIGHT, FEW_RESPONSES, FIRST_EVENT_WAITS, STEADY_GAPS};
use torr_gauge::verdict::{Advice, Fact, Finding, Headline};
use torr_gauge::{Factor, RunResult};

/// The streams had a few events only, none of which failed.
pub fn few(run: &RunResult) -> Option<Finding> {
    let events = run.streams.as_ref()?.events;
    (events > 0 && events < FEW_RESPONSES && run.errors.total() == 0)
        .then(|| undecided(Headline::FewEvents).because(Fact::Events { events }).advice(Advice::LongerRun))
}

/// Open streams hold all connections of an open loop, so that requests that are due wait for one.
pub fn connections(run: &RunResult) -> Option<Finding> {
    let open = run.streams.as_ref()?.open;
    let slots = run.plan.connections as f64 * f64::from(run.plan.depth.max(1));
    let is_waiting = run.plan.is_scheduled() && !kept_schedule(run) && run.waiting() as f64 > FEW_IN_FLIGHT;
    (is_waiting && open as f64 >= ALL_IN_USE * slots).then(|| {
        likely(Factor::Connections, Headline::StreamsHoldConnections)
            .because(Fact::OpenStreams { open, waiting: run.waiting() })
            .because(first_events(run))
            .because(busy_generator(run))
            .advice(Advice::TestConnections { connections: run.plan.connections * 4 })
    })
}

/// Most streams wait for their first event for much longer than the fastest one.
pub fn waiting(run: &RunResult) -> Option<Finding> {
    let first = run.streams.as_ref()?.first_event_us?;
    let (min, p50) = (first.min as f64, first.p50? as f64);
    (p50 >= FIRST_EVENT_WAITS.0 * min && p50 - min >= FIRST_EVENT_WAITS.1).then(|| {
        with_sides(run, undecided(Headline::FirstEventsWait))
            .because(Fact::FirstEventWaits { p50_s: p50 / 1e6, min_s: min / 1e6 })
            .advice(fewer_and_more(run))
    })
}

/// Nothing is busy and no stream waits: the events come at the server's own pace, or at none that is even.
pub fn pace(run: &RunResult) -> Option<Finding> {
    let gaps = run.streams.as_ref()?.gap_us?;
    let (p50, p99) = (gaps.p50? as f64, gaps.p99? as f64);
    Some(match p99 <= STEADY_GAPS.0 * p50 + STEADY_GAPS.1 {
        true => with_sides(run, likely(Factor::None, Headline::EventsSteady))
            .advice(Advice::TestConnections { connections: run.plan.connections * 4 }),
        false => with_sides(run, undecided(Headline::EventsUneven)).advice(fewer_and_more(run)),
    })
}

/// Returns a finding with the times of streams and the use of both sides.
fn with_sides(run: &RunResult, finding: Finding) -> Finding {
    finding
        .because(first_events(run))
        .because(gaps(run))
        .because(busy_generator(run))
        .because(run.host.as_ref().map_or(Fact::ServerNotVisible, machine_cpu))
}

fn fewer_and_more(run: &RunResult) -> Advice {
    let connections = run.plan.connections;
    Advice::CompareConnections { fewer: (connections / 2).max(1), more: connections * 2 }
}
