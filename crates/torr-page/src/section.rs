//! The sections of the page, in the order in which a reader needs them.

pub mod agents;
pub mod cautions;
pub mod demo;
pub mod distribution;
pub mod entries;
pub mod errors;
pub mod experiments;
pub mod figures;
pub mod header;
pub mod lab;
pub mod ladder;
pub mod limit;
pub mod over_time;
pub mod overlay;
pub mod phases;
pub mod places;
pub mod published;
pub mod repeat;
pub mod script;
pub mod steering;
pub mod verdict;
pub mod versions;
