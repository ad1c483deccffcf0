//! The start of all workers, at first and on each reload.
//!
//! The first start is a reload without old workers. New workers start beside the old ones, on the same listeners; when all are
//! ready, the old ones are stopped.

use super::{Duty, Supervisor, release};
use crate::error::ServeError;
use crate::observe::notice;
use crate::process::inherited::DRAIN;
use crate::process::systemd;
use std::collections::BTreeSet;
use std::io;
use std::process::ExitStatus;

impl Supervisor {
    /// Starts the workers that a reload lacks, and ends the reload when all are ready.
    pub(super) fn continue_reload(&mut self) -> io::Result<()> {
        let starting = || self.workers.values().filter(|worker| worker.duty == Duty::Starting);
        let present: BTreeSet<_> = starting().map(|worker| worker.child.number - 1).collect();
        let absent: Vec<_> = (0..self.slots.len()).filter(|slot| !present.contains(slot)).collect();
        let unready = starting().any(|worker| worker.ready.is_none());
        for &slot in &absent {
            if let Err(error) = self.start(slot, Duty::Starting) {
                if self.when_ready.is_some() {
                    // The supervisor returns this failure once the workers that run have ended.
                    self.failure = Some(error.into());
                    self.leave();
                    return Ok(());
                }
                self.cancel_reload(&format!("cannot start worker {}: {error}", slot + 1));
                return Ok(());
            }
        }
        if absent.is_empty() && !unready {
            self.take_over();
        }
        Ok(())
    }

    /// Ends a reload: new workers serve, old ones drain.
    fn take_over(&mut self) {
        for slot in &mut self.slots {
            (slot.failures, slot.start_at) = (0, None);
        }
        for worker in self.workers.values_mut() {
            match worker.duty {
                Duty::Serving => release(worker, DRAIN, &self.settings),
                Duty::Starting => worker.duty = Duty::Serving,
                Duty::Leaving => {}
            }
        }
        match self.when_ready.take() {
            Some(when_ready) => when_ready(),
            None => notice::inform(
                "reloaded: new workers serve, old workers finish their requests; changes of listen, processes and \
                 workers require a restart",
            ),
        }
        systemd::ready(&self.status);
        self.reload_again();
    }

    /// Begins a reload, or remembers it if one is in progress.
    pub(super) fn reload(&mut self) {
        if self.leaving {
            return;
        }
        if self.when_ready.is_some() || self.workers.values().any(|worker| worker.duty == Duty::Starting) {
            if !self.again {
                notice::inform("a reload was requested during another reload: it runs next");
            }
            self.again = true;
            return;
        }
        systemd::reloading();
        // One worker first: if it fails, the others would fail too.
        if let Err(error) = self.start(0, Duty::Starting) {
            self.cancel_reload(&format!("cannot start worker 1: {error}"));
        }
    }

    fn reload_again(&mut self) {
        if std::mem::take(&mut self.again) {
            self.reload();
        }
    }

    /// Handles the end of a new worker before its reload was complete.
    pub(super) fn handle_failed_start(&mut self, number: usize, status: ExitStatus, who: &str) {
        if self.when_ready.is_none() {
            return self.cancel_reload(who);
        }
        self.failure = Some(ServeError::Worker { number, status });
        self.leave();
    }

    /// Cancels a reload: old workers continue to serve, new ones drain.
    fn cancel_reload(&mut self, why: &str) {
        notice::warn(&format!("{why}: reload cancelled, the old workers continue"));
        for worker in self.workers.values_mut().filter(|worker| worker.duty == Duty::Starting) {
            // They may have accepted connections already.
            release(worker, DRAIN, &self.settings);
        }
        systemd::ready(&format!("{}; the last reload failed", self.status));
        self.reload_again();
    }
}
