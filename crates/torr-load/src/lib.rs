//! The load that a user asks for, as a value: what is sent, how hard, on which way, and what becomes of the result.
//!
//! A [`Load`] has a field for each setting, and [`SETTINGS`] has a row for each: from the row come the flag and its help, the key of
//! plans and their schema, what a fleet sends, which commands repeat it and which values are secrets.
#![forbid(unsafe_code)]

mod check;
mod data_kind;
mod field;
mod file_source;
mod given;
mod grammar;
mod load;
mod of_settings;
mod output_file;
mod parsed;
mod parts;
#[cfg(test)]
mod round_trip;
mod secret;
mod serial;
mod setting;
mod settings;
pub mod values;

pub use check::{Mistake, NO_TIMES, Work};
pub use data_kind::DataKind;
pub use file_source::{FileSource, FilesByPath};
pub use given::{Given, Occurrence, given, occurrences};
pub use grammar::{Exchanged, OnlyVariables, Replayed, RequestAndWay, Sent};
pub use load::{Load, is_grpc};
pub use output_file::OutputFile;
pub use parsed::Parsed;
pub use parts::checks::CheckPart;
pub use parts::grpc::GrpcPart;
pub use parts::output::OutputPart;
pub use parts::pace::PacePart;
pub use parts::request::RequestPart;
pub use parts::session::{SessionPart, VariablePart};
pub use parts::stream::StreamPart;
pub use parts::tls::TlsPart;
pub use parts::transport::{ConnectTo, Family, Http2Part, Resolved, TransportPart, resolved};
pub use setting::{Fleet, Kind, Merge, Part, Reads, Secret, Setting, Times};
pub use settings::{SETTINGS, find};
pub use values::TlsResumption;
