//! The signal of a load thread, which sockets raise for the virtual users that have mail.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use torr_net::WakeUp;

/// The signal of a load thread.
#[derive(Debug, Default)]
pub struct Signal {
    wake_up: OnceLock<Arc<WakeUp>>,
    raised: Mutex<Vec<usize>>,
}

impl Signal {
    /// Sets the event that makes the thread's loop look. Only the first one counts.
    pub fn wakes(&self, wake_up: Arc<WakeUp>) {
        let _ = self.wake_up.set(wake_up);
    }

    /// Raises the signal for the virtual user of a slot.
    pub fn raise(&self, slot: usize) {
        {
            let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
            if raised.last() != Some(&slot) {
                raised.push(slot);
            }
        }
        if let Some(wake_up) = self.wake_up.get() {
            wake_up.wake();
        }
    }

    /// Takes the slots that the signal was raised for. A slot may be there more than once.
    pub fn take(&self) -> Vec<usize> {
        std::mem::take(&mut *self.raised.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
