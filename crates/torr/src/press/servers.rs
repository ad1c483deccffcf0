//! Several servers where one is examined.

use crate::output;
use torr_press::Plan;

/// Notes which of several servers the outcome of `command` is about.
pub fn note(plan: &Plan, command: &str) {
    if plan.further.is_empty() {
        return;
    }
    output::note(&format!(
        "the requests go to {} servers: '{command}' examines {}, the first one; for the others it measures response \
         times only",
        1 + plan.further.len(),
        plan.target.whole("")
    ));
}
