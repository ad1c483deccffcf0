//! How all workers come to be there: at the first start, and on each reload.
//!
//! The first start is a reload with nobody to be replaced. New workers get ready beside the old ones, on the same listeners;
//! only when all are ready are the old ones told to leave.

use super::{Duty, Supervisor, release};
use crate::error::ServeError;
use crate::process::inherited::DRAIN;
use crate::process::notice;
use crate::process::systemd;
use std::collections::BTreeSet;
use std::io;
use std::process::ExitStatus;

impl Supervisor {
    /// Starts what a reload, or the first start, still lacks, and ends it when all are ready.
    pub(super) fn come_on(&mut self) -> io::Result<()> {
        let coming = || self.workers.values().filter(|worker| worker.duty == Duty::Coming);
        let present: BTreeSet<_> = coming().map(|worker| worker.child.number - 1).collect();
        let absent: Vec<_> = (0..self.places.len()).filter(|place| !present.contains(place)).collect();
        let unready = coming().any(|worker| worker.ready.is_none());
        for &place in &absent {
            if let Err(error) = self.start(place, Duty::Coming) {
                if self.when_ready.is_some() {
                    // It ends with this once those are gone that run already.
                    self.failure = Some(error.into());
                    self.leave();
                    return Ok(());
                }
                self.cancel_reload(&format!("worker {} cannot be started: {error}", place + 1));
                return Ok(());
            }
        }
        if absent.is_empty() && !unready {
            self.take_over();
        }
        Ok(())
    }

    /// Those who have come take the places of those who served so far.
    fn take_over(&mut self) {
        for place in &mut self.places {
            (place.failures, place.start_at) = (0, None);
        }
        for worker in self.workers.values_mut() {
            match worker.duty {
                Duty::Serving => release(worker, DRAIN, &self.settings),
                Duty::Coming => worker.duty = Duty::Serving,
                Duty::Leaving => {}
            }
        }
        match self.when_ready.take() {
            Some(when_ready) => when_ready(),
            None => notice::inform("reloaded: the new workers serve, the old ones finish what they have"),
        }
        systemd::ready(&self.status);
        self.reload_again();
    }

    /// Begins to replace all workers.
    pub(super) fn reload(&mut self) {
        if self.leaving {
            return;
        }
        if self.when_ready.is_some() || self.workers.values().any(|worker| worker.duty == Duty::Coming) {
            if !self.again {
                notice::inform("another reload is asked for: it follows the one under way");
            }
            self.again = true;
            return;
        }
        systemd::reloading();
        // Again one alone, which shows whether the others are worth starting.
        if let Err(error) = self.start(0, Duty::Coming) {
            self.cancel_reload(&format!("worker 1 cannot be started: {error}"));
        }
    }

    fn reload_again(&mut self) {
        if std::mem::take(&mut self.again) {
            self.reload();
        }
    }

    /// One that was to come has ended.
    pub(super) fn give_up(&mut self, number: usize, status: ExitStatus, who: &str) {
        if self.when_ready.is_none() {
            return self.cancel_reload(who);
        }
        self.failure = Some(ServeError::Worker { number, status });
        self.leave();
    }

    /// The old workers go on, the new ones are not wanted.
    fn cancel_reload(&mut self, why: &str) {
        notice::warn(&format!("{why}: the reload is given up, the old workers go on"));
        for worker in self.workers.values_mut().filter(|worker| worker.duty == Duty::Coming) {
            // They may have accepted connections already.
            release(worker, DRAIN, &self.settings);
        }
        systemd::ready(&format!("{}; the last reload failed", self.status));
        self.reload_again();
    }
}
