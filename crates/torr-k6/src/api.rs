//! The programming interface of scripts: built-in modules and globals.

pub mod builtin;
pub(crate) mod bytes;
pub mod console;
pub mod crypto;
pub mod data;
pub mod encoding;
pub mod execution;
pub mod globals;
pub mod html;
pub mod http;
pub mod k6;
pub mod metrics;
pub mod open;
pub mod registry;
pub mod timers;
pub mod webcrypto;

use rquickjs::{Ctx, Result};

/// Makes the globals of a virtual user.
///
/// # Errors
/// If the script engine has no memory left.
pub fn install_globals(ctx: &Ctx<'_>) -> Result<()> {
    timers::install(ctx)
}
