//! gRPC without sockets: what a call of a method sends and receives.
//!
//! A [`Schema`] comes from `.proto` files, from a descriptor set, or from a server's [`reflection`]. A [`Method`] of it turns JSON
//! into the content of a request, and the content of a response into JSON.
#![forbid(unsafe_code)]

mod arriving;
mod deadline;
mod details;
mod error;
mod framing;
pub mod health;
mod method;
pub mod reflection;
mod schema;
mod shown;

pub use arriving::{Arriving, NextMessage};
pub use deadline::timeout_field;
pub use details::status_details;
pub use error::GrpcError;
pub use framing::{Coding, framed};
pub use method::Method;
pub use schema::{ProtoFiles, Schema, SchemaMethod};
