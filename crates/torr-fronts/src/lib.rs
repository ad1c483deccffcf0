//! The command lines of other load generators, read as those programs read them: arguments in, values or a mistake out. No
//! I/O, so that the fuzzer can give them anything.
#![forbid(unsafe_code)]

pub mod ab;
pub mod httpress;
mod mistake;
mod numbers;
pub mod press;
mod tls;
pub mod wrk;

pub use mistake::Mistake;
pub use tls::Tls;
