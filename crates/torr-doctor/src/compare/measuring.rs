//! The turns of a comparison: an experiment for each variant per round, and the ratios between variants.

use super::row::Row;
use super::schedule::{LEAST_ROUNDS, MOST_ROUNDS, Schedule};
use crate::halt::Halt;
use crate::load_runner::LoadRunner;
use crate::observation::{Observation, quantile};
use crate::observer::Observer;
use crate::turns::{Ratio, in_turns};
use std::time::{Duration, Instant};
use torr_gauge::verdict::ExperimentId;
use torr_press::Plan;

/// The half width of all intervals, as a factor, below which no more rounds are run.
const NARROW: f64 = 1.015;
/// The least number of rounds, if the budget allows.
const USUAL_ROUNDS: usize = 5;
const NONE: Duration = Duration::ZERO;
/// The length of the first run of each variant, which does not count.
const FIRST_LOOK: Duration = Duration::from_millis(250);

/// A variant that is compared.
pub struct Way<'w> {
    /// The name of the variant in the report.
    pub name: String,
    /// The load. Its duration is not used.
    pub plan: Plan,
    /// The observer of the server's machine.
    pub observer: Option<&'w dyn Observer>,
}

/// The experiments of a comparison by round and variant.
pub struct Turns {
    /// The positions of each round's experiments in the trail, by variant.
    rounds: Vec<Vec<usize>>,
    /// The planned rounds.
    schedule: Schedule,
    /// Whether the comparison was interrupted.
    pub interrupted: bool,
}

impl Turns {
    /// Runs rounds of one experiment for each variant; `turn` runs an experiment.
    ///
    /// # Errors
    /// Those of `turn`, except for an interruption after the first round.
    pub fn take<'l>(
        runner: &mut LoadRunner<'l>,
        ways: usize,
        schedule: Schedule,
        mut turn: impl FnMut(&mut LoadRunner<'l>, usize) -> Result<(), Halt>,
    ) -> Result<Self, Halt> {
        let (started, mut rounds) = (Instant::now(), Vec::new());
        let ended = in_turns(
            runner,
            ways,
            &mut rounds,
            |runner, way| {
                turn(runner, way)?;
                Ok(runner.trail.len() - 1)
            },
            |runner, rounds| {
                let next = runner.elapsed() + started.elapsed() / rounds.len() as u32;
                let ratios: Vec<_> = (1..ways).map(|way| ratio(runner, rounds, 0, way)).collect();
                let narrow = ratios.iter().all(|ratio| ratio.is_above(ratio.ratio / NARROW));
                let vague = ratios.iter().any(Ratio::is_vague);
                (next > runner.assignment.budget && rounds.len() >= LEAST_ROUNDS)
                    || (rounds.len() >= MOST_ROUNDS && !vague)
                    || (rounds.len() >= USUAL_ROUNDS.min(schedule.rounds) && narrow)
            },
        );
        match ended {
            Ok(()) => Ok(Self { rounds, schedule, interrupted: false }),
            Err(Halt::Interrupted) if !rounds.is_empty() => Ok(Self { rounds, schedule, interrupted: true }),
            Err(halt) => Err(halt),
        }
    }

    /// Runs the rounds of variants whose servers are running already.
    ///
    /// # Errors
    /// [`Halt`].
    pub fn of(runner: &mut LoadRunner<'_>, ways: &[Way<'_>], id: ExperimentId) -> Result<Self, Halt> {
        let budget = runner.assignment.budget;
        // A budget that is too small is refused before the first run.
        let looks = FIRST_LOOK * ways.len() as u32;
        Schedule::within(budget, looks, ways.len(), NONE, NONE)?;
        let mut response = NONE;
        for way in ways {
            let plan = Plan { duration: Some(FIRST_LOOK), ..runner.bounded(way.plan.clone()) };
            response = response.max(usual(runner.run(ExperimentId::FirstRun, &way.name, &plan)?));
        }
        let schedule = Schedule::within(budget, runner.elapsed().min(looks), ways.len(), NONE, response)?;
        Self::take(runner, ways.len(), schedule, |runner, at| {
            let way = &ways[at];
            let plan = Plan { duration: Some(schedule.length), ..runner.bounded(way.plan.clone()) };
            runner.run_seen_by(way.observer, id, &way.name, &plan)?;
            Ok(())
        })
    }

    /// Returns the number of rounds.
    pub fn rounds(&self) -> usize {
        self.rounds.len()
    }

    /// Returns the experiments of a variant.
    pub fn observations<'t>(&self, runner: &'t LoadRunner<'_>, way: usize) -> Vec<&'t Observation> {
        self.rounds.iter().map(|round| &runner.trail[round[way]]).collect()
    }

    /// Returns the throughput of one variant as a ratio to another's.
    pub fn ratio(&self, runner: &LoadRunner<'_>, from: usize, to: usize) -> Ratio {
        ratio(runner, &self.rounds, from, to)
    }

    /// Returns a row for each of these variants, compared with the first.
    pub fn rows<'n>(&self, runner: &LoadRunner<'_>, names: impl IntoIterator<Item = &'n str>) -> Vec<Row> {
        let is_base = !Row::over("", &self.observations(runner, 0), None).mostly_fails();
        let row = |(way, name): (usize, &str)| {
            let mut row = Row::over(name, &self.observations(runner, way), None);
            row.ratio = (way > 0 && is_base && !row.mostly_fails()).then(|| self.ratio(runner, 0, way));
            let response = Duration::from_micros(row.p50_us.unwrap_or(0));
            Row { short: self.schedule.is_short_for(response), ..row }
        };
        names.into_iter().enumerate().map(row).collect()
    }
}

/// Returns the median response time, including the ages of requests without a response.
pub fn usual(observation: &Observation) -> Duration {
    let mut latency = observation.sample.answered.clone();
    latency.add(&observation.sample.unanswered);
    quantile(&latency, 0.5).unwrap_or(NONE)
}

fn ratio(runner: &LoadRunner<'_>, rounds: &[Vec<usize>], from: usize, to: usize) -> Ratio {
    let rate = |at: usize| runner.trail[at].good_rps();
    let pairs: Vec<_> = rounds.iter().map(|round| (rate(round[from]), rate(round[to]))).collect();
    Ratio::over(&pairs)
}
