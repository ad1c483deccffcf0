//! What took CPU time from a run besides the server and the generator.

use torr_gauge::RunResult;

/// The CPU use in cores from which another program disturbs a run that shares the machine with it.
const OTHERS: f64 = 0.1;
/// The stolen share of the machine's CPU time from which the hypervisor disturbs a run.
const STOLEN: f64 = 0.02;

/// Returns what took CPU time from a run, in words. `None` if nothing did, or if the machine is not seen.
pub fn taken(run: &RunResult) -> Option<String> {
    let signals = run.signals.as_ref()?;
    let stolen = signals.stolen_share();
    if let Some(others) = signals.busiest_others(OTHERS) {
        return Some(format!("other programs used the CPU ({others})"));
    }
    (stolen >= STOLEN).then(|| format!("the hypervisor took {:.0}% of the CPU time", stolen * 100.0))
}
