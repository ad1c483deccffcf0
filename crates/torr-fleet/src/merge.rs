//! The merge of all agents' intervals, keyed by agent and number, so that a message that arrives twice changes nothing and
//! one that arrives late fits in.

use crate::message::SampleText;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use torr_gauge::bounds::{MOST_IN_A_RUN, OutOfBounds, within};
use torr_gauge::collector::{Measurement, Progress};
use torr_gauge::fleet::FleetCut;
use torr_gauge::{Collector, Sample};
use torr_press::RunEnd;

/// The time that an interval lasts.
pub(crate) const INTERVAL: Duration = Duration::from_secs(1);

/// A merge of intervals. The collector, which merges the threads of one machine in other runs, takes each interval once all
/// agents have it, in order.
#[derive(Debug)]
pub(crate) struct IntervalMerge {
    collector: Collector,
    agents: Vec<AgentIntervals>,
    /// The intervals that are known, but not from all agents.
    waiting: BTreeMap<u64, BTreeMap<usize, SampleText>>,
    /// The number of the first interval that the collector does not have.
    next: u64,
    /// The intervals of lost agents, and those of others behind the cut.
    after: Sample,
    seen_after: BTreeSet<(usize, u64)>,
}

/// What is known of an agent's intervals.
#[derive(Debug, Clone, Copy, Default)]
struct AgentIntervals {
    /// The number of its last interval.
    last: Option<u64>,
    /// Whether its end has arrived, which tells how long the last interval was.
    is_ended: bool,
    /// The number of requests without a response in its intervals so far.
    unanswered: u64,
    /// Of a lost agent: the number of the first interval that it will never have.
    lost_from: Option<u64>,
}

impl AgentIntervals {
    /// Whether the agent has no interval of this number or a later one.
    fn has_ended_before(&self, number: u64) -> bool {
        self.last.is_some_and(|last| last < number)
    }
}

impl IntervalMerge {
    pub fn new(agents: usize) -> Self {
        Self {
            collector: Collector::new(agents, INTERVAL),
            agents: vec![AgentIntervals::default(); agents],
            waiting: BTreeMap::new(),
            next: 0,
            after: Sample::default(),
            seen_after: BTreeSet::new(),
        }
    }

    /// Adds an agent's interval; `last` tells that the agent ended within it. Returns the progress of each interval that is
    /// complete by it.
    ///
    /// # Errors
    /// [`OutOfBounds`], if all intervals of the agent have more requests without a response than a run can have.
    pub fn take(
        &mut self,
        agent: usize,
        number: u64,
        sample: SampleText,
        last: bool,
    ) -> Result<Vec<Progress>, OutOfBounds> {
        let known = &mut self.agents[agent];
        let is_known = number < self.next
            || self.waiting.get(&number).is_some_and(|interval| interval.contains_key(&agent))
            || known.has_ended_before(number);
        if is_known {
            return Ok(Vec::new());
        }
        let unanswered = known.unanswered.saturating_add(sample.unanswered());
        within("unanswered", unanswered, 0..=MOST_IN_A_RUN)?;
        known.unanswered = unanswered;
        if last {
            known.last = Some(number);
        }
        if self.cut().is_some_and(|cut| number >= cut) {
            self.put_after(agent, number, &sample);
        } else {
            self.waiting.entry(number).or_default().insert(agent, sample);
        }
        Ok(self.advance())
    }

    /// Adds the counts of an agent's warm-up.
    pub fn warmup(&mut self, sample: &Sample) {
        self.collector.warmup(sample);
    }

    /// Notes the end of an agent, whose intervals may still be on their way. Returns the progress of each interval that is complete by
    /// it.
    pub fn end(&mut self, agent: usize) -> Vec<Progress> {
        self.agents[agent].is_ended = true;
        self.advance()
    }

    /// Notes that nothing more comes from an agent. What it had not ended is not known to be whole. Returns the progress of each interval that is complete by it.
    pub fn lose(&mut self, agent: usize) -> Vec<Progress> {
        let first_missing = self.first_missing(agent);
        let known = &mut self.agents[agent];
        if !known.is_ended || known.last.is_none_or(|last| first_missing <= last) {
            known.lost_from = Some(known.last.map_or(first_missing, |last| last.min(first_missing)));
        }
        self.clear_from_cut();
        self.advance()
    }

    /// Puts what waits behind the cut apart.
    fn clear_from_cut(&mut self) {
        let Some(cut) = self.cut() else { return };
        for (number, interval) in self.waiting.split_off(&cut) {
            interval.iter().for_each(|(&agent, sample)| self.put_after(agent, number, sample));
        }
    }

    /// Counts an interval behind the cut, once.
    fn put_after(&mut self, agent: usize, number: u64, sample: &SampleText) {
        if self.seen_after.insert((agent, number))
            && let Ok(sample) = sample.sample()
        {
            self.after.add(&sample);
        }
    }

    /// Returns the numbers of an agent's intervals that have not arrived, below a number.
    pub fn missing(&self, agent: usize, below: u64) -> impl Iterator<Item = u64> {
        let end = self.cut().map_or(below, |cut| cut.min(below));
        let has = move |number: &u64| self.waiting.get(number).is_some_and(|interval| interval.contains_key(&agent));
        (self.next..end).filter(move |number| !has(number))
    }

    /// Returns the number of intervals that the result has whole if agents are lost.
    fn cut(&self) -> Option<u64> {
        self.agents.iter().filter_map(|agent| agent.lost_from).min()
    }

    /// Whether all intervals of an agent, and its end, have arrived.
    pub fn is_whole(&self, agent: usize) -> bool {
        self.agents[agent].lost_from.is_none()
    }

    fn first_missing(&self, agent: usize) -> u64 {
        let has = |number: &u64| self.waiting.get(number).is_some_and(|interval| interval.contains_key(&agent));
        (self.next..).find(|number| !has(number)).unwrap_or(self.next)
    }

    /// Gives the collector the intervals that all agents have.
    fn advance(&mut self) -> Vec<Progress> {
        let mut progress = Vec::new();
        while let Some(interval) = self.waiting.get(&self.next) {
            let is_there = |(number, agent): (usize, &AgentIntervals)| {
                let is_whole = agent.is_ended || agent.last != Some(self.next);
                interval.contains_key(&number) && is_whole || agent.has_ended_before(self.next)
            };
            if !self.agents.iter().enumerate().all(is_there) {
                break;
            }
            let interval = self.waiting.remove(&self.next).unwrap_or_default();
            for (agent, sample) in interval {
                let last = self.agents[agent].last == Some(self.next);
                // It was read once before.
                let sample = sample.sample().unwrap_or_default();
                progress.extend(self.collector.take(agent, self.next, &sample, last));
            }
            self.next += 1;
        }
        progress
    }

    /// Returns the cut, if agents were lost. It is 0 s where no interval is whole.
    pub fn fleet_cut(&self) -> Option<FleetCut> {
        self.cut()?;
        Some(FleetCut {
            at_s: self.next as f64 * INTERVAL.as_secs_f64(),
            requests_after: self.after.completed(),
            errors_after: self.after.failed(),
            has_sessions: false,
        })
    }

    /// Returns what has taken the intervals that all agents have.
    pub fn collector(&self) -> &Collector {
        &self.collector
    }

    /// Returns the measurement.
    pub fn finish(self, end: RunEnd) -> Measurement {
        end.measured_by(self.collector)
    }
}

#[cfg(test)]
mod tests;
