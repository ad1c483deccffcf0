//! What a plan has to say before it runs: of its users, and of several servers where one is examined.

use crate::output;
use torr_press::Plan;

/// Notes what the users of a plan have to say of themselves.
pub fn note_users(plan: &Plan) {
    if let Some(note) = plan.work.users().and_then(|users| users.note()) {
        output::note(&note);
    }
}

/// Notes what the users of a plan have to say, and which of several servers the outcome of `command` is about.
pub fn note(plan: &Plan, command: &str) {
    note_users(plan);
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
