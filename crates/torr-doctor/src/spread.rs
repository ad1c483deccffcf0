//! How the load was spread over the server's workers. A connection stays with the worker that accepted it, and where all wait
//! for the same socket, one of them may get nearly all connections.

use crate::thresholds::{FULL_THREAD, IDLE_WORKER, WORKED_BEFORE};
use torr_signals::Signals;

/// Returns the number of workers that idled while another was saturated, although they worked in other experiments.
pub fn idle_workers<'s>(seen: &Signals, others: impl Iterator<Item = &'s Signals> + Clone) -> usize {
    if !seen.threads().any(|thread| thread.demand() >= FULL_THREAD) {
        return 0;
    }
    let worked = |tid: i32| {
        others.clone().flat_map(Signals::threads).any(|other| other.tid == tid && other.cores >= WORKED_BEFORE)
    };
    seen.threads().filter(|thread| thread.demand() < IDLE_WORKER && worked(thread.tid)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_signals::{ProcessUse, ThreadUse};

    /// Threads by their numbers, with the CPU that each had and that it waited for.
    fn seen(threads: &[(i32, f64, f64)]) -> Signals {
        let process = |&(tid, cores, queued): &(i32, f64, f64)| {
            let thread = ThreadUse { tid, cores, queued: Some(queued), ..ThreadUse::default() };
            ProcessUse { pid: tid, cores, threads: vec![thread], ..ProcessUse::default() }
        };
        Signals { processes: threads.iter().map(process).collect(), ..Signals::default() }
    }

    #[test]
    fn a_worker_that_idles_is_one_that_has_worked_before() {
        let before = [
            seen(&[(1, 0.9, 0.1), (2, 0.0, 0.0), (3, 0.1, 0.0)]),
            seen(&[(1, 0.7, 0.2), (2, 0.5, 0.3), (3, 0.0, 0.0)]),
        ];
        for (now, idle) in [
            (seen(&[(1, 0.95, 0.0), (2, 0.0, 0.0), (3, 0.0, 0.0)]), 1),
            (seen(&[(1, 0.0, 0.0), (2, 0.7, 0.2), (3, 0.2, 0.0)]), 1),
            // It has as much to do, but gets no CPU.
            (seen(&[(1, 0.95, 0.0), (2, 0.1, 0.8), (3, 0.0, 0.0)]), 0),
            // No worker is saturated: they wait for something else.
            (seen(&[(1, 0.4, 0.0), (2, 0.0, 0.0), (3, 0.0, 0.0)]), 0),
            // Another process has replaced it.
            (seen(&[(1, 0.95, 0.0), (4, 0.0, 0.0)]), 0),
        ] {
            assert_eq!(idle_workers(&now, before.iter()), idle, "{now:?}");
        }
    }
}
