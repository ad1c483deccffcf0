//! The command lines of other load generators, read as those programs read them: arguments in, values or a mistake out. No
//! I/O, so that the fuzzer can give them anything.
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
