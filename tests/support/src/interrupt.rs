//! Ctrl-C: the first one ends the run in order, a second one at once.

use crate::error::Error;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From here on the polite signals only raise a flag, so that everything started is ended by its `Drop`.
///
/// # Errors
/// What the system says if it does not take a handler.
pub fn install() -> Result<(), Error> {
    let requested = REQUESTED.get_or_init(Default::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register_conditional_shutdown(signal, 130, requested.clone())?; // first, so that it sees the flag of before
        flag::register(signal, requested.clone())?;
    }
    Ok(())
}

/// Whether the run may go on.
///
/// # Errors
/// [`Error::Interrupted`] after an interruption.
pub fn check() -> Result<(), Error> {
    match REQUESTED.get().is_some_and(|requested| requested.load(Ordering::Relaxed)) {
        true => Err(Error::Interrupted),
        false => Ok(()),
    }
}
