//! PLAN.toml: the settings of `torr TARGET` in a file.
//!
//! Keys, the types of their values, the JSON Schema and what `--print-plan` writes come from the table of settings. A plan becomes
//! settings with values, each of which remembers its position in the file for the sake of mistakes.

mod merge;
mod print;
mod read;
mod schema;

pub use merge::Merged;
pub use print::text;
pub use schema::schema;
