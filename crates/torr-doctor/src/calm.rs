//! What a disturbed machine would have shown without other programs, as far as the kernel's counts tell: a thread that was runnable
//! without a CPU would have used one.

use torr_gauge::RunResult;
use torr_gauge::host::Host;
use torr_signals::{ProcessUse, Signals};

/// Returns signals as if each thread had used a CPU in all the time in which it was runnable, and no other program had run.
/// `generator_cores` is the CPU of the generator on this machine.
pub fn signals(mut signals: Signals, generator_cores: f64) -> Signals {
    let peers = signals.peers.iter_mut().flat_map(|peer| &mut peer.processes);
    signals.processes.iter_mut().chain(peers).for_each(fulfil);
    let used = signals.server_cores() + signals.peer_cores() + generator_cores;
    signals.others.clear();
    if let Some(machine) = &mut signals.machine {
        machine.cpu_share = (used / machine.cores.max(1) as f64).min(1.0);
        machine.steal_share = None;
    }
    signals
}

/// Returns a run with such signals. `None` if the machine was not visible.
pub fn run(run: &RunResult) -> Option<RunResult> {
    let signals = self::signals(run.signals.clone()?, run.generator_cores()?);
    Some(RunResult { host: Host::of(&signals), signals: Some(signals), ..run.clone() })
}

/// Gives each thread of a process the CPU time in which it was runnable.
fn fulfil(process: &mut ProcessUse) {
    for thread in &mut process.threads {
        let wanted = thread.demand().min(1.0);
        process.cores += wanted - thread.cores;
        (thread.cores, thread.queued) = (wanted, thread.queued.map(|_| 0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_signals::{MachineUse, ProgramUse, ThreadUse};

    #[test]
    fn a_thread_that_waited_for_a_cpu_would_have_used_it() {
        let thread = |cores, queued| ThreadUse { cores, queued, ..ThreadUse::default() };
        let threads = vec![thread(0.5, Some(0.45)), thread(0.8, Some(0.4)), thread(0.1, None)];
        let disturbed = Signals {
            machine: Some(MachineUse { cores: 4, cpu_share: 1.0, ..MachineUse::default() }),
            processes: vec![ProcessUse { cores: 1.4, threads, ..ProcessUse::default() }],
            others: vec![ProgramUse { name: "cc".into(), cores: 2.6 }],
            ..Signals::default()
        };
        let calm = signals(disturbed, 0.2);
        let cores: Vec<_> = calm.threads().map(|thread| thread.cores).collect();
        assert_eq!(cores, [0.95, 1.0, 0.1]);
        let share = calm.machine.map_or(0.0, |machine| machine.cpu_share);
        assert!((share - (2.05 + 0.2) / 4.0).abs() < 1e-9 && calm.others.is_empty(), "{calm:?}");
    }
}
