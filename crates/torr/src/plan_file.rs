//! PLAN.toml: the settings of `torr TARGET` in a file.
//!
//! The one list of settings is the list of flags: keys of the file, the types of their values, the JSON Schema and what
//! `--print-plan` writes are taken from clap's description of the command line. A plan becomes the words of a command line, so that
//! both are read by the same code, and every word remembers its position in the file for the sake of mistakes.

mod expand;
mod print;
mod read;
mod schema;
mod settings;

pub use expand::Expanded;
pub use print::text;
pub use schema::schema;
