//! The CPU time of both sides of a run, read once an interval from outside of the load threads.

use std::time::{Duration, Instant};
use torr_gauge::CpuUse;
use torr_gauge::generator::process_cpu;
use torr_signals::{Reading, Signals, Watcher};

/// The shortest time over which CPU time is read: the kernel counts that of a process in ticks of 10 ms, so that a figure
/// of less would be noise.
const LEAST: Duration = Duration::from_millis(50);

/// A meter of the generator's process and, where they are visible, of the server's processes.
pub(crate) struct HostMeter {
    watcher: Option<Watcher>,
    first: Option<Reading>,
    last: Mark,
    /// The interval that was read last.
    interval: Option<u64>,
}

/// The readings of both sides at one moment.
struct Mark {
    at: Instant,
    own: Duration,
    /// The CPU time of the server's side alone.
    reading: Option<Reading>,
}

impl Mark {
    fn now(watcher: Option<&Watcher>) -> Self {
        Self { at: Instant::now(), own: process_cpu(), reading: watcher.map(Watcher::cpu_reading) }
    }
}

impl HostMeter {
    /// Starts the measurement. Without a watcher the generator alone is measured.
    pub fn start(watcher: Option<Watcher>) -> Self {
        let first = watcher.as_ref().map(Watcher::reading);
        Self { first, last: Mark::now(watcher.as_ref()), watcher, interval: None }
    }

    /// Forgets the time before the measurement, which was the warm-up.
    pub fn restart(&mut self) {
        self.last = Mark::now(self.watcher.as_ref());
    }

    /// Returns what was used since the interval before, at the first call for an interval. `None` where the time since then is
    /// too short: a thread ended at once, or several intervals are reported together after a stall.
    pub fn read(&mut self, interval: u64) -> Option<CpuUse> {
        if self.interval.is_some_and(|last| last >= interval) || self.last.at.elapsed() < LEAST {
            return None;
        }
        self.interval = Some(interval);
        let before = std::mem::replace(&mut self.last, Mark::now(self.watcher.as_ref()));
        let between = before.reading.as_ref().zip(self.last.reading.as_ref());
        let signals = between.map(|(earlier, later)| Signals::between(earlier, later));
        let seconds = (self.last.at - before.at).as_secs_f64();
        Some(CpuUse::new(seconds, self.last.own.saturating_sub(before.own).as_secs_f64(), signals.as_ref()))
    }

    /// Returns the signals since the start of the run. It takes a look at all processes.
    pub fn signals(&self) -> Option<Signals> {
        let (first, watcher) = self.first.as_ref().zip(self.watcher.as_ref())?;
        Some(Signals::between(first, &watcher.reading()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Lets the marked moment be `LEAST` ago.
    fn let_time_pass(meter: &mut HostMeter) {
        meter.last.at = meter.last.at.checked_sub(LEAST).expect("the machine has run for longer");
    }

    #[test]
    fn a_sliver_of_time_is_no_interval() {
        let mut meter = HostMeter::start(None);
        assert_eq!(meter.read(0), None, "a thread that ended at once reported");
        let_time_pass(&mut meter);
        assert!(
            meter.read(0).is_some_and(|used| used.seconds >= LEAST.as_secs_f64()),
            "the interval is still to be had"
        );
        assert_eq!((meter.read(1), meter.read(2)), (None, None), "they were handed over together after a stall");
    }

    #[test]
    fn an_interval_costs_no_look_at_all_processes() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let watcher = Watcher::start(&[listener.local_addr().expect("it is bound")]).expect("it listens");
        let mut meter = HostMeter::start(Some(watcher));
        let_time_pass(&mut meter);
        assert!(meter.read(0).is_some());
        let reading = meter.last.reading.as_ref().expect("there is a watcher");
        assert!(reading.machine.is_some() && reading.network.is_none() && reading.others.is_empty(), "{reading:?}");
        let whole = meter.signals().expect("there is a watcher");
        assert!(whole.network.is_some() && whole.listeners.len() == 1, "the result has all signals: {whole:?}");
    }

    #[test]
    fn an_interval_is_read_once() {
        let mut meter = HostMeter::start(None);
        let_time_pass(&mut meter);
        let used = meter.read(0).expect("the first interval");
        assert!(used.seconds > 0.0 && used.server.is_none());
        let_time_pass(&mut meter);
        assert!(meter.read(0).is_none() && meter.read(1).is_some() && meter.signals().is_none());
        assert_eq!(meter.signals(), None);
    }
}
