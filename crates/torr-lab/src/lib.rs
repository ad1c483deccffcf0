//! Comparisons of versions of a service, and the history of one.
//!
//! [`bench::compare`] loads two servers in turns, [`archive`] and [`groups`] compare results that are there already, and
//! [`history`] finds the runs at which a row of results changed. What follows from figures is a matter of [`judgement`]
//! alone, whose tests and intervals stand in [`stats`].
//!
//! A [`suite`] is a table of runs over [`subject`]s; [`shipped`] has those that come with the program. [`order`] says what is
//! run when, [`runs`] is the archive, and [`table`] what follows from it.
#![forbid(unsafe_code)]

pub mod archive;
pub mod bench;
pub mod block;
pub mod disturbed;
pub mod gate;
pub mod groups;
pub mod history;
pub mod judgement;
pub mod mean;
pub mod metric;
pub mod order;
pub mod report;
pub mod runs;
pub mod shipped;
pub mod stats;
pub mod subject;
pub mod suite;
pub mod table;
mod toml_file;
