//! From a load to the plan that the engine carries out: finds out what the targets are, reads files, resolves names and
//! compiles hurl files. Nothing is sent, but what `--reflection`, `--alt-svc` and `--oauth2-client` request.
#![forbid(unsafe_code)]

mod alt_svc;
pub mod checks;
pub mod data;
mod error;
pub mod form;
pub mod grpc;
mod http2;
mod http3;
pub mod input;
pub mod log;
pub mod permit;
pub mod request;
pub mod session;
pub mod target;
mod tls;
mod token;
pub mod transport;
pub mod url;
pub mod variables;
mod websocket;

pub use error::PlanError;
