//! The types of places and of what holds a lock.

use crate::stack::{Frame, LockId, WaitKind};
use crate::unseen::Runtime;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use torr_gauge::verdict::Estimate;
use torr_gauge::verdict::place::{DOMINANT, PlaceKind};

/// What the thread that holds a lock does meanwhile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Holder {
    /// The innermost frame of own code of the holder.
    pub frame: Arc<Frame>,
    /// The innermost frame of the holder.
    pub leaf: Arc<Frame>,
    /// What the holder does: it computes, or it waits for this.
    pub wait: Option<WaitKind>,
    /// The share of the times with a holder at which it was in this frame.
    pub share: Estimate,
}

/// A place in a service, with its share of the resource that limits it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The kind.
    pub kind: PlaceKind,
    /// The runtime of its process.
    pub runtime: Runtime,
    /// The process's number, or 0 of a statement.
    pub process: i32,
    /// The innermost frame of the user's own code. `None` of a statement, and where no own code is on the stacks.
    pub frame: Option<Arc<Frame>>,
    /// The innermost frame that has most of the place's share: a library's function that own code calls, or `frame` itself.
    pub leaf: Option<Arc<Frame>>,
    /// The frame of own code that calls `frame`.
    pub caller: Option<Arc<Frame>>,
    /// The lock.
    pub lock: Option<LockId>,
    /// Who holds the lock, where it is known.
    pub holder: Option<Holder>,
    /// The statement, its literals replaced by `?`.
    pub statement: Option<String>,
    /// The peer, as an address or a name.
    pub peer: Option<String>,
    /// The place's share of the resource.
    pub share: Estimate,
    /// The factor by which throughput rises when the place's cost is halved and nothing else limits.
    pub gain: Option<Estimate>,
    /// The samples that the share was computed of.
    pub samples: u64,
}

impl Place {
    /// Returns a place of a kind with its share and nothing else known.
    pub fn of(kind: PlaceKind, share: Estimate, samples: u64) -> Self {
        Self {
            kind,
            runtime: Runtime::Native,
            process: 0,
            frame: None,
            leaf: None,
            caller: None,
            lock: None,
            holder: None,
            statement: None,
            peer: None,
            share,
            gain: None,
            samples,
        }
    }

    /// Returns whether the place takes enough of the resource to be named: a fifth at least, with 95% confidence.
    pub fn dominates(&self) -> bool {
        self.share.low >= DOMINANT
    }
}
