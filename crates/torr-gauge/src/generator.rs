//! The CPU use of the load generator, which shows whether the generator was the bottleneck of a run.

use crate::Latency;
use crate::bounds::{Bounded, LONGEST_S, OutOfBounds, within};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The busy share above which a thread counts as saturated.
pub const SATURATED: f64 = 0.95;

/// A meter of the thread that created it.
#[derive(Debug)]
pub struct ThreadMeter {
    started: Instant,
    cpu: Duration,
    queued: Option<Duration>,
}

/// The resource use of one thread of the generator.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct ThreadCost {
    /// The elapsed time.
    pub wall: Duration,
    /// The CPU time.
    pub cpu: Duration,
    /// The time spent runnable without a CPU. `None` if the kernel does not report it.
    pub queued: Option<Duration>,
    /// The time spent in `epoll_wait`.
    pub idle: Duration,
}

impl Bounded for ThreadCost {
    fn bound(&mut self, _: u64) -> Result<(), OutOfBounds> {
        let &mut Self { wall, cpu, queued, idle } = self;
        // A thread lives a little longer than its run, and CPU time has the ticks of the kernel.
        let longest = (2 * LONGEST_S) as f64;
        let times = [Some(wall), Some(cpu), queued, Some(idle)].into_iter().flatten();
        times.map(|time| time.as_secs_f64()).try_for_each(|seconds| within("threads", seconds, 0.0..=longest))
    }
}

impl ThreadMeter {
    /// Starts a measurement of the calling thread.
    pub fn start() -> Self {
        Self { started: Instant::now(), cpu: thread_cpu(), queued: run_queue_wait() }
    }

    /// Begins the elapsed time anew, after a wait: reading the CPU time anew takes as long as a hundred waits do.
    pub fn begin_time(&mut self) {
        self.started = Instant::now();
    }

    /// Returns the use since the start of the calling thread, which must be the one that called [`ThreadMeter::start`]. The
    /// thread passes its idle time.
    pub fn read(&self, idle: Duration) -> ThreadCost {
        ThreadCost {
            wall: self.started.elapsed(),
            cpu: thread_cpu().saturating_sub(self.cpu),
            queued: run_queue_wait().zip(self.queued).map(|(now, then)| now.saturating_sub(then)),
            idle,
        }
    }
}

/// Returns the CPU time that this process has used so far.
pub fn process_cpu() -> Duration {
    cpu_of(ClockId::ProcessCPUTime)
}

fn thread_cpu() -> Duration {
    cpu_of(ClockId::ThreadCPUTime)
}

fn cpu_of(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn run_queue_wait() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split_whitespace().nth(1)?.parse().ok()?))
}

/// The resource use of the generator, all threads together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// The CPU time in microseconds per response. `None`, as are the shares, if nothing is known of any thread: a fleet whose agents
    /// were all lost.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_us_per_request: Option<f64>,
    /// The CPU time as a share of the threads' elapsed time, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_share: Option<f64>,
    /// The share of the time in which the busiest thread was not idle, 0 to 1. Near 1 the generator may limit the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub busy_share: Option<f64>,
    /// The share of the time in which threads were runnable without a CPU, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queued_share: Option<f64>,
    /// The 99th percentile of the send lag in microseconds, the maximum if samples are few. Open loop only: a closed loop has
    /// no schedule.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub send_lag_p99_us: Option<u64>,
    /// Whether a thread of the generator was saturated.
    pub saturated: bool,
    /// The source of the times of responses.
    #[serde(default)]
    pub timestamps: TimestampSource,
}

/// The source of the times of responses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimestampSource {
    /// The kernel's time stamps of arriving packets, whenever they were read.
    Kernel,
    /// The generator's clock when it read them.
    #[default]
    User,
}

impl Generator {
    /// Returns the CPU time in microseconds that the threads of a run used for each of so many events; `None` without any.
    pub fn cpu_us_per_event(threads: &[ThreadCost], events: u64) -> Option<f64> {
        let cpu: Duration = threads.iter().map(|thread| thread.cpu).sum();
        (events > 0 && !threads.is_empty()).then(|| round3(cpu.as_secs_f64() * 1e6 / events as f64))
    }

    /// Sums up the threads of a run with this number of responses and this send lag.
    pub fn of(threads: &[ThreadCost], requests: u64, lag: &Latency) -> Self {
        let sum = |part: fn(&ThreadCost) -> Duration| threads.iter().map(part).sum::<Duration>().as_secs_f64();
        let wall = sum(|t| t.wall).max(f64::MIN_POSITIVE);
        let busy = |t: &ThreadCost| 1.0 - t.idle.as_secs_f64() / t.wall.as_secs_f64().max(f64::MIN_POSITIVE);
        let busy_share = threads.iter().map(busy).reduce(f64::max).map(|busy| busy.clamp(0.0, 1.0));
        let known = |figure: f64| busy_share.map(|_| round3(figure));
        let queued: Option<Duration> = threads.iter().map(|t| t.queued).sum();
        Self {
            cpu_us_per_request: known(sum(|t| t.cpu) * 1e6 / requests.max(1) as f64),
            cpu_share: known(sum(|t| t.cpu) / wall),
            busy_share: busy_share.map(round3),
            queued_share: queued.filter(|_| busy_share.is_some()).map(|queued| round3(queued.as_secs_f64() / wall)),
            send_lag_p99_us: lag.summary().map(|lag| lag.p99.unwrap_or(lag.max)),
            saturated: busy_share.is_some_and(|busy| busy >= SATURATED),
            timestamps: TimestampSource::default(),
        }
    }
}

pub(crate) fn round3(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_saturated_thread_is_enough() {
        let second = Duration::from_secs(1);
        let busy = ThreadCost { wall: second, cpu: second / 2, queued: Some(second / 4), idle: Duration::ZERO };
        let idle = ThreadCost { wall: second, cpu: second / 10, queued: None, idle: second / 2 };
        let both = Generator::of(&[busy, idle], 600_000, &Latency::default());
        assert_eq!((both.cpu_us_per_request, both.cpu_share, both.busy_share), (Some(1.0), Some(0.3), Some(1.0)));
        assert!(both.saturated);
        assert_eq!(both.queued_share, None, "unknown for one is unknown for all");
        let one = Generator::of(&[busy], 0, &Latency::default());
        assert_eq!(one.queued_share, Some(0.25));
        assert!(!Generator::of(&[idle], 1, &Latency::default()).saturated);
        let lost = serde_json::to_value(Generator::of(&[], 1, &Latency::default())).expect("it is JSON");
        assert_eq!(lost, serde_json::json!({"saturated": false, "timestamps": "user"}), "nothing is known");
    }

    #[test]
    fn a_thread_measures_its_own_cpu_time() {
        let meter = ThreadMeter::start();
        let begin = thread_cpu();
        while thread_cpu() - begin < Duration::from_millis(20) {}
        let used = meter.read(Duration::ZERO);
        assert!(used.cpu >= Duration::from_millis(20) && used.wall >= Duration::from_millis(20), "{used:?}");
    }
}
