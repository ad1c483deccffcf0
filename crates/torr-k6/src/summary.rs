//! The summary of a run: the data that `handleSummary` is given, the text at the end of a run, and the file of `--summary-export`.

mod checks;
pub mod collect;
mod columns;
pub mod data;
pub mod deliver;
mod figures;
pub mod json;
mod legacy;
mod paint;
#[cfg(test)]
mod recorded;
pub mod result;
mod sections;
pub mod text;
