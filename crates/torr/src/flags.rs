//! From the settings of a load to what the engine takes: files are read, names resolved, texts encoded.

pub mod checks;
mod data;
mod form;
mod http2;
pub mod input;
pub mod needs;
pub mod reads;
pub mod request;
pub mod secret;
pub mod tls;
pub mod transport;
pub mod unused;
pub mod variables;
