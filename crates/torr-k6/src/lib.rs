//! k6 scripts as load: virtual users that are JavaScript programs, behind the interface for users of `torr-press`.

pub mod api;
pub mod control;
pub mod error;
pub mod executors;
pub(crate) mod host;
pub mod http_settings;
pub mod jslib;
pub mod log;
pub mod machine;
pub mod metrics;
pub mod modules;
pub mod network;
pub mod options;
pub mod outputs;
pub mod run;
pub mod schemas;
pub mod sessions;
pub mod shared;
pub mod shared_arrays;
pub mod sockets;
pub mod summary;
pub mod user;
pub mod users;

pub use error::{ErrorKind, ScriptError};
pub use modules::SentFiles;
