//! The result of a run over a fleet.

use super::begin::Member;
use crate::error::FleetError;
use crate::merge::IntervalMerge;
use crate::message::{End, EntryMessage, Facts, Own};
use std::time::Duration;
use torr_gauge::collector::{Measurement, RunFacts, ThreadTotals};
use torr_gauge::fleet::{AgentState, EarlyEnd, Fleet, FleetAgent, FleetCut};
use torr_gauge::generator::{ThreadCost, TimestampSource};
use torr_gauge::result::validity::{Caution, Criterion, Finding};
use torr_gauge::sessions::{AssertCounts, EntryCounts, EntryName, SessionCounts, SessionFacts};
use torr_net::Nanos;
use torr_press::{Pace, Plan, RunEnd};

/// The least duration of a result.
const SHORTEST: Duration = Duration::from_millis(1);

/// What became of an agent.
pub(super) enum MemberEnd {
    Running,
    Ended(Box<End>),
    /// It ended its load by itself while the run went on, as by a signal on its machine.
    EndedEarly(Box<End>),
    Lost {
        /// The reason.
        why: EarlyEnd,
        /// Its end, if that and all intervals had arrived before it was lost.
        end: Option<Box<End>>,
    },
}

/// A run that is over.
pub(super) struct Outcome<'a> {
    pub plan: &'a Plan,
    /// The local time of the beginning.
    pub at: Nanos,
    pub started_at: String,
    pub interrupted: bool,
    /// The counts of the entries of sessions, of all agents that ended.
    pub entries: Vec<EntryMessage>,
}

impl Outcome<'_> {
    /// Returns the measurement, with a row for each agent.
    ///
    /// # Errors
    /// If there is no interval that all agents have.
    pub fn measure(
        &self,
        fleet: String,
        run: String,
        members: Vec<(Member, Option<Nanos>, MemberEnd)>,
        merge: IntervalMerge,
    ) -> Result<Measurement, FleetError> {
        let has_sessions = self.plan.work.users().is_some_and(|users| users.has_sessions());
        let cut = merge.fleet_cut().map(|cut| FleetCut { has_sessions, ..cut });
        if cut.is_some_and(|cut| cut.at_s == 0.0) {
            return Err(self.without_result(&members));
        }
        let ended: Vec<&Facts> = members.iter().filter_map(|(_, _, end)| Some(&end.ended()?.facts)).collect();
        // What lost agents began, and what was in flight at the cut, is not known.
        let is_lost = members.iter().any(|(_, _, end)| matches!(end, MemberEnd::Lost { .. }));
        let facts = self.facts(&ended, cut, is_lost);
        let given_up = cut.is_some() || is_lost || ended.iter().any(|facts| facts.given_up);
        let mut measured = merge.finish(RunEnd { facts, given_up });
        let duration_s = measured.result.duration_s.max(1e-6);
        let rows = members.iter().zip(&measured.threads);
        let agents = rows
            .map(|((member, began, end), totals)| row((self.plan, self.at), (member, *began, end), totals, duration_s));
        let agents = agents.collect();
        let starts = members.iter().filter_map(|(member, began, _)| Some(member.offset.after((*began)?, self.at)));
        let (first, last) = starts.fold((i64::MAX, i64::MIN), |(first, last), at| (first.min(at), last.max(at)));
        let start_spread_us = u64::try_from(last.saturating_sub(first)).unwrap_or(0) / 1000;
        let own = members.iter().filter_map(|(member, _, end)| Some((member.name.as_str(), &end.ended()?.own)));
        let fleet = Fleet { name: fleet, run, agents, start_spread_us, cut };
        judge(&mut measured, &fleet, own);
        measured.result.fleet = Some(fleet);
        Ok(measured)
    }

    /// Returns why there is no result, by the first agent that has a reason.
    fn without_result(&self, members: &[(Member, Option<Nanos>, MemberEnd)]) -> FleetError {
        let unreachable: Option<Vec<_>> = members
            .iter()
            .map(|(member, _, end)| match end {
                MemberEnd::Ended(end) if end.unreachable => Some((member, end.failed.as_deref().unwrap_or_default())),
                _ => None,
            })
            .collect();
        if let Some([(member, why), ..]) = unreachable.as_deref() {
            return FleetError::Unreachable(format!("agent {} failed: {why}", member.name));
        }
        let reason = |(member, _, end): &(Member, Option<Nanos>, MemberEnd)| match end {
            MemberEnd::Ended(_) | MemberEnd::Lost { .. } => Some((member.name.to_string(), end.reason()?)),
            MemberEnd::Running | MemberEnd::EndedEarly(_) => None,
        };
        FleetError::NoInterval(members.iter().find_map(reason))
    }

    /// Returns the facts of the agents that ended, of which `is_lost` tells whether others were lost.
    fn facts(&self, ended: &[&Facts], cut: Option<FleetCut>, is_lost: bool) -> RunFacts {
        let sum = |part: fn(&Facts) -> u64| ended.iter().map(|facts| part(facts)).sum::<u64>();
        let whole = ended.iter().map(|facts| facts.duration_ns).max().map(Duration::from_nanos).unwrap_or_default();
        // Agents that report no time at all were stopped at once; figures per second must not be those of an instant.
        let duration = cut.map_or(whole.max(SHORTEST), |cut| Duration::from_secs_f64(cut.at_s));
        let threads = ended.iter().flat_map(|facts| {
            // The cost within the result is taken to be that of any time of the run.
            let all = facts.duration_ns as f64 / 1e9;
            let part = if cut.is_some() && all > 0.0 { (duration.as_secs_f64() / all).min(1.0) } else { 1.0 };
            facts.threads.iter().map(move |cost| part_of(cost, part))
        });
        let threads: Vec<_> = threads.collect();
        let mut plan = self.plan.summary(&self.plan.origins());
        plan.threads = (!is_lost).then_some(threads.len());
        let failed = ended.iter().filter_map(|facts| facts.failed_response.clone());
        RunFacts {
            target: self.plan.target.shown().into_owned(),
            plan,
            started_at: self.started_at.clone(),
            steering: self.plan.steering.as_ref().map(|steering| steering.events()).unwrap_or_default(),
            interrupted: self.interrupted,
            duration,
            started: sum(|facts| facts.started),
            carried: sum(|facts| facts.carried),
            peak: (!is_lost).then(|| sum(|facts| facts.peak)),
            sources: (!is_lost).then(|| sum(|facts| facts.sources)),
            timestamps: match !ended.is_empty() && ended.iter().all(|facts| facts.timestamps == TimestampSource::Kernel)
            {
                true => TimestampSource::Kernel,
                false => TimestampSource::User,
            },
            threads,
            tls: ended.iter().find_map(|facts| facts.tls.clone()),
            failed_response: failed.min_by(|one, other| one.at_s.total_cmp(&other.at_s)),
            checks: self.plan.inspection.checks.iter().map(|check| check.name.clone()).collect(),
            sessions: self.sessions(ended),
            ..RunFacts::default()
        }
    }

    /// Returns the sessions of the agents that ended, whole: they report them at their end.
    fn sessions(&self, ended: &[&Facts]) -> Option<SessionFacts> {
        let users = self.plan.work.users().filter(|users| users.has_sessions())?;
        let entries = users.entries();
        let mut counts = SessionCounts::new(&entries);
        ended.iter().filter_map(|facts| facts.sessions.as_ref()).for_each(|sessions| counts.merge(sessions));
        let mut origins = self.plan.origins();
        let mut entries = entries;
        let are_known = !entries.is_empty();
        for entry in &self.entries {
            let (at, of_agent) = match are_known {
                true => (usize::try_from(entry.number).unwrap_or(usize::MAX), entry.counts.clone()),
                false => by_name(&mut entries, entry),
            };
            if !are_known {
                counts.entries.resize_with(entries.len(), EntryCounts::default);
            }
            let Some(merged) = counts.entries.get_mut(at) else { continue };
            merged.merge(&of_agent);
            for origin in &entry.origins {
                let known = origins.iter().position(|known| known == origin);
                merged.note_server(known.unwrap_or_else(|| {
                    origins.push(origin.clone());
                    origins.len() - 1
                }));
            }
        }
        Some(SessionFacts { users: self.plan.connections as u64, entries, origins, counts })
    }
}

/// Returns the row of an agent with its part of a result, of a plan that began at this local time.
pub(super) fn row(
    (plan, at): (&Plan, Nanos),
    (member, began, end): (&Member, Option<Nanos>, &MemberEnd),
    totals: &ThreadTotals,
    duration_s: f64,
) -> FleetAgent {
    let ended = end.ended();
    let state = match end {
        MemberEnd::Ended(end) if end.failed.is_some() || end.own.error.is_some() => AgentState::Failed,
        MemberEnd::Ended(end) if end.stopped => AgentState::Stopped,
        MemberEnd::Ended(_) => AgentState::Ended,
        MemberEnd::EndedEarly(_) => AgentState::Stopped,
        MemberEnd::Running | MemberEnd::Lost { .. } => AgentState::Lost,
    };
    let whole_rate = match &plan.pace {
        Pace::Open(schedule, _) => schedule.constant_rate(),
        Pace::Closed { .. } | Pace::Fed(_) => None,
    };
    let own = ended.map(|end| &end.own);
    FleetAgent {
        name: member.name.to_string(),
        state,
        share: (member.share.part * 1e4).round() / 1e4,
        connections: member.share.connections,
        rate: whole_rate.map(|rate| rate * member.share.part),
        rps: (totals.answered as f64 / duration_s * 1e3).round() / 1e3,
        requests: totals.answered,
        errors: totals.failed + totals.status_errors,
        busy_share: own.and_then(|own| own.busy_share),
        send_lag_p99_us: own.and_then(|own| own.send_lag_p99_us),
        began_us: began.map(|began| member.offset.after(began, at) / 1000),
        clock_error_us: member.offset.error.div_ceil(1000),
        was_limit: own.is_some_and(was_limit),
        verdict: own.and_then(|own| own.verdict.clone()),
        fact: end.reason(),
        note: None,
    }
}

impl MemberEnd {
    /// Returns the end of an agent that had a run.
    fn ended(&self) -> Option<&End> {
        match self {
            Self::Ended(end) if end.failed.is_none() => Some(end),
            Self::EndedEarly(end) => Some(end),
            Self::Lost { end, .. } => end.as_deref(),
            _ => None,
        }
    }

    /// Returns the reason for which the agent ended before the run did, or had none.
    fn reason(&self) -> Option<EarlyEnd> {
        match self {
            Self::Running => None,
            Self::Lost { why, .. } => Some(why.clone()),
            Self::EndedEarly(end) => Some(EarlyEnd::Stopped { after_s: end.facts.duration_ns as f64 / 1e9 }),
            Self::Ended(end) => {
                let error = end.failed.as_ref().or(end.own.error.as_ref())?;
                Some(EarlyEnd::Failed { error: error.clone() })
            }
        }
    }
}

/// Returns where an entry of a script stands among those that were met so far, and its counts with the asserts in the order of those.
/// Each agent meets entries and asserts in an order of its own.
fn by_name(entries: &mut Vec<EntryName>, entry: &EntryMessage) -> (usize, EntryCounts) {
    let EntryName { name, file, line, asserts } = &entry.name;
    let is_same = |known: &EntryName| (&known.name, &known.file, known.line) == (name, file, *line);
    let at = entries.iter().position(is_same).unwrap_or_else(|| {
        entries.push(EntryName { asserts: Vec::new(), ..entry.name.clone() });
        entries.len() - 1
    });
    let known = &mut entries[at].asserts;
    let mut counts = entry.counts.clone();
    let of_agent = std::mem::take(&mut counts.asserts);
    for (text, assert) in asserts.iter().zip(of_agent) {
        let at = known.iter().position(|known| known == text).unwrap_or_else(|| {
            known.push(text.clone());
            known.len() - 1
        });
        if counts.asserts.len() <= at {
            counts.asserts.resize_with(at + 1, AssertCounts::default);
        }
        counts.asserts[at] = assert;
    }
    (at, counts)
}

fn part_of(cost: &ThreadCost, part: f64) -> ThreadCost {
    ThreadCost {
        wall: cost.wall.mul_f64(part),
        cpu: cost.cpu.mul_f64(part),
        queued: cost.queued.map(|queued| queued.mul_f64(part)),
        idle: cost.idle.mul_f64(part),
    }
}

/// Whether an agent was itself the limit: saturated, or behind a schedule that it did not keep.
fn was_limit(own: &Own) -> bool {
    let missed = |what| own.findings.iter().any(|finding| finding.what == what);
    own.saturated || missed(Criterion::SendLag) && missed(Criterion::Rate)
}

/// Puts in the result's validity what only the agents can know: the CPU time that a hypervisor took from them, and whether
/// their random arrivals were random. A part of the load that was not made is no fault of the generator's schedule.
fn judge<'o>(measured: &mut Measurement, fleet: &Fleet, own: impl Iterator<Item = (&'o str, &'o Own)>) {
    let Some(validity) = &mut measured.result.validity else { return };
    validity.findings.retain(|finding| finding.what != Criterion::Steal);
    let early: Vec<_> = fleet.ended_early().map(|agent| agent.name.clone()).collect();
    let is_of_load = |what| matches!(what, Criterion::Rate | Criterion::Throughput);
    for finding in validity.findings.iter_mut().filter(|finding| is_of_load(finding.what) && !early.is_empty()) {
        if !finding.ok {
            finding.ended_early.clone_from(&early);
        }
    }
    for (name, own) in own {
        let is_known = |fact: &Caution| matches!(fact, Caution::Steal { .. } | Caution::Arrivals { .. });
        let known = own.findings.iter().filter(|finding| finding.fact.as_ref().is_some_and(is_known));
        let named = |finding: &Finding| Finding { agent: Some(name.to_owned()), ..finding.clone() };
        validity.findings.extend(known.map(named));
    }
    validity.ok = validity.findings.iter().all(|finding| finding.ok);
}
