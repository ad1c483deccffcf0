//! Sessions of virtual users and their entries: counts of a thread, their merge, and their part of the result.
//!
//! A session is a virtual user's walk through the entries of a file. Entries and their asserts are counted by number; their
//! names come with the facts of the run.

mod counts;
mod entry;
mod name;
mod summary;

pub use counts::{SessionCounts, SessionsEnded};
pub use entry::{AssertCounts, AssertExample, EntryCounts, MAX_EXAMPLES};
pub use name::EntryName;
pub use summary::{AssertResult, EntryCause, EntryResult, SessionFacts, SessionSummary};

#[cfg(test)]
mod tests;
