//! What the server's threads and processes wait for: a lock in turns, a call or a sleep with a request, or events.

use super::Figures;
use crate::thresholds::{
    LACKS_WORK, MORE_IN_HAND, MOSTLY_WAITS, REQUESTS_PER_WAIT, SEEN_PAST_LOCK, TAKES_ITS_TURN, WORKS_ON_REQUESTS,
};
use std::collections::BTreeMap;
use torr_signals::{ProcessUse, ThreadUse};

/// The parts of the kernel's wait channels that may mean a lock: of threads, of files, of System V.
const LOCKS: [&str; 5] = ["futex", "lock", "flock", "sem", "mutex"];

/// The parts of the kernel's wait channels of idle threads. The last one is that of `accept` on a Unix socket.
const IDLE: [&str; 7] =
    ["epoll", "ep_poll", "accept", "poll_schedule", "select", "sigsuspend", "wait_for_more_packets"];

/// The parts of the kernel's wait channels of a thread that waits for events of many connections.
const POLLS: [&str; 2] = ["epoll", "ep_poll"];

impl Figures {
    /// Returns the number of threads of one kind, by their names, that contend for a lock: they wait for it most of the time, but run now
    /// and then. Idle threads of a pool do not run; a thread that a timer wakes is the only one of its kind.
    pub fn taking_turns(&self) -> usize {
        self.contenders().len()
    }

    /// Returns the mean number of contending threads that do not wait for the lock at a time: those that have it. `None` without contention,
    /// with fewer threads than requests in service, of which there are `held` (several requests share a thread), where they also wait for
    /// events (what looks like a lock is a runtime's pause without work), and if hardly any thread is seen past the lock: in some runtimes
    /// a sleep looks like a lock.
    pub fn past_lock(&self, held: f64) -> Option<f64> {
        let waits = |thread: &ThreadUse| share_in(thread, |name| is_one_of(name, &LOCKS));
        let contenders = self.contenders();
        if contenders.len() < 2 || (contenders.len() as f64) < held {
            return None;
        }
        let polls = |thread: &&ThreadUse| share_in(thread, |name| is_one_of(name, &POLLS));
        if contenders.iter().map(polls).sum::<f64>() > LACKS_WORK * contenders.len() as f64 {
            return None;
        }
        let past = contenders.into_iter().map(|thread| (1.0 - waits(thread)).max(0.0)).sum();
        (past >= SEEN_PAST_LOCK).then_some(past)
    }

    /// Returns the threads of the kind with the most threads that contend for a lock.
    fn contenders(&self) -> Vec<&ThreadUse> {
        let turns = |thread: &&ThreadUse| self.mostly_waits(thread, |name| is_one_of(name, &LOCKS));
        let mut kinds = BTreeMap::<_, Vec<_>>::new();
        for process in self.processes() {
            for thread in process.threads.iter().filter(turns) {
                let kind = thread.name.trim_end_matches(|c: char| c.is_ascii_digit() || "-_#/:".contains(c));
                kinds.entry((process.name.as_str(), kind)).or_default().push(thread);
            }
        }
        kinds.into_values().map(|threads| self.in_turn(threads)).max_by_key(Vec::len).unwrap_or_default()
    }

    /// Returns those of some threads that run about as often as threads that share the requests: a runtime has helpers of the same name.
    fn in_turn<'a>(&self, threads: Vec<&'a ThreadUse>) -> Vec<&'a ThreadUse> {
        let least = TAKES_ITS_TURN * self.rps() / threads.len().max(1) as f64;
        threads.into_iter().filter(|thread| thread.waits_per_s.is_some_and(|waits| waits >= least)).collect()
    }

    /// Returns the number of threads that block most of the time with a request: in a sleep, or in a call to a peer.
    pub fn holding(&self) -> usize {
        let blocks = |name: &str| !is_one_of(name, &LOCKS) && !is_one_of(name, &IDLE);
        self.threads().filter(|thread| self.mostly_waits(thread, blocks)).count()
    }

    /// Returns whether the one thread that blocks with a request is an event loop: it waits for events as well, or has read many more
    /// requests than the one that it works on.
    pub fn is_event_loop(&self) -> bool {
        let blocks = |name: &str| !is_one_of(name, &LOCKS) && !is_one_of(name, &IDLE);
        let polls = |thread: &ThreadUse| thread.waiting.keys().any(|name| is_one_of(name, &POLLS));
        let loops = self.threads().filter(|thread| self.mostly_waits(thread, blocks)).any(polls);
        let (more, beyond) = MORE_IN_HAND;
        loops || self.in_service().is_some_and(|requests| requests > more + beyond)
    }

    /// Returns the number of processes that work on requests, if `held` are in service: each waits about once for a request, where a
    /// supervisor hardly ever does.
    pub fn working_processes(&self, held: f64) -> usize {
        let each = self.rps() / held.max(1.0);
        let waits =
            |process: &ProcessUse| process.threads.iter().filter_map(|thread| thread.waits_per_s).fold(0.0, f64::max);
        self.processes().filter(|process| waits(process) >= WORKS_ON_REQUESTS * each).count()
    }

    /// Returns whether a thread spends most of its time in such waits, but runs often enough to work on requests.
    fn mostly_waits(&self, thread: &ThreadUse, is_such: impl Fn(&str) -> bool) -> bool {
        share_in(thread, is_such) > MOSTLY_WAITS
            && thread.waits_per_s.is_some_and(|waits| waits > self.rps() / REQUESTS_PER_WAIT)
    }
}

/// Returns the share of the time that a thread spends in such waits.
fn share_in(thread: &ThreadUse, is_such: impl Fn(&str) -> bool) -> f64 {
    thread.waiting.iter().filter(|(name, _)| is_such(name)).map(|(_, share)| share).sum()
}

fn is_one_of(name: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| name.contains(part))
}
