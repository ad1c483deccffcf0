//! The programming interface of scripts: built-in modules and globals.

pub mod builtin;
pub(crate) mod bytes;
pub mod console;
pub mod crypto;
pub mod data;
pub mod encoding;
pub mod execution;
pub mod globals;
pub mod grpc;
pub mod html;
pub mod http;
pub mod k6;
mod loaded;
pub mod metrics;
pub mod open;
pub mod registry;
pub mod sse;
mod tag_values;
#[cfg(test)]
mod tests;
pub mod timers;
pub(crate) mod url;
pub mod webcrypto;
pub mod websockets;
pub mod ws;

use crate::modules::Builtins;

/// Returns what finds the built-in modules.
#[must_use]
pub fn builtins() -> Builtins {
    Builtins { has: registry::has, declare: registry::declare, require: registry::require }
}
