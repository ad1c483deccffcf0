//! Times of samples as text.

use chrono::{DateTime, Local};
use std::time::SystemTime;

/// Returns a time of the local zone as RFC 3339 has it, with as many decimals as it needs.
pub fn rfc3339(time: SystemTime, with_decimals: bool) -> String {
    let time = DateTime::<Local>::from(time);
    let offset = time.format("%:z").to_string();
    let offset = if offset == "+00:00" { "Z" } else { &offset };
    let decimals = match with_decimals {
        true => time.format("%.9f").to_string().trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => String::new(),
    };
    format!("{}{decimals}{offset}", time.format("%Y-%m-%dT%H:%M:%S"))
}
