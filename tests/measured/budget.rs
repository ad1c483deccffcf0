//! The budget of a comparison: a busy machine needs more time for as many turns.

use serde_json::Value;
use torr_test_support::program::{Ended, torr};
use torr_test_support::quiet;

/// Checks that the budget was enough. Torr says if it was not, and exits with code 2.
pub fn has_room(ended: &Ended) {
    quiet!(ended.code != Some(2) || !ended.stderr.contains("is too short to measure"), "{ended:?}");
}

/// Compares with a budget in the arguments, and returns the comparison.
pub fn compared(args: &[&str]) -> Value {
    let ended = torr(&[args, &["--json", "-"]].concat());
    has_room(&ended);
    assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}: {ended:?}"))
}
