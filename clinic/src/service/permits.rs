//! A pool that does not wait for ever: who gets no permit in time gets an error.

use super::handler::{Handler, later};
use super::http::Response;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use torr_test_support::error::Error;

/// Parses `PERMITS:TIME:PATIENCE`, and returns a handler that sleeps with a permit, and responds with 503 if there is none in time.
///
/// # Errors
/// If the value is not of that form.
pub fn refusing(value: &str) -> Result<Handler, Error> {
    let mut parts = value.split(':');
    let mut next = || parts.next().unwrap_or_default();
    let permits = next().parse::<usize>().map_err(|_| wrong(value))?;
    let [time, patience] = [next(), next()].map(|part| humantime::parse_duration(part).map_err(|_| wrong(value)));
    let (time, patience): (Duration, Duration) = (time?, patience?);
    let free = Arc::new(Semaphore::new(permits));
    Ok(later(move |_| {
        let free = free.clone();
        async move {
            let Ok(permit) = timeout(patience, free.acquire()).await else { return Response::status(503) };
            let _permit = permit.expect("the semaphore is never closed");
            sleep(time).await;
            Response::hello()
        }
    }))
}

fn wrong(value: &str) -> Error {
    Error::Usage(format!("{value:?}: expected PERMITS:TIME:PATIENCE"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_three_parts() {
        assert!(refusing("4:20ms:300ms").is_ok());
        for wrong in ["", "4", "4:20ms", "x:20ms:300ms", "4:20:300ms"] {
            assert!(refusing(wrong).is_err(), "{wrong}");
        }
    }
}
