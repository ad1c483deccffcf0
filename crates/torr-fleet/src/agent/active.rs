//! The run that an agent is part of.

use crate::limits::MOST_KEPT;
use crate::message::IfLost;
use crate::subject::FleetName;
use async_nats::Subscriber;
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use torr_press::Plan;

/// The time for which a plan waits for its beginning, and an ended run for questions about it.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// A run, from its plan to the last question about it.
pub(super) struct Active {
    /// The run's identifier.
    pub run: FleetName,
    /// The agent's part, until the load begins.
    pub plan: Option<Plan>,
    /// Ends the load.
    pub stop: Arc<AtomicBool>,
    /// Whether a load was started that has not ended.
    pub loads: bool,
    /// What the coordinator says to all agents.
    pub to_all: Subscriber,
    if_lost: IfLost,
    heard: Instant,
    intervals: BTreeMap<u64, Bytes>,
    entries: Vec<Bytes>,
    end: Option<Bytes>,
}

impl Active {
    pub fn new(run: FleetName, plan: Plan, if_lost: IfLost, to_all: Subscriber) -> Self {
        Self {
            run,
            plan: Some(plan),
            stop: Arc::default(),
            loads: false,
            to_all,
            if_lost,
            heard: Instant::now(),
            intervals: BTreeMap::new(),
            entries: Vec::new(),
            end: None,
        }
    }

    /// Whether the load goes on, or is about to begin.
    pub fn is_loading(&self) -> bool {
        self.loads
    }

    /// Whether the load has ended. Its run is kept for questions about it, and does not keep the agent from another one.
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Whether the agent stops by itself if its coordinator is lost.
    pub fn stops_alone(&self) -> bool {
        self.if_lost == IfLost::Stop
    }

    /// Notes a heartbeat of the coordinator.
    pub fn heard(&mut self) {
        self.heard = Instant::now();
    }

    /// Returns the time since the last heartbeat.
    pub fn silence(&self) -> Duration {
        self.heard.elapsed()
    }

    /// Keeps an interval that was sent.
    pub fn keep(&mut self, number: u64, bytes: Bytes) {
        self.intervals.insert(number, bytes);
        if self.intervals.len() > MOST_KEPT {
            self.intervals.pop_first();
        }
    }

    /// Keeps the counts of the next entry of sessions, which were sent.
    pub fn keep_entry(&mut self, bytes: Bytes) {
        self.entries.push(bytes);
    }

    /// Notes the end of the load.
    pub fn end(&mut self, bytes: Bytes) {
        self.loads = false;
        self.end = Some(bytes);
    }

    /// Returns intervals and entries that were sent, each once, and the end, if there was one.
    pub fn kept(&self, intervals: &[u64], entries: &[u64]) -> Vec<Bytes> {
        let [intervals, entries] = [intervals, entries].map(|numbers| numbers.iter().collect::<BTreeSet<_>>());
        let intervals = intervals.into_iter().filter_map(|number| self.intervals.get(number));
        let entries = entries.into_iter().filter_map(|&number| self.entries.get(usize::try_from(number).ok()?));
        intervals.chain(entries).chain(&self.end).cloned().collect()
    }
}
