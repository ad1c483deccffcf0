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

use crate::words::percent;
use seen::{others, undecided};
use torr_gauge::{RunResult, Verdict};

/// Names the factor that limited a run, or says that none did or that it does not know.
pub fn passive(run: &RunResult) -> Verdict {
    let rules = [
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
        busy::one_side,
        wire::link,
        behind::waiting,
    ];
    let verdict = rules.iter().find_map(|rule| rule(run)).unwrap_or_else(|| unknown(run));
    verdict.because_if(kept::shortfall(run))
}

fn unknown(run: &RunResult) -> Verdict {
    let verdict = undecided("What was seen does not tell what limits the service.")
        .because(format!("the generator's busiest thread had work {} of the time", percent(run.generator.busy_share)));
    let verdict = match &run.host {
        Some(host) => verdict.because(format!(
            "the server used {:.2} of {} CPUs, and the machine {}",
            host.server_cores,
            host.cores,
            percent(host.cpu_share)
        )),
        None => verdict.because("the server's processes cannot be seen from here"),
    };
    verdict.because_if(others(run)).advice(format!(
        "press again with half and with twice the connections ({} and {}) and compare",
        (run.plan.connections / 2).max(1),
        run.plan.connections * 2
    ))
}
