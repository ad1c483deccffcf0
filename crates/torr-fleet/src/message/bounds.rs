//! The bounds of each field of each message, which are checked where a message is read.
//!
//! What is named here is what [`PROTOCOL.md`](../../PROTOCOL.md) says of each field.

use super::{End, EntryMessage, Facts, FilePart, Hello, Interval, LoadMessage, Message, Own, PlanMessage};
use crate::limits::{
    CEILINGS, LEAST_PART, MOST_AGENTS, MOST_BYTES, MOST_CONNECTIONS, MOST_ENTRIES, MOST_FILES, MOST_FINDINGS,
    MOST_INTERVALS, MOST_KEPT, MOST_NS, MOST_ORIGINS, MOST_PATH, MOST_RULES, MOST_THREADS, MOST_WORDS, PART,
};
use crate::subject::FleetName;
use serde_json::Value;
use torr_gauge::bounds::{Bounded, LONGEST_S, MOST_IN_A_RUN, OutOfBounds, at_most, no_longer, text, texts, within};

impl Message {
    /// Checks each field, and makes texts printable.
    pub(super) fn bound(&mut self) -> Result<(), OutOfBounds> {
        match self {
            Self::Call | Self::Clock | Self::Alive => Ok(()),
            Self::Hello(hello) => hello.bound(MOST_IN_A_RUN),
            Self::Time { ns } => within("ns", *ns, 0..=MOST_NS),
            Self::Plan(plan) => plan.check(),
            Self::Missing { files } => no_longer("files", files.len(), MOST_FILES),
            Self::File(part) => part.check(),
            Self::Ready { run } => match run.is_empty() || FleetName::parse(run).is_ok() {
                true => Ok(()),
                false => Err(OutOfBounds { field: "run", must: "must be the name of a run".into() }),
            },
            Self::Refused { refusal: _, why } => {
                text(why);
                Ok(())
            }
            Self::Go { run: _, at_ns } | Self::Began { at_ns } => within("at_ns", *at_ns, 0..=MOST_NS),
            Self::Interval(interval) => interval.check(),
            Self::Entry(entry) => entry.bound(MOST_IN_A_RUN),
            Self::End(end) => end.bound(MOST_IN_A_RUN),
            Self::Resend { run: _, intervals, entries } => {
                no_longer("intervals", intervals.len(), MOST_KEPT)?;
                no_longer("entries", entries.len(), MOST_ENTRIES as usize)?;
                at_most("intervals", intervals.iter().copied().max(), MOST_INTERVALS)?;
                at_most("entries", entries.iter().copied().max(), MOST_ENTRIES)
            }
            Self::Stop { run: _ } => Ok(()),
        }
    }
}

impl Bounded for Hello {
    fn bound(&mut self, _: u64) -> Result<(), OutOfBounds> {
        let Self { agent: _, torr, machine, cores, ceiling, allow, run: _ } = self;
        [torr, machine].into_iter().for_each(text);
        within("cores", *cores, 1..=MOST_THREADS)?;
        within("ceiling", *ceiling, CEILINGS.0..=CEILINGS.1)?;
        texts("allow", allow, MOST_RULES)
    }
}

impl PlanMessage {
    /// Checks each field.
    ///
    /// # Errors
    /// [`OutOfBounds`] for the first field that is out of its bounds.
    pub(crate) fn check(&self) -> Result<(), OutOfBounds> {
        let Self { run: _, load, part, connections, requests, phase, users_before, if_lost: _ } = self;
        load.check()?;
        within("part", *part, LEAST_PART..=1.0)?;
        within("connections", *connections, 1..=MOST_CONNECTIONS)?;
        requests.map_or(Ok(()), |requests| within("requests", requests, 1..=MOST_IN_A_RUN))?;
        within("phase", *phase, 0.0..=1.0)?;
        within("users_before", *users_before, 0..=MOST_AGENTS * MOST_CONNECTIONS)
    }
}

impl LoadMessage {
    fn check(&self) -> Result<(), OutOfBounds> {
        let Self { load, files, variables, secrets } = self;
        no_longer("load", longest(load), MOST_WORDS)?;
        no_longer("files", files.len(), MOST_FILES)?;
        no_longer("variables", variables.len(), MOST_WORDS)?;
        no_longer("secrets", secrets.len(), MOST_WORDS)?;
        match files.keys().all(|path| !path.is_empty() && path.len() <= MOST_PATH) {
            true => Ok(()),
            false => Err(OutOfBounds { field: "files", must: format!("must have paths of 1 to {MOST_PATH} bytes") }),
        }
    }
}

/// Returns the length of the longest list of a value.
fn longest(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(longest).max().unwrap_or_default().max(list.len()),
        Value::Object(fields) => fields.values().map(longest).max().unwrap_or_default(),
        _ => 0,
    }
}

impl FilePart {
    fn check(&self) -> Result<(), OutOfBounds> {
        let Self { digest: _, part, last: _, content } = self;
        within("part", *part, 0..=(MOST_BYTES / PART) as u64)?;
        within("content", content.len(), 0..=PART.div_ceil(3) * 4)
    }
}

impl Interval {
    fn check(&self) -> Result<(), OutOfBounds> {
        // A text of a sample is checked where it is read.
        let Self { number, last: _, sample: _ } = self;
        within("number", *number, 0..=MOST_INTERVALS - 1)
    }
}

impl Bounded for EntryMessage {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let Self { number, name, counts, origins } = self;
        within("number", *number, 0..=MOST_ENTRIES - 1)?;
        name.bound(most)?;
        counts.bound(most)?;
        texts("origins", origins, MOST_ORIGINS)
    }
}

impl Bounded for End {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let Self { intervals, stopped: _, failed, unreachable: _, facts, own } = self;
        within("intervals", *intervals, 0..=MOST_INTERVALS)?;
        failed.iter_mut().for_each(text);
        facts.bound(most)?;
        own.bound(most)
    }
}

impl Bounded for Facts {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let Self {
            duration_ns,
            started,
            given_up: _,
            carried,
            peak,
            sources,
            timestamps: _,
            threads,
            tls,
            failed_response,
            warmup,
            sessions,
            entries,
        } = self;
        // The last responses come within the time-out after the plan's end.
        within("duration_ns", *duration_ns, 0..=2 * LONGEST_S * 1_000_000_000)?;
        within("started", *started, 0..=most)?;
        within("carried", *carried, 0..=MOST_CONNECTIONS as u64)?;
        within("peak", *peak, 0..=MOST_CONNECTIONS as u64)?;
        within("sources", *sources, 0..=u64::from(u32::MAX))?;
        no_longer("threads", threads.len(), MOST_THREADS)?;
        threads.iter_mut().try_for_each(|thread| thread.bound(most))?;
        tls.iter_mut().try_for_each(|tls| tls.bound(most))?;
        failed_response.iter_mut().try_for_each(|response| response.bound(most))?;
        warmup.iter_mut().try_for_each(|warmup| warmup.bound(most))?;
        sessions.iter_mut().try_for_each(|sessions| sessions.bound(most))?;
        within("entries", *entries, 0..=MOST_ENTRIES)
    }
}

impl Bounded for Own {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let Self { busy_share, send_lag_p99_us, saturated: _, verdict, findings, error } = self;
        within("busy_share", busy_share.unwrap_or_default(), 0.0..=1.0)?;
        at_most("send_lag_p99_us", *send_lag_p99_us, LONGEST_S * 1_000_000)?;
        verdict.iter_mut().chain(error).for_each(text);
        no_longer("findings", findings.len(), MOST_FINDINGS)?;
        findings.iter_mut().try_for_each(|finding| finding.bound(most))
    }
}
