//! Numbers and times in paths.

use std::time::Duration;
use torr_serve::Request;

/// Returns the number that a part of the path is.
pub fn number(request: &Request<'_>, name: &str) -> Option<u64> {
    request.param(name)?.parse().ok()
}

/// Returns the time that a part of the path is, in units of so many microseconds; `None` if it is longer than the longest.
pub fn duration(request: &Request<'_>, name: &str, micros: u64, longest: Duration) -> Option<Duration> {
    let time = Duration::from_micros(number(request, name)?.checked_mul(micros)?);
    (time <= longest).then_some(time)
}
