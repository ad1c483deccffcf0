//! Comparisons: ways to run a service, to reach it or to ask it, measured in turns, and what the differences cost or bring.

mod conclusion;
mod measuring;
mod outcome;
mod paths;
mod row;
mod schedule;
mod tls;
mod transport;
mod via;
mod workers;

pub use conclusion::{ComparisonAdvice, ComparisonFact, ComparisonHeadline, Conclusion, Failing, WayRate, Work};
pub use measuring::Way;
pub use outcome::{Comparison, Kind, SCHEMA};
pub use paths::paths;
pub use row::Row;
pub use schedule::most_variants;
pub use tls::tls;
pub use transport::{HttpVersion, Secured, Transport};
pub use via::via;
pub use workers::{Subject, Sweep, workers};
