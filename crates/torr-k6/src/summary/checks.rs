//! Marks of what holds or failed, and the lines of checks.

use super::data::Check;
use super::paint::Paint;

/// Returns the mark of what holds or failed.
pub fn mark(ok: bool, paint: Paint) -> String {
    if ok { paint.good("✓") } else { paint.bad("✗") }
}

/// Returns the line of a check, and how often it failed if it did.
pub fn check_lines(check: &Check, indent: &str, deeper: &str, paint: Paint) -> String {
    let Check { name, passes, fails, .. } = check;
    if *fails == 0 {
        return format!("{indent}{}\n", paint.good(&format!("✓ {name}")));
    }
    let share = 100 * passes / (passes + fails);
    let first = paint.bad(&format!("✗ {name}"));
    let second = paint.bad(&format!("↳  {share}% — ✓ {passes} / ✗ {fails}"));
    format!("{indent}{first}\n{indent}{deeper}{second}\n")
}
