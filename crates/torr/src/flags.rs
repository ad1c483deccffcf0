//! The flags that several commands share, each group with its meaning: from the words of the command line to what the engine takes.

pub mod checks;
mod data;
pub mod file_source;
mod form;
pub mod given;
mod http2;
pub mod input;
pub mod load;
pub mod needs;
pub mod output;
pub mod reads;
pub mod request;
pub mod script;
pub mod secret;
pub mod session;
pub mod tls;
pub mod transport;
pub mod unused;
pub mod values;
pub mod variables;
