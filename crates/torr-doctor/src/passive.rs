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
#[cfg(test)]
mod tests;
mod wire;

use crate::{calm, witnesses};
use seen::{busy_generator, other_programs, undecided};
use torr_gauge::verdict::{Advice, Fact, Finding, Headline, Hypothesis};
use torr_gauge::{Factor, RunResult};

/// A rule about a single run.
type Rule = fn(&RunResult) -> Option<Finding>;

/// Names the factor that limited a run, or says that none did or that it does not know.
pub fn passive(run: &RunResult) -> Finding {
    let rules: [Rule; 24] = [
        fleet::rule,
        few::rule,
        kept::rule,
        kept::failures,
        failing::client_ports,
        wire::delayed_ack,
        failing::backlog,
        failing::refusals,
        failing::errors,
        sessions::rule,
        connecting::handshakes,
        connecting::keep_alive,
        behind::quota,
        wire::delay,
        wire::connections,
        behind::database,
        busy::disturbed,
        behind::rows,
        behind::proxy,
        busy::full_machine,
        // A full link keeps a generator awake that has many connections.
        wire::link,
        busy::one_side,
        behind::waiting,
        failing::slow_connections,
    ];
    let mut finding = rules.iter().find_map(|rule| rule(run)).unwrap_or_else(|| unknown(run));
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
    finding.because(kept::shortfall(run)).because(hidden).because(queue)
}

/// Returns what most likely limited a run that other programs disturbed: what the rules about busy and waiting servers find as if no other
/// program had run.
fn hypotheses(run: &RunResult) -> Vec<Hypothesis> {
    let rules: [Rule; 9] = [
        behind::quota,
        wire::connections,
        behind::database,
        behind::rows,
        behind::proxy,
        busy::full_machine,
        wire::link,
        busy::one_side,
        behind::waiting,
    ];
    let named = calm::run(run).and_then(|run| rules.iter().find_map(|rule| rule(&run)));
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
