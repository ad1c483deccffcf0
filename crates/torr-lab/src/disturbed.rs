//! What took CPU time from a run besides the server and the generator.

use torr_gauge::RunResult;
use torr_gauge::verdict::Fact;

/// The CPU use in cores from which another program disturbs a run that shares the machine with it.
const OTHERS: f64 = 0.1;
/// The stolen share of the machine's CPU time from which the hypervisor disturbs a run.
const STOLEN: f64 = 0.02;

/// Returns what took CPU time from a run. `None` if nothing did, or if the machine is not seen.
pub fn taken(run: &RunResult) -> Option<Fact> {
    let signals = run.signals.as_ref()?;
    let stolen = || {
        let share = signals.stolen_share();
        (share >= STOLEN).then_some(Fact::Steal { share })
    };
    Fact::other_programs(signals, OTHERS).or_else(stolen)
}
