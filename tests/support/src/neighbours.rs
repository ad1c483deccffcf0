//! Neighbours: programs that want the CPU time of a measurement, and come and go.

use std::convert::Infallible;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The shortest and the longest visit or absence of a neighbour, as multiples of the mean.
const BOUNDS: [f64; 2] = [0.1, 4.0];

/// Neighbours, which end with this value.
pub struct Neighbours(Vec<Neighbour>);

/// A neighbour: a thread that starts and ends a process, again and again.
struct Neighbour {
    /// The channel that the thread waits on; its end is the signal to leave.
    staying: Sender<Infallible>,
    /// The thread, which returns for how long its processes ran.
    thread: JoinHandle<Duration>,
}

impl Neighbours {
    /// Starts neighbours, each of which wants a CPU for a random time and nothing for another. Both times are `about` as long; the seed
    /// repeats them.
    pub fn start(count: usize, about: Duration, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let start = |_| {
            let (staying, until) = mpsc::channel();
            let rng = rng.fork();
            Neighbour { staying, thread: thread::spawn(move || come_and_go(&until, about, rng)) }
        };
        Self((0..count).map(start).collect())
    }

    /// Ends all neighbours, and returns for how long their processes ran, added up.
    ///
    /// # Panics
    /// If a process could not be started.
    pub fn end(mut self) -> Duration {
        self.leave().map(|ran| ran.expect("setpriv of util-linux starts a shell")).sum()
    }

    fn leave(&mut self) -> impl Iterator<Item = thread::Result<Duration>> {
        let (staying, threads): (Vec<_>, Vec<_>) = self.0.drain(..).map(|one| (one.staying, one.thread)).unzip();
        drop(staying);
        threads.into_iter().map(JoinHandle::join)
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        // A thread that has panicked has no process left.
        self.leave().for_each(drop);
    }
}

/// Returns for how long processes ran until the other end of the channel is dropped.
fn come_and_go(until: &Receiver<Infallible>, about: Duration, mut rng: fastrand::Rng) -> Duration {
    let mut ran = Duration::ZERO;
    // Exponential, as times between independent events are.
    let mut time = || about.mul_f64((-(1.0 - rng.f64()).ln()).clamp(BOUNDS[0], BOUNDS[1]));
    loop {
        if is_over(until, time()) {
            return ran;
        }
        let begun = Instant::now();
        let visit = Busy::start();
        let is_over = is_over(until, time());
        drop(visit);
        ran += begun.elapsed();
        if is_over {
            return ran;
        }
    }
}

/// Waits, and returns whether the other end of the channel was dropped.
fn is_over(until: &Receiver<Infallible>, time: Duration) -> bool {
    until.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
}

/// A process that computes, and ends with this value or with the thread that started it.
struct Busy(Child);

impl Busy {
    fn start() -> Self {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig=KILL", "--", "sh", "-c", "while :; do :; done"]);
        let started = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        Self(started.expect("setpriv of util-linux is installed"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        // It computes until it is killed, so there is nothing to kill only if another program has done that.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_come_and_go_and_end() {
        let begun = Instant::now();
        let neighbours = Neighbours::start(2, Duration::from_millis(30), 7);
        thread::sleep(Duration::from_secs(1));
        let ran = neighbours.end();
        // Two neighbours, each roughly half of the time.
        let share = ran.as_secs_f64() / (2.0 * begun.elapsed().as_secs_f64());
        assert!((0.1..0.9).contains(&share), "{ran:?} is {share} of the time");
    }

    #[test]
    fn neighbours_end_at_once() {
        let begun = Instant::now();
        assert_eq!(Neighbours::start(2, Duration::from_secs(600), 1).end(), Duration::ZERO);
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    }
}
