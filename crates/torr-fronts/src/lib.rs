//! Parsers for the command lines of other load generators, which accept what those programs accept. The parsers do no I/O,
//! so that a fuzzer can call them with any arguments.
#![forbid(unsafe_code)]

pub mod ab;
pub mod httpress;
mod numbers;
pub mod press;
mod tls;
mod usage_error;
pub mod wrk;

pub use tls::TlsArgs;
pub use usage_error::UsageError;
