//! All subjects. Most faults stand beside one that looks alike.

mod between;
mod connecting;
mod data;
mod healthy;
mod holding;
mod limiting;
mod network;
mod pressing;
mod working;

use crate::subject::Subject;

/// In the order in which they are visited.
pub fn all() -> Vec<Subject> {
    let parts = [
        holding::subjects,
        working::subjects,
        data::subjects,
        limiting::subjects,
        network::subjects,
        connecting::subjects,
        between::subjects,
        pressing::subjects,
        healthy::subjects,
    ];
    parts.into_iter().flat_map(|part| part()).collect()
}
