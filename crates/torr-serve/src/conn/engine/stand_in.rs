//! Connections to workers that are held up, accepted by one that is not.

use super::Engine;
use super::accept::Accepted;
use crate::conn::siblings::StandIn;
use crate::conn::transport::Transport;
use crate::process::open_listener;
use std::sync::Arc;
use torr_net::{Event, Token};

impl<T: Transport> Engine<T> {
    /// Begins to watch the listeners of siblings that are held up, and ends that where they are not any more.
    pub(super) fn look_after_siblings(&mut self) {
        if self.leaving.is_some() || self.accept_again.is_some() {
            return self.leave_siblings();
        }
        let served: Vec<_> = self.stand_ins.iter().map(|stand_in| stand_in.sibling).collect();
        let (mut begun, mut ended) = (Vec::new(), Vec::new());
        self.siblings.look_after(
            &served,
            |sibling, listener| begun.push(StandIn { sibling, listener }),
            |sibling| ended.push(sibling),
        );
        for stand_in in self.stand_ins.extract_if(.., |stand_in| ended.contains(&stand_in.sibling)) {
            let _ = self.poller.remove(&*stand_in.listener);
        }
        for stand_in in begun {
            // No connection has this index.
            let token = Token::new(u32::MAX, stand_in.sibling as u32);
            if self.poller.add(&*stand_in.listener, token, open_listener::interest(&self.cx.worker.settings)).is_ok() {
                self.stand_ins.push(stand_in);
            }
        }
    }

    /// Accepts one connection to a worker that is held up: a second one would wait for the first one's handler.
    #[cold]
    pub(super) fn accept_for_siblings(&mut self) {
        for at in 0..self.stand_ins.len() {
            let listener = Arc::clone(&self.stand_ins[at].listener);
            if let Accepted::Open(token) = self.accept_one(&listener) {
                return self.receive(&[Event::assumed(token)]);
            }
        }
    }

    /// Ends to watch the listeners of siblings.
    pub(super) fn leave_siblings(&mut self) {
        for stand_in in self.stand_ins.drain(..) {
            // The sibling holds the same socket open, so that closing this copy would not end that.
            let _ = self.poller.remove(&*stand_in.listener);
        }
    }
}
