//! The error of a script that ends a run: the first one is kept.

use crate::error::ScriptError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The position of a run's first error.
#[derive(Debug, Default)]
pub struct Fault {
    is_set: AtomicBool,
    error: Mutex<Option<ScriptError>>,
}

impl Fault {
    /// Keeps an error, unless there is one already.
    pub fn set(&self, error: ScriptError) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.is_set.store(true, Ordering::Relaxed);
    }

    /// Whether there is an error.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }

    /// Returns the error.
    pub fn get(&self) -> Option<ScriptError> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
