//! What a search found, as facts: the reason of its result, what it saw below and above the limit, and what to do.

use super::found::Spread;
use super::outcome::{Outcome, Sustained};
use super::overload::ABOVE;
use super::reading::Reading;
use torr_gauge::verdict::{Advice, Course, Fact, LimitKind, LoadUnit, OverloadEffect, SearchGoal};

/// The limits whose increase the advice multiplies.
const MORE_CONNECTIONS: usize = 4;
const MORE_TIME: f64 = 3.0;

impl Outcome {
    /// Returns the reason of the result.
    pub fn reason(&self) -> Vec<Fact> {
        let failed = self.failed.as_ref();
        let ended = |before| Some(Fact::SearchEnded { interrupted: self.interrupted, before });
        let why = match self.kind {
            LimitKind::Limit | LimitKind::Never => None,
            LimitKind::AtLeastMaxRate => Some(Fact::MaxRateReached),
            LimitKind::AtLeastGenerator => {
                Some(Fact::GeneratorLimit { why: failed.and_then(|failed| failed.generator.clone()).map(Box::new) })
            }
            LimitKind::AtLeastConnections => Some(Fact::ConnectionLimit),
            LimitKind::AtLeastTime if failed.is_some() => ended(SearchGoal::CloserLimit),
            LimitKind::AtLeastTime => ended(SearchGoal::FailedRate),
            LimitKind::Unknown if failed.is_some() => ended(SearchGoal::SustainedRate),
            LimitKind::Unknown => ended(SearchGoal::AnyRate),
        };
        why.into_iter().chain(failed.map(Reading::failed)).collect()
    }

    /// Returns the observations beside the result.
    pub fn observations(&self) -> Vec<Fact> {
        let sustained = self.sustained.as_ref();
        let disturbance = self.disturbance.map(|found| Fact::DisturbedSteps {
            others_share: found.most.others,
            stolen_share: found.most.stolen,
            steps: found.steps,
            failed: found.failed,
            of: found.of,
        });
        let overload = self.overload.as_ref().map(|overload| OverloadEffect {
            factor: ABOVE,
            rps: overload.rate,
            streams: overload.streams.map(|streams| streams.at_a_time as u64),
            good_share: sustained.map_or(0.0, |sustained| match (overload.streams, sustained.streams) {
                (Some(over), Some(at)) => over.events_per_s / at.events_per_s.max(1e-6),
                _ => overload.good_per_s / sustained.rate,
            }),
            p99_s: overload
                .streams
                .map_or(overload.latency_us, |streams| streams.gap_us)
                .and_then(|times| times.p99)
                .map(|us| us as f64 / 1e6),
            failed_share: overload.error_share,
            course: overload.course,
            recovered_s: overload.recovered_after_s,
            waited_s: overload.waited_s,
        });
        let connections = self.connections.map(|needed| Fact::ConnectionsNeeded {
            connections: needed.recommended,
            busy: needed.busy,
            waiting: needed.waiting,
            all: needed.recommended >= self.max_connections as u64,
        });
        let unloaded = self.base_us.map(|base| base.typical_us() / 1e6);
        let unloaded = unloaded.map(|seconds| match self.unit {
            LoadUnit::Requests => Fact::RequestAlone { seconds },
            LoadUnit::Streams => {
                Fact::StreamAlone { first_event_s: seconds, gap_s: self.base_gap_us.map(|us| us / 1e6) }
            }
        });
        [
            spread(&self.spread, sustained.map_or(0.0, Sustained::load), self.unit),
            disturbance,
            overload.map(Fact::Overload),
            connections,
            unloaded,
            self.knee.map(|knee| Fact::Knee { connections: knee.round().max(1.0) as u64 }),
            self.fit.map(|fit| Fact::ScalabilityLaw {
                lambda: fit.lambda,
                sigma: fit.sigma,
                kappa: fit.kappa,
                r2: fit.r2,
                off: fit.off,
                good: fit.good,
                peak: fit.peak,
            }),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns what to do, but for commands.
    pub fn advice(&self) -> Vec<Advice> {
        let result = match self.kind {
            LimitKind::AtLeastGenerator => Some(Advice::MoreCpu),
            LimitKind::AtLeastConnections => {
                Some(Advice::RaiseMaxConnections { connections: self.max_connections * MORE_CONNECTIONS })
            }
            LimitKind::AtLeastTime if !self.interrupted => {
                Some(Advice::RaiseBudget { seconds: self.budget_s * MORE_TIME })
            }
            LimitKind::Never => Some(Advice::LowerObjectives),
            _ => None,
        };
        let overload = self.overload.as_ref();
        let shed = overload.and_then(|overload| match overload.course {
            Course::Recovers => None,
            Course::Collapses => Some(Advice::ShedLoad),
            Course::StaysSlow => Some(Advice::BoundQueue),
        });
        let is_disturbed = self.disturbance.is_some_and(|disturbance| disturbance.failed > 0);
        let kept = overload.filter(|overload| overload.kept).map(|_| {
            let limit = self.sustained.as_ref().map_or(f64::INFINITY, Sustained::load);
            Advice::SearchAgain { factor: ABOVE, noise: self.fails_at.is_some_and(|at| at <= ABOVE * limit) }
        });
        [result, shed, is_disturbed.then_some(Advice::StopOthers), kept].into_iter().flatten().collect()
    }
}

/// Returns the rates whose steps do not agree with the result. `None` if all agree.
fn spread(spread: &[Spread], sustained: f64, unit: LoadUnit) -> Option<Fact> {
    let (above, below): (Vec<&Spread>, Vec<&Spread>) = spread.iter().partition(|at| at.rate > sustained);
    let kept_above = above.iter().map(|at| (at.rate, at.kept)).collect();
    let failed_too = above.iter().all(|at| at.failed > 0);
    let failed_below = below.iter().map(|at| (at.rate, at.failed)).collect();
    (!spread.is_empty()).then_some(match unit {
        LoadUnit::Requests => Fact::OtherRates { kept_above, failed_too, failed_below },
        LoadUnit::Streams => Fact::OtherStreams { kept_above, failed_too, failed_below },
    })
}
