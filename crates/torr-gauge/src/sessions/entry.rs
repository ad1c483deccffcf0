//! The counts of one entry of a session: responses, failures, and asserts with examples.

use crate::Latency;
use crate::bounds::{Bounded, OutOfBounds, at_most, no_longer};
use crate::latency::Summary;
use crate::redact;
use crate::statuses::Statuses;
use crate::streams::StreamTally;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The limit of examples of a failed assert.
pub const MAX_EXAMPLES: usize = 5;
/// The limit of failures of an assert that are compared with the examples. Later ones cost a count only: under load one
/// fault fails an assert a hundred thousand times a second.
const MAX_COMPARED: u64 = 1000;
/// The limit of asserts of an entry that another machine reports.
pub const MAX_ASSERTS: usize = 10_000;
/// The limit of a text of an example or a cause in bytes.
const MAX_TEXT: usize = 200;
/// The limit of distinct causes; further ones are counted as [`OTHER`].
const MAX_CAUSES: usize = 8;
/// The cause that stands for those beyond the limit.
const OTHER: &str = "other causes";

/// The counts of one entry. A request ends as a response (with a status), a failure, or unfinished.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct EntryCounts {
    /// The response times of complete responses, and the ages of requests that timed out or are unfinished.
    pub response_times: Latency,
    /// The shortest response time of a complete response in microseconds: the age of an unfinished request may be near 0.
    shortest: Option<u64>,
    /// The number of complete responses by status code.
    pub status: Statuses,
    /// The number of complete responses that failed: an assert failed, or the entry expects no status and it is 400 or more.
    pub responses_failed: u64,
    /// The number of requests that failed without a complete response.
    pub request_failures: u64,
    /// The number of requests without a response when the run ended.
    pub unfinished: u64,
    /// The number of requests that were sent again because of failed asserts.
    pub retries: u64,
    /// The number of sessions that ended early at this entry.
    pub sessions_failed: u64,
    /// The counts of each assert, by its number.
    pub asserts: Vec<AssertCounts>,
    /// The streams among the responses, if any were event streams.
    #[serde(default)]
    pub streams: Option<Box<StreamTally>>,
    /// The numbers of the servers that requests went to, as bits.
    #[serde(skip)]
    servers: u128,
    /// The number of sessions that ended early at this entry for other reasons than asserts, by reason.
    causes: BTreeMap<String, u64>,
}

/// The counts of one assert.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct AssertCounts {
    /// The number of responses that failed the assert.
    pub failed: u64,
    /// The first distinct examples, at most [`MAX_EXAMPLES`].
    pub examples: Vec<AssertExample>,
}

/// An example of a failed assert: the expected and the actual value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssertExample {
    /// The expectation, such as `status 200`.
    pub expected: String,
    /// The value in the response, which may hold any character.
    pub actual: String,
}

impl EntryCounts {
    /// Creates counts of zero for an entry with this number of asserts.
    pub(super) fn new(asserts: usize) -> Self {
        Self { asserts: vec![AssertCounts::default(); asserts], ..Self::default() }
    }

    /// Counts a complete response after `nanos` since its request was due. `passed` tells whether it was as the entry expects;
    /// without an expected status, a status of 400 or more is not.
    pub fn record_response(&mut self, nanos: u64, status: u16, passed: bool) {
        self.response_times.record(nanos);
        self.shorten(Latency::rounded(nanos));
        self.status.count(status);
        self.responses_failed += u64::from(!passed);
    }

    fn shorten(&mut self, us: u64) {
        self.shortest = Some(self.shortest.unwrap_or(us).min(us));
    }

    /// Returns the summary of the response times, `None` without any. Its minimum is that of complete responses, if there are
    /// any.
    pub fn summary(&self) -> Option<Summary> {
        self.response_times.summary().map(|all| Summary { min: self.shortest.unwrap_or(all.min), ..all })
    }

    /// Counts a request that failed without a complete response. A request that timed out is in the response times too, with
    /// its age in nanoseconds.
    pub fn record_request_failure(&mut self, timed_out_after: Option<u64>) {
        self.request_failures += 1;
        timed_out_after.into_iter().for_each(|nanos| self.response_times.record(nanos));
    }

    /// Counts a request that had no response when the run ended, with its age in nanoseconds.
    pub fn record_unfinished(&mut self, nanos: u64) {
        self.unfinished += 1;
        self.response_times.record(nanos);
    }

    /// Notes that a request goes to the server with this number. Those from 128 on are not noted.
    #[inline]
    pub fn note_server(&mut self, number: usize) {
        self.servers |= u32::try_from(number).ok().and_then(|number| 1_u128.checked_shl(number)).unwrap_or(0);
    }

    /// Returns the numbers of the servers that requests went to.
    pub fn servers(&self) -> impl Iterator<Item = usize> {
        let servers = self.servers;
        (0..128).filter(move |number| servers >> number & 1 == 1)
    }

    /// Counts a request that is sent again because of failed asserts.
    pub fn record_retry(&mut self) {
        self.retries += 1;
    }

    /// Counts a response that failed the assert of this number. `example` is called only while examples are wanted; its texts
    /// are what was expected and what was there, and must not hold secrets.
    pub fn record_failed_assert(&mut self, assert: usize, example: impl FnOnce() -> AssertExample) {
        if self.asserts.len() <= assert {
            self.asserts.resize_with(assert + 1, AssertCounts::default);
        }
        self.asserts[assert].record(example);
    }

    /// Returns the number of complete responses.
    pub fn requests(&self) -> u64 {
        self.status.total()
    }

    /// Returns the number of requests begun: complete responses, failures and unfinished ones.
    pub fn begun(&self) -> u64 {
        self.requests() + self.request_failures + self.unfinished
    }

    /// Returns the number of requests that failed, with a complete response or without.
    pub fn failed(&self) -> u64 {
        self.request_failures + self.responses_failed
    }

    /// Returns the number of failed asserts; one response may fail several.
    pub fn asserts_failed(&self) -> u64 {
        self.asserts.iter().map(|assert| assert.failed).sum()
    }

    /// Returns the reasons other than asserts for which sessions ended early here, with their counts, the most frequent first.
    pub fn causes(&self) -> Vec<(&str, u64)> {
        let mut causes: Vec<_> = self.causes.iter().map(|(why, &count)| (why.as_str(), count)).collect();
        causes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        causes
    }

    pub(super) fn count_cause(&mut self, why: &str, count: u64) {
        let why = shortened(why);
        let is_kept = self.causes.len() < MAX_CAUSES || self.causes.contains_key(&why);
        *self.causes.entry(if is_kept { why } else { OTHER.to_owned() }).or_default() += count;
    }

    /// Adds the counts of the same entry by other users.
    pub fn merge(&mut self, other: &Self) {
        self.response_times.add(&other.response_times);
        other.shortest.into_iter().for_each(|us| self.shorten(us));
        self.status.add(&other.status);
        self.responses_failed += other.responses_failed;
        self.request_failures += other.request_failures;
        self.unfinished += other.unfinished;
        self.retries += other.retries;
        self.sessions_failed += other.sessions_failed;
        if let Some(streams) = &other.streams {
            self.streams.get_or_insert_default().add(streams);
        }
        self.servers |= other.servers;
        if self.asserts.len() < other.asserts.len() {
            self.asserts.resize_with(other.asserts.len(), AssertCounts::default);
        }
        self.asserts.iter_mut().zip(&other.asserts).for_each(|(mine, theirs)| mine.merge(theirs));
        other.causes.iter().for_each(|(why, &count)| self.count_cause(why, count));
    }
}

impl Bounded for EntryCounts {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let Self {
            response_times,
            shortest,
            status,
            responses_failed,
            request_failures,
            unfinished,
            retries,
            sessions_failed,
            asserts,
            streams,
            servers: _,
            causes,
        } = self;
        at_most("response_times", response_times.counts().map(|(_, count)| count), most)?;
        at_most("shortest", *shortest, crate::bounds::LONGEST_NS / 1000)?;
        status.bound(most)?;
        for (field, count) in [
            ("responses_failed", *responses_failed),
            ("request_failures", *request_failures),
            ("unfinished", *unfinished),
            ("retries", *retries),
            ("sessions_failed", *sessions_failed),
        ] {
            at_most(field, [count], most)?;
        }
        streams.as_mut().map_or(Ok(()), |streams| streams.bound(most))?;
        no_longer("asserts", asserts.len(), MAX_ASSERTS)?;
        at_most("asserts", asserts.iter().map(|assert| assert.failed), most)?;
        asserts.iter_mut().for_each(AssertCounts::cut);
        no_longer("causes", causes.len(), MAX_CAUSES + 1)?;
        at_most("causes", causes.values().copied(), most)?;
        let all = std::mem::take(causes);
        *causes = all.into_iter().map(|(why, count)| (shortened(&redact::printable(&why)), count)).collect();
        Ok(())
    }
}

impl AssertCounts {
    /// Cuts what is beyond the limits of examples.
    fn cut(&mut self) {
        self.examples.truncate(MAX_EXAMPLES);
        for AssertExample { expected, actual } in &mut self.examples {
            (*expected, *actual) = (shortened(expected), shortened(actual));
        }
    }

    fn record(&mut self, example: impl FnOnce() -> AssertExample) {
        self.failed += 1;
        if self.examples.len() < MAX_EXAMPLES && self.failed <= MAX_COMPARED {
            let AssertExample { expected, actual } = example();
            self.keep(AssertExample { expected: shortened(&expected), actual: shortened(&actual) });
        }
    }

    fn merge(&mut self, other: &Self) {
        self.failed += other.failed;
        other.examples.iter().for_each(|example| self.keep(example.clone()));
    }

    fn keep(&mut self, example: AssertExample) {
        if self.examples.len() < MAX_EXAMPLES && !self.examples.contains(&example) {
            self.examples.push(example);
        }
    }
}

/// Returns the text up to its limit, with `...` instead of what follows.
fn shortened(text: &str) -> String {
    const MARK: &str = "...";
    if text.len() <= MAX_TEXT {
        return text.to_owned();
    }
    let mut end = MAX_TEXT - MARK.len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{MARK}", &text[..end])
}
