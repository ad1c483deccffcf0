//! Comparisons: ways to run a service, to reach it or to ask it, measured in turns, and what the differences cost or bring.

mod measuring;
mod outcome;
mod paths;
mod row;
mod schedule;
mod tls;
mod transport;
mod via;
mod workers;

pub use measuring::Way;
pub use outcome::{Comparison, Conclusion, Kind, SCHEMA};
pub use paths::paths;
pub use row::Row;
pub use tls::tls;
pub use transport::{Secured, Transport};
pub use via::via;
pub use workers::{Subject, Sweep, workers};
