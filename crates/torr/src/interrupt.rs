//! Ctrl-C: the first ends the work and lets it report, the second ends the program.

use crate::exit::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that an interruption sets.
pub fn flag() -> Result<Arc<AtomicBool>, Stop> {
    let set = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag not set yet.
        flag::register_conditional_shutdown(signal, 130, Arc::clone(&set))
            .and_then(|_| flag::register(signal, Arc::clone(&set)))
            .map_err(|error| Stop::Failed(format!("cannot watch for interruption: {error}")))?;
    }
    Ok(set)
}
