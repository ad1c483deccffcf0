//! A run that goes on: intervals are merged, agents are looked after, and the end is found.

use super::begin::Begun;
use super::outcome::{self, MemberEnd, Outcome};
use super::settings::{RunEvent, RunSettings, Watch};
use crate::error::FleetError;
use crate::heartbeat::{HEARTBEAT, LOST_AFTER, STOP_POLL};
use crate::limits::MOST_KEPT;
use crate::merge::IntervalMerge;
use crate::message::{End, EntryMessage, Interval, Message, MessageError};
use crate::nats;
use async_nats::Client;
use futures_util::{FutureExt, StreamExt};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use torr_gauge::collector::{Measurement, Progress};
use torr_gauge::fleet::{AgentState, EarlyEnd, Fleet, FleetAgent};
use torr_net::{Clock, Nanos, clock};
use torr_press::{Plan, SoFar};

/// The number of times that intervals are sent for again, a heartbeat apart.
const RESENDS: u32 = 5;
/// The time after the plan's end within which the last requests of an agent end.
const GRACE: Duration = Duration::from_secs(10);

/// How far an agent may be ahead of this machine's clock with an interval, in intervals.
const AHEAD: u64 = 2;

/// How often in a row no message must be there before all have been taken.
const LOOKS: u32 = 3;

/// A run that goes on.
pub(super) struct Watching<'a> {
    settings: &'a RunSettings,
    plan: &'a Plan,
    client: &'a Client,
    time: Clock,
    begun: Begun,
    merge: IntervalMerge,
    /// The number of each agent, by its name.
    numbers: HashMap<String, usize>,
    /// The limit of the number of an agent's intervals: those of the plan, and of its last requests.
    most_intervals: u64,
    members: Vec<MemberState>,
    started_at: String,
    interrupted: bool,
    /// Whether agents were sent the end of their load.
    is_ending: bool,
}

/// What is known of an agent.
struct MemberState {
    heard: Instant,
    /// The agent's time of its real beginning.
    began: Option<Nanos>,
    end: MemberEnd,
    /// The counts of the entries of sessions that have arrived.
    entries: BTreeMap<u64, EntryMessage>,
    resends: u32,
}

/// Returns the time within which all of a plan's agents have ended.
fn longest(plan: &Plan) -> Duration {
    plan.length().unwrap_or_default().saturating_add(plan.timeout).saturating_add(GRACE)
}

impl MemberState {
    fn new() -> Self {
        let (heard, end) = (Instant::now(), MemberEnd::Running);
        Self { heard, began: None, end, entries: BTreeMap::new(), resends: 0 }
    }

    /// Returns the numbers of the entries that have not arrived, of so many.
    fn missing_entries(&self, entries: u64) -> impl Iterator<Item = u64> {
        (0..entries).filter(|number| !self.entries.contains_key(number))
    }
}

impl<'a> Watching<'a> {
    pub fn new(settings: &'a RunSettings, plan: &'a Plan, (client, time): (&'a Client, Clock), begun: Begun) -> Self {
        let members = begun.agents.iter().map(|_| MemberState::new()).collect();
        let merge = IntervalMerge::new(begun.agents.len());
        let names = begun.agents.iter().map(|member| member.name.to_string());
        let numbers = names.zip(0..).collect();
        let ahead = Duration::from_nanos(begun.at.saturating_sub(time.now()));
        let started_at = humantime::format_rfc3339_millis(SystemTime::now() + ahead).to_string();
        if let Some(steering) = &plan.steering {
            steering.begin(time.with_epoch(begun.at));
        }
        let (interrupted, is_ending) = (false, false);
        Self {
            settings,
            plan,
            client,
            time,
            begun,
            merge,
            numbers,
            most_intervals: longest(plan).as_secs() + 1,
            members,
            started_at,
            interrupted,
            is_ending,
        }
    }

    /// Goes on until all agents have ended or are lost, and returns the result.
    pub async fn until_the_end(mut self, stop: &AtomicBool, watch: &mut dyn Watch) -> Result<Measurement, FleetError> {
        let mut poll = tokio::time::interval(STOP_POLL);
        let mut heartbeat = tokio::time::interval(HEARTBEAT);
        let deadline = self.begun.at.saturating_add(clock::nanos(longest(self.plan)));
        while !self.is_over() {
            tokio::select! {
                // A stop is known before the ends of agents that follow from it.
                biased;
                Some(message) = self.begun.stops.next() => {
                    if let Ok(Message::Stop { run }) = Message::decode(&message.payload)
                        && run.is_none_or(|run| run == self.begun.run)
                    {
                        watch.event(RunEvent::StoppedByCommand);
                        self.interrupted = true;
                        self.end_load().await;
                    }
                }
                _ = heartbeat.tick() => {
                    self.send_to_all(&Message::Alive).await;
                    if self.catches_up(watch).await {
                        self.look_after(watch).await;
                        if self.time.now() > deadline {
                            self.lose_all(watch);
                        }
                    }
                }
                _ = poll.tick() => {
                    self.interrupted |= stop.load(Ordering::Relaxed);
                    let is_ended = self.plan.steering.as_ref().is_some_and(|steering| steering.is_ended());
                    if (self.interrupted || is_ended) && !self.is_ending {
                        self.end_load().await;
                    }
                }
                Some(message) = self.begun.from_agents.next() => {
                    self.receive(&message, watch);
                }
            }
        }
        self.finish()
    }

    /// Whether nothing more is to come: all ends are known, and the intervals before them.
    fn is_over(&self) -> bool {
        let is_over = |(number, member): (usize, &MemberState)| match &member.end {
            MemberEnd::Running => false,
            MemberEnd::Lost { .. } => true,
            MemberEnd::Ended(end) if end.failed.is_some() => true,
            MemberEnd::Ended(end) | MemberEnd::EndedEarly(end) => {
                let is_whole = member.missing_entries(end.facts.entries).next().is_none();
                is_whole && self.merge.missing(number, end.intervals).next().is_none()
            }
        };
        self.members.iter().enumerate().all(is_over)
    }

    /// Takes the messages that have arrived. Returns whether none is left: only then is silence an agent's.
    async fn catches_up(&mut self, watch: &mut dyn Watch) -> bool {
        let (begun, mut looks) = (Instant::now(), 0);
        while looks < LOOKS && begun.elapsed() < HEARTBEAT / 2 {
            match tokio::task::unconstrained(self.begun.from_agents.next()).now_or_never().flatten() {
                Some(message) => {
                    looks = 0;
                    self.receive(&message, watch);
                }
                None => {
                    looks += 1;
                    // The connection is read by another task.
                    tokio::task::yield_now().await;
                }
            }
        }
        looks == LOOKS
    }

    fn receive(&mut self, message: &async_nats::Message, watch: &mut dyn Watch) {
        let name = message.subject.rsplit('.').next().unwrap_or_default();
        let Some(&number) = self.numbers.get(name) else { return };
        match self.checked(&message.payload).and_then(|message| self.take(number, message)) {
            Ok(complete) => self.show(&complete, watch),
            // What the agent measures cannot be known any more.
            Err(error) if matches!(self.members[number].end, MemberEnd::Running) => {
                self.lose(number, EarlyEnd::BadMessage { error: error.to_string() }, watch);
            }
            Err(_) => {}
        }
    }

    /// Reads a message of an agent, whose intervals are those of the plan.
    fn checked(&self, payload: &[u8]) -> Result<Message, MessageError> {
        let message = Message::decode(payload)?;
        let wrong = |why: String| Err(MessageError::Malformed(why));
        match &message {
            Message::Interval(interval) => {
                let since_begin = Duration::from_nanos(self.time.now().saturating_sub(self.begun.at)).as_secs();
                if interval.number > self.most_intervals.min(since_begin + AHEAD) {
                    return wrong(format!("interval {} is in the future", interval.number));
                }
            }
            Message::End(end) => {
                let End { intervals, facts, .. } = &**end;
                if *intervals > self.most_intervals {
                    return wrong(format!("it has {intervals} intervals, more than the plan"));
                }
                // An interval is a second, but the last one; a machine that was suspended may leave some out.
                let seconds = Duration::from_nanos(facts.duration_ns).as_secs();
                if end.failed.is_none() && (facts.duration_ns == 0 || seconds + 1 + AHEAD < *intervals) {
                    return wrong(format!("it has {intervals} intervals in {seconds} s"));
                }
            }
            _ => {}
        }
        Ok(message)
    }

    /// Takes an agent's message. Returns the progress of each interval that is complete by it.
    fn take(&mut self, number: usize, message: Message) -> Result<Vec<Progress>, MessageError> {
        let member = &mut self.members[number];
        member.heard = Instant::now();
        match message {
            Message::Began { at_ns } => {
                member.began.get_or_insert(at_ns);
            }
            Message::Interval(interval) => {
                let Interval { number: interval, last, sample } = *interval;
                return self.merge.take(number, interval, sample, last).map_err(MessageError::malformed);
            }
            Message::Entry(entry) => {
                member.entries.entry(entry.number).or_insert(*entry);
            }
            Message::End(end) if matches!(member.end, MemberEnd::Running) => {
                let (failed, warmup) = (end.failed.is_some(), end.facts.warmup.as_ref());
                if let Some(warmup) = warmup {
                    self.merge.warmup(warmup);
                }
                member.end = match end.stopped && !failed && !self.is_ending {
                    true => MemberEnd::EndedEarly(end),
                    false => MemberEnd::Ended(end),
                };
                // An agent without a run has no interval that could be waited for.
                return Ok(if failed { self.merge.lose(number) } else { self.merge.end(number) });
            }
            _ => {}
        }
        Ok(Vec::new())
    }

    /// Finds agents that are not heard of any more, and intervals that did not arrive.
    async fn look_after(&mut self, watch: &mut dyn Watch) {
        for number in 0..self.members.len() {
            let member = &self.members[number];
            match &member.end {
                MemberEnd::Running if member.heard.elapsed() > LOST_AFTER && self.time.now() > self.begun.at => {
                    self.lose(number, EarlyEnd::NoHeartbeat, watch);
                }
                MemberEnd::Ended(end) | MemberEnd::EndedEarly(end) if end.failed.is_none() => {
                    let missing: Vec<_> = self.merge.missing(number, end.intervals).take(MOST_KEPT).collect();
                    let entries: Vec<_> = member.missing_entries(end.facts.entries).collect();
                    if !missing.is_empty() || !entries.is_empty() {
                        self.resend(number, missing, entries, watch).await;
                    }
                }
                _ => {}
            }
        }
    }

    /// Requests intervals and entries again, and gives up after some attempts.
    async fn resend(&mut self, number: usize, intervals: Vec<u64>, entries: Vec<u64>, watch: &mut dyn Watch) {
        self.members[number].resends += 1;
        if self.members[number].resends > RESENDS {
            self.lose(number, EarlyEnd::CountsMissing, watch);
            return;
        }
        let subject = self.settings.fleet.agent(&self.begun.agents[number].name);
        let message = Message::Resend { run: self.begun.run.clone(), intervals, entries };
        nats::send(self.client, subject, &message).await;
    }

    fn lose(&mut self, number: usize, why: EarlyEnd, watch: &mut dyn Watch) {
        watch.event(RunEvent::AgentLost { agent: &self.begun.agents[number].name, why: &why });
        let complete = self.merge.lose(number);
        let member = &mut self.members[number];
        let end = match std::mem::replace(&mut member.end, MemberEnd::Running) {
            MemberEnd::Ended(end) | MemberEnd::EndedEarly(end) if self.merge.is_whole(number) => Some(end),
            _ => None,
        };
        member.end = MemberEnd::Lost { why, end };
        self.show(&complete, watch);
    }

    /// Shows intervals that are complete.
    fn show(&self, complete: &[Progress], watch: &mut dyn Watch) {
        for progress in complete {
            let elapsed = Duration::from_secs_f64(progress.elapsed_s);
            let so_far = SoFar::new(self.plan, self.merge.collector(), &self.started_at, elapsed);
            watch.progress(progress, &so_far.with_fleet(self.fleet(progress.elapsed_s)));
        }
    }

    /// Returns the agents, as far as they have come by then.
    fn fleet(&self, elapsed_s: f64) -> Fleet {
        let members = self.begun.agents.iter().zip(&self.members);
        let agents = members.zip(self.merge.collector().threads()).map(|((member, state), totals)| {
            let begun = (self.plan, self.begun.at);
            let agent = outcome::row(begun, (member, state.began, &state.end), totals, elapsed_s.max(1e-6));
            match state.end {
                MemberEnd::Running => FleetAgent { state: AgentState::Ended, ..agent },
                _ => agent,
            }
        });
        Fleet {
            name: self.settings.fleet.to_string(),
            run: self.begun.run.to_string(),
            agents: agents.collect(),
            ..Fleet::default()
        }
    }

    /// Gives up the agents that are still running after the end of the plan.
    fn lose_all(&mut self, watch: &mut dyn Watch) {
        for number in 0..self.members.len() {
            if matches!(self.members[number].end, MemberEnd::Running) {
                self.lose(number, EarlyEnd::Overdue, watch);
            }
        }
    }

    /// Ends the load of all agents, each of which reports what it has measured.
    async fn end_load(&mut self) {
        self.is_ending = true;
        self.send_to_all(&Message::Stop { run: Some(self.begun.run.clone()) }).await;
    }

    async fn send_to_all(&self, message: &Message) {
        nats::send(self.client, self.settings.fleet.to_all(&self.begun.run), message).await;
    }

    fn finish(self) -> Result<Measurement, FleetError> {
        let Begun { run, agents, at, .. } = self.begun;
        let (mut members, mut entries) = (Vec::new(), Vec::new());
        for (agent, state) in agents.into_iter().zip(self.members) {
            if matches!(state.end, MemberEnd::Ended(_) | MemberEnd::EndedEarly(_)) {
                entries.extend(state.entries.into_values());
            }
            members.push((agent, state.began, state.end));
        }
        let (plan, started_at, interrupted) = (self.plan, self.started_at, self.interrupted);
        let outcome = Outcome { plan, at, started_at, interrupted, entries };
        outcome.measure(self.settings.fleet.to_string(), run.to_string(), members, self.merge)
    }
}
