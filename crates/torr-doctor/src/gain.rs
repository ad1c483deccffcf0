//! The gain that a verdict promises, computed from what was measured.
//!
//! A promise is for a stated change: the limit lifted altogether where that is possible (no lock, no quota), otherwise a change of a
//! stated size (a pool twice as large). Throughput then grows up to the next bound: the connections of the load, the CPU that is free,
//! the thread that does most, what a service that does nothing reaches.

use crate::figures::Figures;
use crate::thresholds::{
    CHEAPER_UNDER_LOAD, GAIN_SPREAD, GENERATOR_MATTERS, HARDLY_USED, LIGHT_LOAD_COST, NULL_EXCEEDED, OTHERS_DISTURB,
    SCALES_AT_LEAST, WAITING_WORKERS, WIDEST_GAIN, WORTH_PROMISING,
};
use crate::turns::Ratio;
use torr_gauge::verdict::{Change, Promise, UnknownGain};

/// The bounds of throughput once the present limit is lifted, as factors of the present throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// All connections of the load at work, each response in the time that it takes alone.
    pub connections: f64,
    /// The free CPU of the server's machine, at the present CPU time for each request, or why it is unknown.
    pub cpu: Result<f64, UnknownGain>,
    /// The server's busiest thread full, at its present CPU time for each request. `None` if no thread did anything.
    pub thread: Option<f64>,
    /// The factor by which CPU time for each request may fall under a full load.
    pub cheaper: f64,
    /// A service that does nothing. `None` if it was not measured.
    pub null: Option<f64>,
}

impl Bounds {
    /// Returns the bounds of an examined service. `alone_s` is the response time of a single request.
    pub fn of(figures: &Figures, alone_s: f64) -> Self {
        let rps = figures.rps().max(1e-9);
        let null = figures.yardstick();
        let cores = figures.server_cores().map(|server| server + figures.peer_cores() + figures.generator_there());
        let cheaper = cores.zip(null).zip(figures.cores()).map(|((used, null), cores)| {
            let (each, empty) = (used / rps, cores as f64 / null);
            each / (each - LIGHT_LOAD_COST * empty).max(empty).min(each.max(1e-12))
        });
        Self {
            connections: figures.in_flight as f64 / (alone_s * rps).max(1e-9),
            cpu: free_cpu(figures, cores),
            thread: figures.busiest_thread().map(|thread| thread.demand()).filter(|cores| *cores > 0.0).map(f64::recip),
            cheaper: cheaper.unwrap_or(CHEAPER_UNDER_LOAD),
            null: null.map(|null| null / rps),
        }
    }

    /// Returns the most that a service like this may reach, as far as one that does nothing tells.
    pub fn null_at_most(&self) -> f64 {
        self.null.map_or(f64::INFINITY, |null| null * NULL_EXCEEDED)
    }

    /// Returns the bounds of a service that gets more threads or processes, so that none of the present ones is a bound.
    pub fn with_more_threads(self) -> Self {
        Self { thread: None, ..self }
    }

    /// Returns the gain of a change that alone would bring between `low` and `high` times the throughput. What binds next may lie
    /// lower.
    pub fn gain(&self, (low, high): (f64, f64), change: Change) -> Promise {
        let cpu = match self.cpu {
            Ok(cpu) => cpu,
            Err(why) => return Promise::unknown(change, why),
        };
        let cpu = cpu.min(self.thread.unwrap_or(f64::INFINITY));
        let low = low.min(cpu).min(self.connections).min(self.null.unwrap_or(f64::INFINITY));
        let cpu_at_most = if cpu < HARDLY_USED { cpu * self.cheaper } else { f64::INFINITY };
        let high = high.min(cpu_at_most).min(self.connections).min(self.null_at_most());
        promised(low / GAIN_SPREAD, high * GAIN_SPREAD, change)
    }
}

/// Returns the free CPU of the server's machine as a factor of `used`, which are the cores of the server, of what it talks to and of the
/// generator. Where other programs use much of the machine, what they leave to a busier server is unknown.
fn free_cpu(figures: &Figures, used: Option<f64>) -> Result<f64, UnknownGain> {
    let room = figures.room().ok_or(UnknownGain::CpuNotVisible)?;
    let others = figures.machine_share().zip(figures.cores()).zip(used);
    match others.is_some_and(|((share, cores), used)| share - used / cores as f64 > OTHERS_DISTURB) {
        true => Err(UnknownGain::OthersUseCpu),
        false => Ok(room),
    }
}

/// Returns the gain between two factors, which are at least 1. Where they lie too far apart, the gain says what it can.
pub fn promised(low: f64, high: f64, change: Change) -> Promise {
    let low = low.max(1.0);
    let high = high.max(low);
    match high / low {
        width if width <= WIDEST_GAIN => Promise::between(low, high, change),
        _ if low >= WORTH_PROMISING => Promise::at_least(low, change, UnknownGain::NextLimitNotReached),
        _ => Promise::unknown(change, UnknownGain::NextLimitNotReached),
    }
}

/// Returns the gain that was measured in turns.
pub fn measured(ratio: &Ratio, change: Change) -> Promise {
    match ratio.pairs {
        0 | 1 => measured_once(ratio.ratio, change),
        _ => Promise::between(ratio.low, ratio.high, change),
    }
}

/// Returns the gain that one measurement showed.
pub fn measured_once(factor: f64, change: Change) -> Promise {
    promised(factor / GAIN_SPREAD, factor * GAIN_SPREAD, change)
}

/// Returns the interval of what more CPU brings, if it may bring up to `most` times the throughput.
pub fn in_proportion(most: f64) -> (f64, f64) {
    (SCALES_AT_LEAST * most, most)
}

/// Returns the gain of more workers, up to `most` times the throughput where nothing else needs the CPU.
pub fn by_workers(figures: &Figures, most: f64) -> Promise {
    let room = figures.room().unwrap_or(f64::INFINITY);
    let by_free_cpu = room < most;
    let elsewhere = (by_free_cpu && figures.generator_there() > GENERATOR_MATTERS).then_some(most);
    let (low, high) = in_proportion(room.min(most));
    promised(low, high, Change::MoreWorkers { by_free_cpu, elsewhere })
}

/// Returns the gain of `workers` that wait, if there are as many as advised for each CPU, or twice as many where there are many.
pub fn by_waiting_workers(bounds: &Bounds, workers: f64, cores: Option<usize>) -> Promise {
    let advised = |each: f64| each * cores.unwrap_or(1) as f64 / workers.max(1.0);
    let (least, most) = (advised(WAITING_WORKERS.0), advised(WAITING_WORKERS.1));
    match cores {
        Some(_) if most > 1.0 => bounds.gain((least, most), Change::AdvisedWorkers),
        _ => bounds.gain((2.0, 2.0), Change::TwiceTheWorkers),
    }
}

/// Returns the gain of requests that cost one part of the machine's used CPU half as much. `part` and `used` are in cores.
pub fn by_half(part: f64, used: f64, change: Change) -> Promise {
    let most = used / (used - part / 2.0).max(1e-9);
    promised(most / GAIN_SPREAD, most * GAIN_SPREAD, change)
}

/// Returns the gain of connections that are kept, where opening them took at least this share of the work.
pub fn by_kept_connections(share: f64, bounds: &Bounds) -> Promise {
    let without = |share: f64| if share < 1.0 { 1.0 / (1.0 - share) } else { f64::INFINITY };
    // The service that does nothing opens a connection as cheaply as can be. Twice that is taken for the most.
    let most = without(2.0 * share).min(bounds.null_at_most());
    promised(without(share.min(0.95)) / GAIN_SPREAD, most * GAIN_SPREAD, Change::KeptConnections)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::{Ladder, Rung};
    use torr_signals::{MachineUse, ProcessUse, Signals, ThreadUse};

    /// A service with 100/s that uses `server` of 2 CPUs in one thread, on the generator's machine.
    fn figures(server: f64, generator: f64, share: f64) -> Figures {
        let machine = MachineUse { cores: 2, cpu_share: share, steal_share: None, cpu_pressure: None };
        let threads = vec![ThreadUse { cores: server, ..ThreadUse::default() }];
        let processes = vec![ProcessUse { cores: server, threads, ..ProcessUse::default() }];
        Figures {
            connections: 100,
            in_flight: 100,
            ladder: Ladder(vec![Rung { connections: 100, rps: 100.0, median_s: 1.0 }]),
            signals: Some(Signals { machine: Some(machine), processes, ..Signals::default() }),
            same_machine: true,
            generator_cores: Some(generator),
            ..Figures::default()
        }
    }

    /// A change whose words do not matter.
    const SO: Change = Change::NoLock;

    fn ends(gain: &Promise) -> (Option<f64>, Option<f64>) {
        let round = |end: Option<f64>| end.map(|end| (end * 100.0).round() / 100.0);
        (round(gain.low), round(gain.high))
    }

    #[test]
    fn throughput_grows_up_to_the_next_bound() {
        let free = Bounds { connections: 50.0, cpu: Ok(20.0), thread: None, cheaper: 1.0, null: None };
        for (what, bounds, change, expected) in [
            ("all that the change brings", free, (4.0, 8.0), (Some(3.64), Some(8.8))),
            ("the connections", Bounds { connections: 3.0, ..free }, (10.0, 10.0), (Some(2.73), Some(3.3))),
            ("the CPU", Bounds { cpu: Ok(2.0), ..free }, (10.0, 10.0), (Some(1.82), Some(2.2))),
            ("the CPU, cheaper", Bounds { cpu: Ok(2.0), cheaper: 3.0, ..free }, (10.0, 10.0), (Some(1.82), Some(6.6))),
            ("one thread", Bounds { thread: Some(5.0), ..free }, (10.0, 10.0), (Some(4.55), Some(5.5))),
            ("a service that does nothing", Bounds { null: Some(6.0), ..free }, (8.0, 9.5), (Some(5.45), Some(9.9))),
            ("the CPU, hardly used", Bounds { cpu: Ok(9.0), ..free }, (20.0, 20.0), (Some(8.18), Some(22.0))),
            ("nothing is free", Bounds { cpu: Ok(1.0), ..free }, (10.0, 10.0), (Some(1.0), Some(1.1))),
            ("a wide interval", Bounds { cpu: Ok(2.0), cheaper: 8.0, ..free }, (50.0, 50.0), (Some(1.82), Some(17.6))),
            ("too wide an interval", Bounds { cpu: Ok(2.0), cheaper: 20.0, ..free }, (50.0, 50.0), (Some(1.82), None)),
            (
                "the machine is not seen",
                Bounds { cpu: Err(UnknownGain::CpuNotVisible), ..free },
                (2.0, 2.0),
                (None, None),
            ),
        ] {
            let gain = bounds.gain(change, SO);
            assert_eq!(ends(&gain), expected, "{what}: {gain:?}");
            assert_eq!(gain.unknown.is_some(), gain.low.is_none() || gain.high.is_none(), "{what}: {gain:?}");
        }
    }

    #[test]
    fn bounds_follow_from_what_was_measured() {
        // 2 ms of CPU for each request.
        let bounds = Bounds::of(&figures(0.2, 0.0, 0.1), 0.005);
        assert_eq!((bounds.connections, bounds.cpu, bounds.thread), (200.0, Ok(10.0), Some(5.0)));
        assert_eq!(
            (bounds.cheaper, bounds.null),
            (CHEAPER_UNDER_LOAD, None),
            "no service that does nothing was measured"
        );
        for (null, cheaper) in [(1e6, 1.01), (20_000.0, 1.82), (10_000.0, 10.0), (1_000.0, 1.0)] {
            let bounds = Bounds::of(&Figures { null_rps: Some(null), ..figures(0.2, 0.0, 0.1) }, 0.005);
            assert!((bounds.cheaper - cheaper).abs() < 0.01, "{null}: {bounds:?}");
        }
        assert_eq!(Bounds::of(&Figures::default(), 0.005).cpu, Err(UnknownGain::CpuNotVisible));
        assert!(Bounds::of(&figures(0.2, 0.0, 0.3), 0.005).cpu.is_ok_and(|cpu| (cpu - 8.0).abs() < 1e-9));
        assert_eq!(Bounds::of(&figures(0.2, 0.0, 0.9), 0.005).cpu, Err(UnknownGain::OthersUseCpu));
    }

    #[test]
    fn more_workers_need_free_cpu() {
        for (what, figures, low, high, by_free_cpu, elsewhere) in [
            ("the generator has the other CPU", figures(1.0, 0.95, 0.98), 1.0, 1.02, true, Some(2.0)),
            ("some is free", figures(0.8, 0.4, 0.6), 1.33, 1.67, true, Some(2.0)),
            ("all is free", figures(1.0, 0.0, 0.5), 1.6, 2.0, false, None),
            ("another program has it", figures(1.0, 0.0, 1.0), 1.0, 1.0, true, None),
        ] {
            let gain = by_workers(&figures, 2.0);
            assert_eq!(ends(&gain), (Some(low), Some(high)), "{what}");
            assert_eq!(gain.change, Change::MoreWorkers { by_free_cpu, elsewhere }, "{what}");
        }
    }

    #[test]
    fn workers_that_wait_are_promised_as_many_times_as_are_advised() {
        let free = Bounds { connections: 50.0, cpu: Ok(50.0), thread: None, cheaper: 1.0, null: None };
        for (workers, cores, expected) in [
            (4.0, Some(2), (1.82, 4.4)),
            (1.0, Some(2), (7.27, 17.6)),
            (10.0, Some(2), (1.0, 1.76)),
            (16.0, Some(2), (1.82, 2.2)),
            (4.0, None, (1.82, 2.2)),
        ] {
            let gain = by_waiting_workers(&free, workers, cores);
            assert_eq!(ends(&gain), (Some(expected.0), Some(expected.1)), "{workers} on {cores:?}");
        }
    }

    #[test]
    fn requests_and_queries_of_half_the_cost() {
        assert_eq!(ends(&by_half(2.0, 2.0, SO)), (Some(1.82), Some(2.2)));
        assert_eq!(ends(&by_half(1.0, 2.0, SO)), (Some(1.21), Some(1.47)), "others use the other half");
    }

    #[test]
    fn kept_connections_bring_at_least_what_opening_them_costs() {
        for (share, null, expected) in [
            (0.2, None, (Some(1.14), Some(1.83))),
            (0.62, Some(4.3), (Some(2.39), Some(7.1))),
            (0.74, Some(170.0), (Some(3.5), None)),
            (0.05, None, (Some(1.0), Some(1.22))),
        ] {
            let bounds = Bounds { connections: 50.0, cpu: Ok(20.0), thread: None, cheaper: 1.0, null };
            assert_eq!(ends(&by_kept_connections(share, &bounds)), expected, "{share}");
        }
    }

    #[test]
    fn what_was_measured_in_turns_is_promised_with_its_interval() {
        let turns = Ratio::over(&[(100.0, 200.0), (100.0, 210.0), (100.0, 190.0)]);
        assert_eq!(ends(&measured(&turns, SO)), ends(&Promise::between(turns.low, turns.high, SO)));
        assert_eq!(ends(&measured(&Ratio::over(&[(100.0, 200.0)]), SO)), (Some(1.82), Some(2.2)), "one pair");
    }
}
