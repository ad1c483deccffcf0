//! The steps of a search: each is judged, repeated if noise may have made it fail, and begun when the service has recovered.

use super::ask::{Ask, Bench, Load, Purpose, Watch};
use super::reading::Reading;
use super::settings::Settings;
use super::streams::Alone;
use std::time::Duration;
use torr_gauge::latency::Summary;
use torr_gauge::verdict::{LoadUnit, StepReason};
use torr_press::RunError;

/// The response times that count as recovered: a multiple of the idle one, plus microseconds.
const USUAL: (f64, f64) = (2.0, 2000.0);
/// The requests of a check for recovery.
const LOOK: u64 = 10;
/// The time of a check beside the requests' own.
const LOOKS: Duration = Duration::from_millis(300);
/// The limit of the time that a step is taken to need beside its load.
const MOST_OVERHEAD: Duration = Duration::from_secs(1);
/// The gaps of a stream that such a check has.
const GAPS: f64 = 2.0;
/// The pause between two such checks.
const PAUSE: Duration = Duration::from_millis(50);
/// The least length of a step as a multiple of the objectives' response time.
const QUEUE: f64 = 10.0;
/// The number of tries of a rate that fails; one more if it is far below the closed loop's throughput.
const TRIES: usize = 2;
/// The share of the closed loop's throughput below which a failure is unlikely to be the service's.
pub(super) const FAR_BELOW: f64 = 0.6;
/// The ratio to the closed loop's throughput from which a failure is not random.
pub(super) const FAR: f64 = 1.2;
/// The largest factor by which a step is longer if its rate is low.
const LONGEST: f64 = 2.5;

/// The state of a search.
pub(super) struct Trials<'b, B> {
    pub bench: &'b mut B,
    pub settings: &'b Settings,
    started: Duration,
    /// Response times of the idle service; of streams, the times to the first event.
    pub base: Option<Summary>,
    /// The times of one stream at a time, where responses are streams of events.
    pub alone: Option<Alone>,
    /// The throughput of a closed loop, about the maximum.
    pub ceiling: Option<f64>,
    pub steps: Vec<Reading>,
    /// The part of the budget that is reserved for the time after the search.
    pub reserve: Duration,
    /// The most time that a step has taken beside warm-up and measured time: agents of a fleet come together first.
    overhead: Duration,
}

/// The outcome of a rate, after a repetition if needed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tried {
    pub reading: Reading,
    pub kept: bool,
}

impl<'b, B: Bench> Trials<'b, B> {
    pub fn new(bench: &'b mut B, settings: &'b Settings) -> Self {
        let started = bench.now();
        let (steps, reserve, overhead) = (Vec::new(), settings.reserve(), Duration::ZERO);
        Self { bench, settings, started, base: None, alone: None, ceiling: None, steps, reserve, overhead }
    }

    pub fn spent(&self) -> Duration {
        self.bench.now().saturating_sub(self.started)
    }

    /// Returns what is left of the budget.
    pub fn left(&self) -> Duration {
        self.settings.budget.saturating_sub(self.spent())
    }

    /// Returns the least length of a step, in which a growing queue exceeds the objectives' response time.
    pub fn shortest(&self) -> Duration {
        let usual = self.settings.step();
        if self.settings.unit == LoadUnit::Streams {
            return usual.max(self.alone.map_or(Duration::ZERO, Alone::gaps).min(self.longest()));
        }
        let allowed_s = self.settings.slo.slowest_us().unwrap_or(0.0) / 1e6;
        Duration::from_secs_f64((QUEUE * allowed_s).min(LONGEST * usual.as_secs_f64())).max(usual)
    }

    /// Returns the length of a step of this rate, which is long enough for its percentiles if the budget allows.
    pub fn length(&self, rate: f64) -> Duration {
        // Each stream has an event in each gap.
        let per_s = match self.settings.unit {
            LoadUnit::Requests => rate,
            LoadUnit::Streams => rate / self.alone.map_or(0.0, Alone::gap_s).max(1e-9),
        };
        let needed_s = self.settings.slo.samples() as f64 / per_s.max(1e-9);
        let longest = self.longest();
        Duration::try_from_secs_f64(needed_s).unwrap_or(longest).clamp(self.shortest(), longest)
    }

    /// Returns the longest step.
    pub fn longest(&self) -> Duration {
        self.settings.step().mul_f64(LONGEST)
    }

    /// Returns the highest load that is permitted.
    pub fn most(&self) -> f64 {
        match self.settings.unit {
            LoadUnit::Requests => self.settings.max_rate.unwrap_or(f64::INFINITY),
            LoadUnit::Streams => self.most_streams(),
        }
    }

    /// Returns a load between two others that can be tried: in the middle of their ratio. `None` if no number of streams is between them.
    pub fn between(&self, kept: f64, failed: f64) -> Option<f64> {
        let middle = (kept * failed).sqrt();
        match self.settings.unit {
            LoadUnit::Requests => Some(middle),
            LoadUnit::Streams => [middle, kept + 1.0]
                .map(|streams| self.settings.streams(streams) as f64)
                .into_iter()
                .find(|&streams| streams > kept && streams < failed),
        }
    }

    /// Returns a step with a number of streams at a time. All of it counts: a stream that begins in a warm-up might never end after it,
    /// and neither its first event nor its failure would be seen.
    fn ask_streams(&self, streams: f64, length: Duration, purpose: Purpose, why: StepReason) -> Ask {
        let streams = self.settings.streams(streams);
        let beginning = self.alone.filter(|_| streams > 1).map(|alone| alone.beginning(length));
        let begins = beginning.map(|beginning| streams as f64 / beginning.as_secs_f64().max(1e-6));
        Ask {
            load: Load::Streams(streams),
            begins_per_s: [begins, self.settings.max_rate].into_iter().flatten().reduce(f64::min),
            warmup: Duration::ZERO,
            length: length + beginning.unwrap_or_default(),
            requests: None,
            purpose,
            why,
            may_end_early: true,
        }
    }

    /// Returns the most streams at a time that the permitted connections and the permitted rate of new streams allow.
    fn most_streams(&self) -> f64 {
        let slots = self.settings.streams(f64::INFINITY) as f64;
        let beginning = self.alone.map_or(Duration::ZERO, |alone| alone.beginning(self.settings.step()));
        let begun = self.settings.max_rate.map(|rate| (rate * beginning.as_secs_f64()).max(1.0));
        begun.map_or(slots, |begun| self.settings.streams(begun) as f64)
    }

    /// Returns the length of a step that looks for a number of streams that fails.
    pub fn glance(&self) -> Duration {
        let gaps = self.alone.map_or(Duration::ZERO, Alone::gaps);
        self.settings.rung().max(gaps.min(self.longest()))
    }

    /// Returns a step with a load: a rate, or streams at a time.
    pub fn ask(&self, load: f64, length: Duration, purpose: Purpose, why: StepReason) -> Ask {
        match self.settings.unit {
            LoadUnit::Requests => ask(load, length, purpose, why),
            LoadUnit::Streams => self.ask_streams(load, length, purpose, why),
        }
    }

    /// Returns whether there is time for a step of this length and the reserve.
    pub fn has_time(&self, length: Duration) -> bool {
        !self.bench.stopped() && self.left() > self.reserve + self.time_of(length)
    }

    /// Returns whether there is time for an overload, and for a look at what follows.
    pub fn has_time_after(&self) -> bool {
        self.left() > self.time_of(self.settings.step()) + LOOKS + self.overhead
    }

    /// Returns the time that a step of this length takes, with its warm-up.
    pub fn time_of(&self, length: Duration) -> Duration {
        length.mul_f64(1.2) + self.overhead
    }

    /// Returns the length of a step of this rate, at most a share of the time left for the search.
    pub fn length_within(&self, rate: f64, part: f64) -> Duration {
        let share = self.left().saturating_sub(self.reserve).mul_f64(part / 1.2);
        self.length(rate).min(share.max(self.shortest()))
    }

    /// Runs a step. `None` if interrupted.
    pub fn step(&mut self, ask: &Ask) -> Result<Option<Reading>, RunError> {
        let at_s = self.spent().as_secs_f64();
        let slo = &self.settings.slo;
        let (mut watch, mut ended_early) = (Watch::new(slo, ask.load), false);
        let run = self.bench.press(ask, &mut |progress| {
            ended_early |= ask.may_end_early && watch.plainly_fails(progress);
            ended_early
        });
        let reading = match run {
            Ok(run) => {
                let reading = Reading::of(ask, slo, &run, at_s, ended_early);
                if ask.purpose == Purpose::Base {
                    let ended = run.total.answered.summary().filter(|_| run.result.errors.total() == 0);
                    self.alone =
                        reading.streams.as_ref().map(|streams| Alone::of(streams, ended.map(|length| length.min)));
                }
                let planned = ask.warmup.as_secs_f64() + reading.seconds;
                let took = (self.spent().as_secs_f64() - at_s - planned).clamp(0.0, MOST_OVERHEAD.as_secs_f64());
                self.overhead = self.overhead.max(Duration::from_secs_f64(took));
                reading
            }
            // The service was reachable before, so this is an effect of the load.
            Err(error @ RunError::Unreachable { .. }) if self.base.is_some() => {
                Reading::unreached(ask, error.to_string(), at_s)
            }
            Err(error) => return Err(error),
        };
        Ok((!self.bench.stopped()).then_some(reading))
    }

    /// Tries a rate, twice if needed, and waits after a failure until the service has recovered. `None` if interrupted.
    pub fn try_rate(
        &mut self,
        rate: f64,
        length: Duration,
        purpose: Purpose,
        mut why: StepReason,
    ) -> Result<Option<Tried>, RunError> {
        let far = self.ceiling.is_some_and(|ceiling| rate > FAR * ceiling);
        for tries in 1.. {
            let Some(reading) = self.recorded(&self.ask(rate, length, purpose, why))? else { break };
            if reading.kept {
                return Ok(Some(Tried { kept: true, reading }));
            }
            self.settle()?;
            // Requests that the generator sent late are no evidence against the service.
            let spoiled = reading.generator.is_some() && !reading.generator_saturated;
            // A rate to confirm was kept before, and each of its failures counts.
            let (tried_at_most, reserve) = match purpose {
                Purpose::Confirm => (1, self.settings.after()),
                _ if self.ceiling.is_some_and(|ceiling| rate < FAR_BELOW * ceiling) => (TRIES + 1, self.reserve),
                _ => (TRIES, self.reserve),
            };
            let time_for_more = self.left() > reserve + self.time_of(length);
            // Above the closed loop's throughput the service itself is expected to fail.
            let above = self.ceiling.is_some_and(|ceiling| rate >= ceiling);
            let plain = far || (above && reading.ended_early && !spoiled && !reading.is_disturbed());
            if plain || tries == tried_at_most + usize::from(spoiled) || !time_for_more {
                return Ok((!self.bench.stopped()).then_some(Tried { kept: false, reading }));
            }
            why = StepReason::Again;
        }
        Ok(None)
    }

    /// Runs a step that is recorded in the outcome.
    pub fn recorded(&mut self, ask: &Ask) -> Result<Option<Reading>, RunError> {
        let reading = self.step(ask)?;
        self.steps.extend(reading.clone());
        Ok(reading)
    }

    /// Waits until response times have recovered, up to a limit. Returns the time that took, `None` if they have not recovered.
    pub fn settle(&mut self) -> Result<Option<Duration>, RunError> {
        let Some(base) = self.base else { return Ok(Some(Duration::ZERO)) };
        let usual_us = base.typical_us();
        let from = self.bench.now();
        let patience = self.settings.patience().min(self.left());
        // One at a time, within the permitted rate.
        let (load, usual_s, requests) = match (self.settings.unit, self.settings.max_rate) {
            (LoadUnit::Streams, _) => {
                let gaps_s = GAPS * self.alone.map_or(0.0, Alone::gap_s);
                (Load::Streams(1), (usual_us / 1e6 + gaps_s).min(patience.as_secs_f64()), None)
            }
            (LoadUnit::Requests, None) => (Load::Connections(1), LOOK as f64 * usual_us / 1e6, Some(LOOK)),
            (LoadUnit::Requests, Some(most)) => (Load::Rate(most / 2.0), LOOK as f64 / (most / 2.0), Some(LOOK)),
        };
        let length = LOOKS + Duration::from_secs_f64(usual_s);
        // A look at streams, which may be endless, takes all of its time.
        let usual_s = if requests.is_some() { usual_s } else { length.as_secs_f64() };
        while !self.bench.stopped() && self.left() >= length + self.overhead {
            let ask = Ask {
                load,
                begins_per_s: self.settings.max_rate,
                warmup: Duration::ZERO,
                length,
                requests,
                purpose: Purpose::Settle,
                why: StepReason::Settle,
                may_end_early: false,
            };
            let Some(reading) = self.step(&ask)? else { break };
            let typical_us = reading.typical_us().filter(|_| reading.error_share == 0.0);
            let is_even = self.alone.is_none_or(|alone| alone.is_usual(reading.streams.as_ref(), USUAL));
            if is_even && typical_us.is_some_and(|us| us <= USUAL.0 * usual_us + USUAL.1) {
                // Only the first of them may have waited.
                let waited = self.bench.now().saturating_sub(from).as_secs_f64() - usual_s;
                return Ok(Some(Duration::from_secs_f64(waited.max(0.0))));
            }
            if self.bench.now().saturating_sub(from) >= patience {
                break;
            }
            self.bench.pause(PAUSE);
        }
        Ok(None)
    }
}

/// Returns a step with a rate.
pub(super) fn ask(rate: f64, length: Duration, purpose: Purpose, why: StepReason) -> Ask {
    Ask {
        load: Load::Rate(rate),
        begins_per_s: None,
        // The warm-up opens connections and fills caches.
        warmup: length.mul_f64(0.2),
        length,
        requests: None,
        purpose,
        why,
        may_end_early: true,
    }
}
