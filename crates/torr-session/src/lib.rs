//! What a virtual user does: requests in order, with variables, captures and asserts between them. The crate reads hurl files
//! and evaluates what they say; sockets and timers are the load engine's.
#![forbid(unsafe_code)]

mod error;
pub mod filter;
pub mod hurl;
pub mod pattern;
pub mod predicate;
pub mod query;
mod scope;
mod template;
#[cfg(test)]
mod tests;
mod value;

pub use error::EvaluationError;
pub use scope::{Names, Variables};
pub use template::{Expression, Template};
pub use value::Value;
