//! The verdict of a plain run: what its signals alone point to. Nothing was varied, so it is never more than likely.
//!
//! The order matters: a load of which a part was lost or ended early says nothing of anything, nor does a handful of
//! responses; a run that kept its scheduled rate has no limit to be found; a run that fails, or runs out of ports, says
//! nothing of the server's speed; and a generator that could not keep up says nothing of anything else.

mod behind;
mod busy;
mod connecting;
mod failing;
mod few;
mod fleet;
mod kept;
mod seen;
mod sessions;
mod streams;
#[cfg(test)]
mod tests;
mod wire;

pub use wire::link;

use crate::locate::is_in_the_server;
use crate::{calm, witnesses};
use seen::{busy_generator, other_programs, undecided};
use torr_gauge::verdict::{Advice, Fact, Finding, Headline, Hypothesis};
use torr_gauge::{Factor, RunResult};

/// A rule about a single run.
type Rule = fn(&RunResult) -> Option<Finding>;

/// The rules in their order. A rule about servers that are busy or wait also names what most likely limited a run that other programs
/// disturbed.
const RULES: [(Kind, Rule); 24] = [
    (Kind::Other, fleet::rule),
    (Kind::Other, few::rule),
    (Kind::Other, kept::rule),
    (Kind::Other, kept::failures),
    (Kind::Other, failing::client_ports),
    (Kind::Other, wire::delayed_ack),
    (Kind::Other, failing::backlog),
    (Kind::Other, failing::refusals),
    (Kind::Other, failing::errors),
    (Kind::Other, sessions::rule),
    (Kind::Other, connecting::handshakes),
    (Kind::Other, connecting::keep_alive),
    (Kind::BusyOrWaits, behind::quota),
    (Kind::Other, wire::delay),
    (Kind::BusyOrWaits, wire::connections),
    (Kind::BusyOrWaits, behind::database),
    (Kind::Other, busy::disturbed),
    (Kind::BusyOrWaits, behind::rows),
    (Kind::BusyOrWaits, behind::proxy),
    (Kind::BusyOrWaits, busy::full_machine),
    // A full link keeps a generator awake that has many connections.
    (Kind::BusyOrWaits, wire::link),
    (Kind::BusyOrWaits, busy::one_side),
    (Kind::BusyOrWaits, behind::waiting),
    (Kind::Other, failing::slow_connections),
];

/// The rules about a run whose responses are streams, in their order. Those about response times are left out: how long a stream lasts
/// tells nothing.
const OF_STREAMS: [(Kind, Rule); 16] = [
    (Kind::Other, fleet::rule),
    (Kind::Other, streams::few),
    (Kind::Other, kept::rule),
    (Kind::Other, kept::failures),
    (Kind::Other, failing::client_ports),
    (Kind::Other, failing::refusals),
    (Kind::Other, failing::errors),
    (Kind::BusyOrWaits, behind::quota),
    (Kind::BusyOrWaits, behind::database),
    (Kind::Other, busy::disturbed),
    (Kind::BusyOrWaits, busy::full_machine),
    (Kind::BusyOrWaits, wire::link),
    (Kind::BusyOrWaits, busy::one_side),
    (Kind::Other, streams::connections),
    (Kind::Other, streams::waiting),
    (Kind::Other, streams::pace),
];

/// The subject of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// What a server, or the generator, is busy with or waits for.
    BusyOrWaits,
    /// Anything else.
    Other,
}

/// Names the factor that limited a run, or says that none did or that it does not know.
pub fn passive(run: &RunResult) -> Finding {
    let mut finding = rules_of(run).iter().find_map(|(_, rule)| rule(run)).unwrap_or_else(|| unknown(run));
    if finding.headline == Headline::OthersUseCpu {
        finding.hypotheses = hypotheses(run);
        let best = finding.hypotheses.first().map(|best| best.factor);
        finding.advice.extend(best.map(|factor| Advice::Prove { factor }));
    }
    let queue = match finding.factor {
        Factor::AcceptBacklog => vec![],
        _ => witnesses::accept_queue(run, run.signals.as_ref()),
    };
    // A rate that was kept has these among its evidence already.
    let hidden = match finding.factor {
        Factor::None => vec![],
        _ => kept::stops(run),
    };
    let finding = finding.because(kept::shortfall(run)).because(hidden).because(queue);
    // A plain run samples no threads. Of handshakes the function is known.
    let is_located = finding.factor != Factor::TlsHandshake && is_in_the_server(finding.factor);
    let is_locatable = run.host.is_some() && is_located;
    if is_locatable && !finding.advice.contains(&Advice::Diagnose) { finding.advice(Advice::Locate) } else { finding }
}

/// Returns the rules about a run, in their order.
fn rules_of(run: &RunResult) -> &'static [(Kind, Rule)] {
    if run.streams.is_some() { &OF_STREAMS } else { &RULES }
}

/// Returns what most likely limited a run that other programs disturbed: what the rules about busy and waiting servers find as if no other
/// program had run.
fn hypotheses(run: &RunResult) -> Vec<Hypothesis> {
    let is_applied = |(kind, _): &&(Kind, Rule)| *kind == Kind::BusyOrWaits;
    let named =
        calm::run(run).and_then(|run| rules_of(&run).iter().filter(is_applied).find_map(|(_, rule)| rule(&run)));
    named.into_iter().map(|finding| Hypothesis { factor: finding.factor, readings: 1, of: 1 }).collect()
}

fn unknown(run: &RunResult) -> Finding {
    let finding = undecided(Headline::UnclearNow).because(busy_generator(run));
    let finding = match &run.host {
        Some(host) => finding
            .because(Fact::ServerCpu { used_cores: host.server_cores, cores: Some(host.cores), busiest_thread: None })
            .because(Fact::MachineCpu { share: host.cpu_share, cores: None }),
        None => finding.because(Fact::ServerNotVisible),
    };
    let connections = run.plan.connections;
    finding
        .because(other_programs(run))
        .advice(Advice::CompareConnections { fewer: (connections / 2).max(1), more: connections * 2 })
}
