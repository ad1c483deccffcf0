//! Numbers as JSON.

use serde_json::Value;

/// Returns a number as JSON, a whole one without decimals, and null for what is not finite.
pub fn number(value: f64) -> Value {
    // Below 2^53 every whole number is exact.
    if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 { (value as i64).into() } else { value.into() }
}
