//! Pools: each request sleeps with a permit. Who gets no permit waits, for ever or until there is an error.

use super::handler::{Handler, later};
use super::http::Response;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use torr_test_support::error::Error;

/// Parses `PERMITS:TIME`, and returns a handler that sleeps with a permit, however long it has to wait for one.
///
/// # Errors
/// If the value is not of that form.
pub fn waiting(value: &str) -> Result<Handler, Error> {
    let (permits, [time]) = parts(value, "PERMITS:TIME")?;
    Ok(sleeping(permits, time, None))
}

/// Parses `PERMITS:TIME:PATIENCE`, and returns a handler that sleeps with a permit, and responds with 503 if there is none in time.
///
/// # Errors
/// If the value is not of that form.
pub fn refusing(value: &str) -> Result<Handler, Error> {
    let (permits, [time, patience]) = parts(value, "PERMITS:TIME:PATIENCE")?;
    Ok(sleeping(permits, time, Some(patience)))
}

/// Returns the number of permits, and the times behind it.
fn parts<const N: usize>(value: &str, form: &str) -> Result<(usize, [Duration; N]), Error> {
    let parts = value.split_once(':').and_then(|(permits, times)| {
        let times: Vec<_> = times.split(':').map(|time| humantime::parse_duration(time).ok()).collect::<Option<_>>()?;
        Some((permits.parse().ok()?, times.try_into().ok()?))
    });
    parts.ok_or_else(|| Error::Usage(format!("{value:?}: expected {form}")))
}

fn sleeping(permits: usize, time: Duration, patience: Option<Duration>) -> Handler {
    let free = Arc::new(Semaphore::new(permits));
    later(move |_| {
        let free = free.clone();
        async move {
            let permit = match patience {
                Some(patience) => timeout(patience, free.acquire()).await.ok(),
                None => Some(free.acquire().await),
            };
            let Some(permit) = permit else { return Response::status(503) };
            let _permit = permit.expect("the semaphore is never closed");
            sleep(time).await;
            Response::hello()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_a_number_and_times() {
        assert!(waiting("4:20ms").is_ok() && refusing("4:20ms:300ms").is_ok());
        for wrong in ["", "4", "4:", "x:20ms", "4:20", "4:20ms:300ms"] {
            assert!(waiting(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "4", "4:20ms", "x:20ms:300ms", "4:20:300ms"] {
            assert!(refusing(wrong).is_err(), "{wrong}");
        }
    }
}
