//! k6: its command line and variables, and the lines that it prints around a run. The run itself is the host's.

mod args;
mod env;
pub mod layout;
mod mistake;
mod option_rows;
mod option_values;
mod run_args;
mod usage;

pub use args::{Command, parse};
pub use mistake::Mistake;
pub use run_args::{LogArgs, OutputArg, RunArgs, SummaryMode};
pub use usage::USAGE;
