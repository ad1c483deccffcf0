//! All subjects. Most faults stand beside one that looks alike.

mod connecting;
mod healthy;
mod holding;
mod limiting;
mod working;

use crate::subject::Subject;

/// In the order in which they are visited.
pub fn all() -> Vec<Subject> {
    [holding::subjects(), working::subjects(), limiting::subjects(), connecting::subjects(), healthy::subjects()]
        .into_iter()
        .flatten()
        .collect()
}
