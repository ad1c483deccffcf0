//! What a virtual user does: requests in order, with variables, captures and asserts between them. The crate reads hurl files
//! and evaluates what they say; sockets and timers are the load engine's.
#![forbid(unsafe_code)]

mod certificate;
pub mod content;
mod error;
pub mod expected;
mod files;
mod filter;
pub mod hurl;
pub mod netrc;
pub mod operand;
pub mod options;
pub mod pattern;
pub mod predicate;
pub mod query;
mod references;
pub mod request;
mod scope;
mod session;
mod template;
#[cfg(test)]
mod tests;
pub mod users;
mod value;
mod walk;

pub use error::EvaluationError;
pub use files::{Files, Folder, own_netrc};
pub use scope::{Names, Variables};
pub use session::{Entry, Session};
pub use template::{Expression, Template};
pub use value::Value;
pub use walk::{Action, Judgement, Walk};
