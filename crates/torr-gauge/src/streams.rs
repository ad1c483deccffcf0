//! Responses that are streams of events: the events of each, and the times between them.

use crate::Latency;
use crate::bounds::{Bounded, LONGEST_NS, MOST_IN_A_RUN, OutOfBounds, at_most};
use crate::buckets::Buckets;
use crate::latency::Summary;
use serde::{Deserialize, Serialize};

/// The events of streams in one interval.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamTally {
    /// The number of events received.
    pub events: u64,
    /// The times from the scheduled time of a request to the first event of its stream.
    pub first_event: Latency,
    /// The times between two consecutive events of a stream. Events that are read at once have times of 0 between them.
    pub gaps: Latency,
    /// The times since the last event of the streams that were open when the run ended: gaps whose end is not known.
    pub open_gaps: Latency,
    /// The longest time in nanoseconds in which an open stream had no event, the time before the run's end included.
    pub longest_silence: u64,
    /// The number of streams that the client ended as planned.
    pub limited: u64,
    /// The number of streams that failed since they had no event for too long.
    pub silent: u64,
    /// The number of streams that were open when the run ended.
    pub open: u64,
    /// The tokens of language models in the events, where those are counted.
    pub tokens: Option<Box<TokenTally>>,
}

/// The tokens of language models in one interval.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenTally {
    /// The number of events with a token.
    pub chunks: u64,
    /// The times from the scheduled time of a request to the first token of its stream.
    pub first: Latency,
    /// The times between two consecutive events with a token. Events that are read at once have times of 0 between them.
    pub gaps: Latency,
    /// The sum of these times in nanoseconds.
    pub spent: u64,
    /// The number of streams that said how many tokens they had.
    pub with_usage: u64,
    /// The tokens of completions that streams said they had.
    pub completion: u64,
    /// The events among `chunks` that these tokens came in.
    pub counted_chunks: u64,
    /// The tokens of prompts that streams said they had.
    pub prompt: u64,
}

impl TokenTally {
    /// Adds another tally.
    fn add(&mut self, other: &Self) {
        self.chunks += other.chunks;
        self.first.add(&other.first);
        self.gaps.add(&other.gaps);
        self.spent = self.spent.saturating_add(other.spent);
        self.with_usage += other.with_usage;
        self.completion = self.completion.saturating_add(other.completion);
        self.counted_chunks += other.counted_chunks;
        self.prompt = self.prompt.saturating_add(other.prompt);
    }

    /// Returns an empty tally with the memory of this one.
    fn cleared(self) -> Self {
        let Self { mut first, mut gaps, .. } = self;
        first.clear();
        gaps.clear();
        Self { first, gaps, ..Self::default() }
    }

    /// Returns the number of tokens: what the streams said, and an event for each where they said nothing.
    pub fn tokens(&self) -> u64 {
        self.chunks.saturating_sub(self.counted_chunks).saturating_add(self.completion)
    }

    fn summary(&self, duration_s: f64) -> Tokens {
        let tokens = self.tokens();
        let round3 = crate::generator::round3;
        // A stream's first token ends no time between two.
        let between = tokens.saturating_sub(self.first.count());
        Tokens {
            tokens,
            tokens_per_s: round3(tokens as f64 / duration_s.max(1e-6)),
            first_token_us: self.first.summary(),
            first_token_histogram: Buckets::of(&self.first),
            gap_us: self.gaps.summary(),
            per_token_us: (between > 0).then(|| round3(self.spent as f64 / 1e3 / between as f64)),
            chunks: self.chunks,
            with_usage: self.with_usage,
            prompt_tokens: self.prompt,
        }
    }
}

impl StreamTally {
    /// Records a silence of a stream.
    #[inline]
    pub fn silence(&mut self, nanos: u64) {
        self.longest_silence = self.longest_silence.max(nanos);
    }

    /// Adds another tally.
    pub fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.first_event.add(&other.first_event);
        self.gaps.add(&other.gaps);
        self.open_gaps.add(&other.open_gaps);
        self.silence(other.longest_silence);
        if let Some(tokens) = &other.tokens {
            self.tokens.get_or_insert_default().add(tokens);
        }
        self.limited += other.limited;
        self.silent += other.silent;
        self.open += other.open;
    }

    /// Returns an empty tally with the memory of this one.
    #[must_use]
    pub fn cleared(self) -> Self {
        let Self { mut first_event, mut gaps, mut open_gaps, tokens, .. } = self;
        first_event.clear();
        gaps.clear();
        open_gaps.clear();
        Self {
            first_event,
            gaps,
            open_gaps,
            tokens: tokens.map(|tokens| Box::new(tokens.cleared())),
            ..Self::default()
        }
    }

    /// Returns the summary of a run of so many seconds, whose streams ended after these times. What an event costs is left open.
    pub fn summary(&self, lengths: &Latency, duration_s: f64) -> Streams {
        Streams {
            events: self.events,
            events_per_s: crate::generator::round3(self.events as f64 / duration_s.max(1e-6)),
            begun: self.first_event.count(),
            first_event_us: self.first_event.summary(),
            first_event_histogram: Buckets::of(&self.first_event),
            gap_us: self.gaps.summary(),
            gap_histogram: Buckets::of(&self.gaps),
            longest_silence_us: self.longest_silence / 1000,
            length_us: lengths.summary(),
            limited: self.limited,
            silent: self.silent,
            open: self.open,
            cpu_us_per_event: None,
            tokens: self.tokens.as_ref().map(|tokens| tokens.summary(duration_s)),
        }
    }
}

impl Bounded for StreamTally {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let Self { events, first_event, gaps, open_gaps, longest_silence, limited, silent, open, tokens } = self;
        // A response has many events.
        at_most("events", [*events], MOST_IN_A_RUN)?;
        at_most("gaps", gaps.counts().map(|(_, count)| count), MOST_IN_A_RUN)?;
        at_most("open_gaps", open_gaps.counts().map(|(_, count)| count), most)?;
        at_most("first_event", first_event.counts().map(|(_, count)| count), most)?;
        at_most("longest_silence", [*longest_silence], LONGEST_NS)?;
        [("limited", *limited), ("silent", *silent), ("open", *open)]
            .into_iter()
            .try_for_each(|(field, count)| at_most(field, [count], most))?;
        tokens.as_mut().map_or(Ok(()), |tokens| tokens.bound(most))
    }
}

impl Bounded for TokenTally {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let Self { chunks, first, gaps, spent, with_usage, completion, counted_chunks, prompt } = self;
        let many = [
            ("chunks", *chunks),
            ("completion", *completion),
            ("counted_chunks", *counted_chunks),
            ("prompt", *prompt),
        ];
        many.into_iter().try_for_each(|(field, count)| at_most(field, [count], MOST_IN_A_RUN))?;
        at_most("gaps", gaps.counts().map(|(_, count)| count), MOST_IN_A_RUN)?;
        at_most("first", first.counts().map(|(_, count)| count), most)?;
        at_most("with_usage", [*with_usage], most)?;
        // Of all streams of a thread together.
        at_most("spent", [*spent], u64::MAX / 2)
    }
}

/// The streams of a run. Each request is one; how each ended is among `requests`, `errors` and `unfinished` of the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Streams {
    /// The number of events received.
    pub events: u64,
    /// Events per second.
    pub events_per_s: f64,
    /// The number of streams that had an event.
    pub begun: u64,
    /// The times from the scheduled time of a request to the first event of its stream, in microseconds.
    pub first_event_us: Option<Summary>,
    /// The samples of `first_event_us`.
    #[serde(default, skip_serializing_if = "Buckets::is_empty")]
    pub first_event_histogram: Buckets,
    /// The times between two consecutive events of a stream, in microseconds.
    pub gap_us: Option<Summary>,
    /// The samples of `gap_us`.
    #[serde(default, skip_serializing_if = "Buckets::is_empty")]
    pub gap_histogram: Buckets,
    /// The longest time in which an open stream had no event, in microseconds.
    pub longest_silence_us: u64,
    /// The times from the scheduled time to the end of streams that came to one, in microseconds.
    pub length_us: Option<Summary>,
    /// The number of streams that the client ended, as planned by `--until` or `--max-events`.
    #[serde(default)]
    pub limited: u64,
    /// The number of streams that failed since they had no event for the time of `--idle-timeout`.
    #[serde(default)]
    pub silent: u64,
    /// The number of streams that were open when the run ended: a part of `unfinished`.
    #[serde(default)]
    pub open: u64,
    /// The CPU time of the generator for each event in microseconds, where it is known.
    #[serde(default)]
    pub cpu_us_per_event: Option<f64>,
    /// The tokens of language models in the events, where those are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

/// The tokens of language models in the streams of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tokens {
    /// The number of tokens: as many as streams said they had, and an event for each where they said nothing.
    pub tokens: u64,
    /// Tokens per second.
    pub tokens_per_s: f64,
    /// The times from the scheduled time of a request to the first token of its stream, in microseconds.
    pub first_token_us: Option<Summary>,
    /// The samples of `first_token_us`.
    #[serde(default, skip_serializing_if = "Buckets::is_empty")]
    pub first_token_histogram: Buckets,
    /// The times between two consecutive events with a token, in microseconds.
    pub gap_us: Option<Summary>,
    /// The mean time in microseconds for each token after the first one of a stream; `None` if no stream had two.
    pub per_token_us: Option<f64>,
    /// The number of events with a token.
    pub chunks: u64,
    /// The number of streams that said how many tokens they had.
    pub with_usage: u64,
    /// The tokens of the prompts, of these streams.
    pub prompt_tokens: u64,
}
