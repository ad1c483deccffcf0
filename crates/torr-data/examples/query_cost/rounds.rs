//! Cost of an operation, measured in short rounds.

use futures_util::future::join_all;
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};
use torr_data::DataError;

/// The cost of one operation.
#[derive(Clone, Copy)]
pub struct Cost {
    pub per_second: f64,
    pub cpu_us: f64,
}

impl Cost {
    fn new(operations: u64, since: Instant, cpu_before: Duration) -> Self {
        let (wall, cpu) = (since.elapsed().as_secs_f64(), (cpu() - cpu_before).as_secs_f64());
        Self { per_second: operations as f64 / wall, cpu_us: cpu * 1e6 / operations as f64 }
    }

    /// Returns the median of each figure.
    pub fn median(costs: &[Self]) -> Self {
        let median = |value: fn(&Self) -> f64| {
            let mut values: Vec<_> = costs.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        Self { per_second: median(|cost| cost.per_second), cpu_us: median(|cost| cost.cpu_us) }
    }
}

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Runs an operation in a number of concurrent tasks, each in a loop, for one round.
pub async fn round(
    length: Duration,
    tasks: usize,
    once: impl AsyncFn() -> Result<(), DataError>,
) -> Result<Cost, DataError> {
    let (since, cpu_before) = (Instant::now(), cpu());
    let counts = join_all((0..tasks).map(|_| async {
        let mut done = 0;
        while since.elapsed() < length {
            once().await?;
            done += 1;
        }
        Ok(done)
    }));
    let done = counts.await.into_iter().sum::<Result<u64, DataError>>()?;
    Ok(Cost::new(done, since, cpu_before))
}

/// Runs a blocking operation in a loop for one round.
pub fn blocking_round(length: Duration, once: impl Fn() -> Result<(), DataError>) -> Result<Cost, DataError> {
    let (since, cpu_before, mut done) = (Instant::now(), cpu(), 0);
    while since.elapsed() < length {
        once()?;
        done += 1;
    }
    Ok(Cost::new(done, since, cpu_before))
}
