//! The command lines of other load generators: each program's room has its arguments, the load that they mean, and its layout
//! of the result. The parsers do no I/O, so that a fuzzer can call them with any arguments.
#![forbid(unsafe_code)]

pub mod ab;
mod error;
mod figures;
mod files;
mod front;
mod host;
pub mod httpress;
pub mod k6;
mod k6_command;
mod load;
mod numbers;
pub mod press;
mod spread;
mod tls;
mod usage_error;
pub mod wrk;

pub use error::FrontError;
pub use front::Front;
pub use host::Host;
pub use load::FrontLoad;
pub use tls::TlsArgs;
pub use usage_error::UsageError;
