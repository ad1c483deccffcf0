//! The interventions of an operator in a run.

use crate::human::count;
use torr_gauge::steering::{SteeringEvent, SteeringKind};

/// The limit of interventions that the report lists.
const MOST_LISTED: usize = 8;

/// The time in seconds within which the next change of the same kind replaces a change, as where a key is held down.
const REPLACED_WITHIN_S: f64 = 1.0;

/// Returns the interventions with their times, in order; `None` without any.
pub fn list(events: &[SteeringEvent]) -> Option<String> {
    let mut marks = 0;
    let mut listed = Vec::new();
    for (at, event) in events.iter().enumerate() {
        marks += u64::from(event.what == SteeringKind::Mark);
        if !events.get(at + 1).is_some_and(|next| replaces(next, event)) {
            listed.push(format!("{} at {:.1} s", words(event, marks), event.t));
        }
    }
    let left_out = listed.len().saturating_sub(MOST_LISTED);
    if left_out > 0 {
        listed.truncate(MOST_LISTED);
        listed.push(format!("{} more", count(left_out as u64)));
    }
    (!listed.is_empty()).then(|| listed.join(", "))
}

/// Returns whether a change follows so soon that the earlier value hardly held.
fn replaces(next: &SteeringEvent, event: &SteeringEvent) -> bool {
    matches!(event.what, SteeringKind::Rate | SteeringKind::Connections)
        && next.what == event.what
        && next.t - event.t < REPLACED_WITHIN_S
}

/// Returns the words for an intervention. `marks` is the number of marks up to this one.
pub fn words(event: &SteeringEvent, marks: u64) -> String {
    let value = event.value.unwrap_or(0.0);
    match event.what {
        SteeringKind::Pause => "paused".into(),
        SteeringKind::Resume => "continued".into(),
        SteeringKind::Rate => format!("rate set to {:.0}% of the plan", value * 100.0),
        SteeringKind::Connections => format!("connections set to {}", count(value as u64)),
        SteeringKind::Mark => format!("mark {marks}"),
        SteeringKind::End => "ended by the operator".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(t: f64, what: SteeringKind, value: Option<f64>) -> SteeringEvent {
        SteeringEvent { t, what, value }
    }

    #[test]
    fn interventions_are_listed_in_order_and_a_held_key_once() {
        let events = [
            event(2.0, SteeringKind::Rate, Some(1.1)),
            event(2.5, SteeringKind::Rate, Some(1.21)),
            event(3.5, SteeringKind::Rate, Some(1.1)),
            event(4.0, SteeringKind::Mark, None),
            event(4.5, SteeringKind::Mark, None),
            event(5.0, SteeringKind::Pause, None),
            event(5.24, SteeringKind::Resume, None),
            event(6.0, SteeringKind::End, None),
        ];
        let expected = "rate set to 121% of the plan at 2.5 s, rate set to 110% of the plan at 3.5 s, mark 1 at 4.0 s, \
                        mark 2 at 4.5 s, paused at 5.0 s, continued at 5.2 s, ended by the operator at 6.0 s";
        assert_eq!(list(&events).as_deref(), Some(expected));
        assert_eq!(list(&[]), None);
    }

    #[test]
    fn a_long_list_ends_with_the_number_of_the_others() {
        let many: Vec<_> = (1..=11).map(|n| event(n as f64, SteeringKind::Connections, Some(1000.0))).collect();
        let text = list(&many).expect("there are interventions");
        assert!(text.starts_with("connections set to 1,000 at 1.0 s, "), "{text}");
        assert!(text.ends_with("connections set to 1,000 at 8.0 s, 3 more"), "{text}");
    }
}
