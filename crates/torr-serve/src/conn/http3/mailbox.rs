//! Datagrams that one worker passes on to another.

use bytes::BytesMut;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The number of datagrams that wait for a worker. Further ones are lost, as on the way: the client sends them again.
const CAPACITY: usize = 1024;

/// A datagram with its two ends.
#[derive(Debug)]
pub(crate) struct Passed {
    pub datagram: BytesMut,
    pub peer: SocketAddr,
    pub local: Option<IpAddr>,
}

/// The mailboxes of all workers, as one of them knows them.
#[derive(Debug)]
pub(crate) struct Mailbox {
    /// The worker's number.
    pub number: u16,
    all: Arc<[Sender<Passed>]>,
}

/// Returns the mailboxes of this many workers, each with the datagrams that arrive in it.
pub(crate) fn mailboxes(workers: usize) -> Vec<(Mailbox, Receiver<Passed>)> {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..workers).map(|_| channel(CAPACITY)).unzip();
    let all: Arc<[_]> = senders.into();
    let mailbox = |(number, arrived)| (Mailbox { number, all: Arc::clone(&all) }, arrived);
    (0..=u16::MAX).zip(receivers).map(mailbox).collect()
}

impl Mailbox {
    /// Returns the number of workers.
    pub fn workers(&self) -> usize {
        self.all.len()
    }

    /// Passes a datagram on to a worker that is not this one. Returns the datagram where there is no such worker.
    pub fn pass(&self, worker: u16, passed: Passed) -> Option<Passed> {
        match self.all.get(usize::from(worker)) {
            Some(other) if worker != self.number => {
                let _ = other.try_send(passed);
                None
            }
            _ => Some(passed),
        }
    }
}
