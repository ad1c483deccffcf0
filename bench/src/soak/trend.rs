//! Samples of processes' memory and descriptors, and their slope with its interval.

use std::collections::BTreeMap;
use std::fs;

use serde::Serialize;

/// The part of a run that is its warm-up: caches, pools and series fill.
pub const WARM_UP: f64 = 0.25;
/// The most samples of a process that are archived.
const POINTS: usize = 120;
/// Seconds until the series of a result have all their points: before, memory of loads grows by design, so that growth in
/// a run with a shorter warm-up is no fault.
const SERIES_FULL: f64 = 1024.0;
/// Growth over the measured part, as a share of the mean, below which memory counts as flat: what allocators keep.
const FLAT_SHARE: f64 = 0.03;
/// Growth over the measured part in KiB below which memory counts as flat: pages of a small process.
const FLAT_KIB: f64 = 512.0;
/// Growth over the measured part below which descriptors count as flat: the connections of a load, which opens them when
/// requests that are due find none free.
const FLAT_DESCRIPTORS: f64 = 20.0;

/// What is sampled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// The proportional share of resident memory (Pss) that no file backs.
    MemoryKib,
    Descriptors,
}

impl Quantity {
    fn flat(self, mean: f64) -> f64 {
        match self {
            Self::MemoryKib => (mean * FLAT_SHARE).max(FLAT_KIB),
            Self::Descriptors => FLAT_DESCRIPTORS,
        }
    }
}

/// Samples by process and quantity: seconds since the start of the load, and the value.
#[derive(Default)]
pub struct Samples(BTreeMap<(String, Quantity), Vec<(f64, f64)>>);

impl Samples {
    /// Adds the sum over these processes.
    pub fn take(&mut self, name: &str, pids: &[u32], seconds: f64) {
        let both = [(Quantity::MemoryKib, memory as fn(u32) -> u64), (Quantity::Descriptors, descriptors)];
        for (quantity, of) in both {
            let sum: u64 = pids.iter().map(|&pid| of(pid)).sum();
            self.0.entry((name.to_owned(), quantity)).or_default().push((seconds, sum as f64));
        }
    }

    /// Fits each process's samples; those of the warm-up, and those that `is_disturbed`, do not count.
    ///
    /// `grows` is not set if the warm-up is too short for it.
    pub fn trends(&self, length: f64, is_disturbed: impl Fn(f64) -> bool) -> Vec<Trend> {
        let counts = |&&(t, _): &&(f64, f64)| t >= length * WARM_UP && !is_disturbed(t);
        let fitted = self.0.iter().filter_map(|((name, quantity), samples)| {
            let counted: Vec<_> = samples.iter().filter(counts).copied().collect();
            let mut trend = Trend::fit(name, *quantity, &counted)?;
            let every = samples.len().div_ceil(POINTS);
            trend.points = samples.iter().step_by(every).map(|&(t, value)| (t as u64, value as u64)).collect();
            trend.grows &= can_judge(length);
            Some(trend)
        });
        fitted.collect()
    }
}

/// Whether a run of this length in seconds has a warm-up after which all has to be flat.
pub fn can_judge(length: f64) -> bool {
    length * WARM_UP >= SERIES_FULL
}

/// The slope of a process's memory or descriptors.
#[derive(Serialize)]
pub struct Trend {
    pub process: String,
    pub quantity: Quantity,
    pub samples: usize,
    pub mean: f64,
    /// Growth per hour, and its interval of 95%.
    pub per_hour: f64,
    pub low: f64,
    pub high: f64,
    /// Whether growth is certain and above what counts as flat.
    pub grows: bool,
    /// Samples of the whole run, undisturbed or not: seconds and values.
    pub points: Vec<(u64, u64)>,
}

impl Trend {
    /// Least squares, with an interval that is wider where neighbouring samples are alike; none of fewer than five samples.
    fn fit(name: &str, quantity: Quantity, samples: &[(f64, f64)]) -> Option<Self> {
        let n = samples.len() as f64;
        if samples.len() < 5 {
            return None;
        }
        let (mean_t, mean) =
            (samples.iter().map(|s| s.0).sum::<f64>() / n, samples.iter().map(|s| s.1).sum::<f64>() / n);
        let spread: f64 = samples.iter().map(|s| (s.0 - mean_t).powi(2)).sum();
        let slope = samples.iter().map(|s| (s.0 - mean_t) * (s.1 - mean)).sum::<f64>() / spread;
        let residuals: Vec<f64> = samples.iter().map(|s| s.1 - mean - slope * (s.0 - mean_t)).collect();
        let squares: f64 = residuals.iter().map(|r| r * r).sum();
        let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let alike = if squares > 0.0 { (products / squares).clamp(0.0, 0.95) } else { 0.0 };
        let error = (squares / (n - 2.0) / spread * (1.0 + alike) / (1.0 - alike)).sqrt();
        let half = student(n - 2.0) * error;
        let length = samples[samples.len() - 1].0 - samples[0].0;
        Some(Self {
            process: name.to_owned(),
            quantity,
            samples: samples.len(),
            mean,
            per_hour: slope * 3600.0,
            low: (slope - half) * 3600.0,
            high: (slope + half) * 3600.0,
            grows: slope - half > 0.0 && slope * length > quantity.flat(mean),
            points: Vec::new(),
        })
    }
}

/// Student's factor of a two-sided interval of 95%, by the Cornish-Fisher series.
fn student(freedom: f64) -> f64 {
    const Z: f64 = 1.959_964;
    Z + (Z.powi(3) + Z) / (4.0 * freedom) + (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / (96.0 * freedom * freedom)
}

/// The process's share of resident memory that no file backs, in KiB; 0 once it has ended. Pages of the program's file come
/// and go as its code is run and other processes run it, which no leak causes.
fn memory(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let of = |line: &str| {
        let size = line.strip_prefix("Pss_Anon:").or_else(|| line.strip_prefix("Pss_Shmem:"))?;
        size.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    };
    text.lines().filter_map(of).sum()
}

fn descriptors(pid: u32) -> u64 {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, |entries| entries.count() as u64)
}

/// The processes that a process has started.
pub fn children(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two hours of samples with this growth in KiB per hour, and a saw of 200 KiB.
    fn trend(per_hour: f64) -> Trend {
        let sample =
            |i: u32| (f64::from(i) * 10.0, 20_000.0 + f64::from(i) / 360.0 * per_hour + f64::from(i % 7) * 30.0);
        Trend::fit("torr", Quantity::MemoryKib, &(0..720).map(sample).collect::<Vec<_>>()).expect("enough samples")
    }

    #[test]
    fn growth_is_distinguished_from_noise() {
        let flat = trend(0.0);
        assert!(!flat.grows && flat.low < 0.0 && flat.high > 0.0, "{} to {}", flat.low, flat.high);
        let leak = trend(1000.0);
        assert!(leak.grows && leak.low < 1000.0 && leak.high > 1000.0, "{} to {}", leak.low, leak.high);
        assert!(!trend(100.0).grows, "it is certain, but less than allocators keep");
        assert!(!trend(-1000.0).grows);
    }

    #[test]
    fn the_interval_of_few_samples_is_as_wide_as_tables_have_it() {
        assert!((student(10.0) - 2.228).abs() < 0.01 && (student(100.0) - 1.984).abs() < 0.001);
    }

    #[test]
    fn warm_up_and_disturbed_samples_do_not_count() {
        let mut samples = Samples::default();
        for i in 0..40 {
            samples.take("this", &[std::process::id()], f64::from(i) * 10.0);
        }
        let trends = samples.trends(400.0, |t| t > 350.0);
        assert_eq!(trends.iter().map(|trend| trend.samples).collect::<Vec<_>>(), [26, 26]);
        assert!(trends.iter().all(|trend| trend.mean > 0.0));
        assert!(!can_judge(300.0) && can_judge(7200.0));
    }
}
