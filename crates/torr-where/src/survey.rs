//! The survey: a server's processes sampled while a load runs.

use super::place::Place;
use super::unseen::Unseen;
use serde::{Deserialize, Serialize};

/// What a survey found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Localisation {
    /// The places that dominate, the widest first. Empty if none does.
    pub places: Vec<Place>,
    /// The five widest places, whether they dominate or not.
    pub widest: Vec<Place>,
    /// What could not be seen.
    pub unseen: Vec<Unseen>,
}

/// A survey of a server's processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// The processes.
    pub processes: Vec<i32>,
}
