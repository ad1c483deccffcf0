//! The parts of a load, each with a field for each of its settings.
#![expect(missing_docs, reason = "the row of a field's setting has its meaning")]

pub mod checks;
pub mod grpc;
pub mod output;
pub mod pace;
pub mod request;
pub mod session;
pub mod stream;
pub mod tls;
pub mod transport;
