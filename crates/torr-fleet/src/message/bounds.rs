//! The bounds of each field of each message, which are checked where a message is read.
//!
//! What is named here is what [`docs/fleet-protocol.md`](../../../../docs/fleet-protocol.md) says of each field.

use super::{End, EntryMessage, Facts, FilePart, Hello, Interval, LoadMessage, Message, Own, PlanMessage, SampleText};
use crate::load::{MOST_BYTES, PART};
use crate::subject::FleetName;
use std::time::Duration;
use torr_gauge::bounds::{Bounded, LONGEST_S, MOST_IN_A_RUN, OutOfBounds, at_most, no_longer, text, texts, within};

/// The limit of a message in bytes. NATS itself takes 1 MiB, or what its configuration says.
pub(super) const MOST_MESSAGE: usize = 8 << 20;
/// The limit of the agents of a fleet.
pub(crate) const MOST_AGENTS: usize = 1024;
/// The limit of the targets that an agent lists.
pub(crate) const MOST_RULES: usize = 1000;
/// The limit of a machine's CPUs.
const MOST_CPUS: usize = 1 << 16;
/// The limits of a ceiling in requests per second: those of a rate, and the least that is a share of a load.
pub const CEILINGS: (f64, f64) = (1e-3, 1e9);
/// The least part of a load: that of the lowest ceiling among the highest ones.
const LEAST_PART: f64 = 1e-16;
/// The limit of an agent's connections, and of the virtual users of all.
pub(crate) const MOST_CONNECTIONS: usize = 1_000_000;
/// The limit of the words, the variables and the secrets of a load.
const MOST_WORDS: usize = 100_000;
/// The limit of the files of a load.
pub(crate) const MOST_FILES: usize = 10_000;
/// The limit of a path in bytes: that of Linux.
const MOST_PATH: usize = 4096;
/// The limit of a time of a clock in nanoseconds: 146 years after a machine was started.
const MOST_NS: u64 = 1 << 62;
/// The number of intervals that an agent keeps for its coordinator, an hour of them, and the limit of those that are sent again at
/// once.
pub(crate) const MOST_KEPT: usize = 3600;
/// The limit of intervals: those of the longest run, and one in which it ends.
const MOST_INTERVALS: u64 = LONGEST_S + 1;
/// The limit of entries of sessions.
pub(crate) const MOST_ENTRIES: u64 = 100_000;
/// The limit of the origins of an entry.
const MOST_ORIGINS: usize = 1000;
/// The limit of an agent's threads.
const MOST_THREADS: usize = 1 << 16;
/// The limit of the findings of an agent; there are eleven criteria.
const MOST_FINDINGS: usize = 64;

/// The longest run of a fleet.
pub(crate) const LONGEST: Duration = Duration::from_secs(LONGEST_S);

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
        within("cores", *cores, 1..=MOST_CPUS)?;
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
        let Self { words, files, variables, secrets } = self;
        no_longer("words", words.len(), MOST_WORDS)?;
        no_longer("files", files.len(), MOST_FILES)?;
        no_longer("variables", variables.len(), MOST_WORDS)?;
        no_longer("secrets", secrets.len(), MOST_WORDS)?;
        match files.keys().all(|path| !path.is_empty() && path.len() <= MOST_PATH) {
            true => Ok(()),
            false => Err(OutOfBounds { field: "files", must: format!("must have paths of 1 to {MOST_PATH} bytes") }),
        }
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
        let Self { number, last: _, sample: SampleText(_) } = self;
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
        within("busy_share", *busy_share, 0.0..=1.0)?;
        at_most("send_lag_p99_us", *send_lag_p99_us, LONGEST_S * 1_000_000)?;
        verdict.iter_mut().chain(error).for_each(text);
        no_longer("findings", findings.len(), MOST_FINDINGS)?;
        findings.iter_mut().try_for_each(|finding| finding.bound(most))
    }
}
