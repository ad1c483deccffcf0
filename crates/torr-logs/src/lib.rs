//! Access logs as requests in the order of their times.
//!
//! [`LogReader`] streams any number of files and holds no more of them than a bounded window of time. What a line holds is
//! a [`LoggedRequest`], whatever the format is.
#![forbid(unsafe_code)]

mod error;
mod format;
mod gor;
mod json;
mod lines;
mod logged;
mod merge;
mod order;
mod pattern;
mod reader;
mod selection;
mod time;

pub use error::LogError;
pub use format::Format;
pub use logged::LoggedRequest;
pub use pattern::{Pattern, PatternError};
pub use reader::{LogCounts, LogReader};
pub use selection::{Selection, TimeBound};
pub use time::rfc3339;
