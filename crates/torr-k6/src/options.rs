//! Options of a test: values, forms that scripts write them in, layers, validation, warnings.
//!
//! [`Options::from_json`] reads the options of one layer, and [`layered`] makes those of the run out of all layers, with the
//! scenarios that run.

mod cipher_suites;
pub mod duration;
mod error;
mod json;
mod keys;
mod layers;
mod options_type;
mod reader;
mod scenario;
mod scenario_json;
mod shortcuts;
mod stage;
mod system_tags;
mod threshold;

#[cfg(test)]
mod tests;

pub use error::{OptionError, Warning};
pub use layers::{Consolidated, Layer, layered};
pub use options_type::{DEFAULT_TREND_STATS, Dns, Options, TimeUnit, TlsAuth, TlsVersions};
pub use scenario::{ArrivalRate, Executor, Scenario, ScenarioPart};
pub use stage::Stage;
pub use system_tags::{DEFAULT_SYSTEM_TAGS, SystemTag, SystemTags};
pub use threshold::ThresholdOption;
