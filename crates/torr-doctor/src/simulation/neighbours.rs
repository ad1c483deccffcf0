//! Other programs on the server's machine, which come and go while a diagnosis runs.

use fastrand::Rng;
use std::time::Duration;

/// The time until which neighbours are planned, in seconds: longer than any diagnosis.
const PLANNED_S: f64 = 120.0;

/// Other programs, as the number of threads that want a CPU at a time.
#[derive(Debug, Clone, Default)]
pub struct Neighbours {
    /// The phases in their order: the end in seconds since the diagnosis began, and the threads that want a CPU until then.
    phases: Vec<(f64, f64)>,
    /// The longest time in seconds that a thread which becomes runnable waits for a CPU while the neighbours use all of them.
    wake_s: f64,
}

/// What neighbours do to the programs of a diagnosis during an experiment.
#[derive(Debug, Clone, Copy)]
pub struct Pressure {
    /// The mean number of the neighbours' threads that want a CPU.
    pub threads: f64,
    /// The factor by which computing takes longer, since threads wait for a CPU.
    pub slowdown: f64,
    /// The mean time in seconds that a thread which becomes runnable waits for a CPU.
    pub wake_s: f64,
}

impl Pressure {
    /// No neighbours.
    pub const NONE: Self = Self { threads: 0.0, slowdown: 1.0, wake_s: 0.0 };

    /// Returns the cores that the neighbours get on a machine of which the diagnosis uses `used`.
    pub fn taken(&self, cores: usize, used: f64) -> f64 {
        self.threads.min((cores as f64 - used).max(0.0))
    }
}

impl Neighbours {
    /// Returns random neighbours of a machine with so many CPUs: always there, on and off, ever fewer, or now and then.
    pub fn random(random: &mut Rng, cores: usize) -> Self {
        let most = cores as f64 * (0.25 + 1.75 * random.f64());
        let wake_s = 20e-6 * 200f64.powf(random.f64());
        let mut phases = vec![];
        let mut at_s = 0.0;
        let kind = random.u8(..5);
        let (period_s, share) = (0.3 * 60f64.powf(random.f64()), 0.1 + 0.8 * random.f64());
        let mut is_on = random.bool();
        while at_s < PLANNED_S {
            let (length_s, threads) = match kind {
                0 => (PLANNED_S, most),
                1 => (period_s * if is_on { share } else { 1.0 - share }, if is_on { most } else { 0.0 }),
                // They fall, or rise, for a while.
                2 => (0.5, most * (1.0 - at_s / (2.0 * period_s)).max(0.0)),
                3 => (0.5, most * (at_s / (2.0 * period_s)).min(1.0)),
                _ => (period_s * 2.0 * random.f64(), most * random.f64() * f64::from(u8::from(random.bool()))),
            };
            at_s += length_s.max(0.05);
            phases.push((at_s, threads));
            is_on = !is_on;
        }
        Self { phases, wake_s }
    }

    /// Returns so many threads that end after a while.
    pub fn until(ends_s: f64, threads: f64, wake_s: f64) -> Self {
        Self { phases: vec![(ends_s, threads), (PLANNED_S, 0.0)], wake_s }
    }

    /// Returns the mean number of threads that want a CPU from one time until another.
    fn threads(&self, from: Duration, until: Duration) -> f64 {
        let (from, until) = (from.as_secs_f64(), until.as_secs_f64().max(from.as_secs_f64() + 1e-3));
        let mut begin = 0.0;
        let mut sum = 0.0;
        for &(end, threads) in &self.phases {
            sum += threads * (until.min(end) - from.max(begin)).max(0.0);
            begin = end;
        }
        sum / (until - from)
    }

    /// Returns what they do from one time until another to programs that want `wanted` CPUs with `own` threads on a machine with so many.
    pub fn pressure(
        &self,
        (from, until): (Duration, Duration),
        cores: usize,
        own: f64,
        wanted: f64,
        random: &mut Rng,
    ) -> Pressure {
        let threads = self.threads(from, until);
        if threads <= 0.0 {
            return Pressure::NONE;
        }
        let all = cores as f64;
        // The scheduler gives each thread as much, and to those that want less what they want.
        let fair = (all * own / (own + threads)).min(own);
        let got = wanted.min(fair.max(all - threads)).max(1e-9);
        // It does not balance perfectly between CPUs.
        let off = 0.7 + 1.1 * random.f64();
        let slowdown = 1.0 + (wanted / got - 1.0).max(0.0) * off;
        let are_taken = (threads / all).min(1.0).powf(all.min(4.0));
        Pressure { threads, slowdown, wake_s: self.wake_s * are_taken * (0.5 + random.f64()) }
    }
}
