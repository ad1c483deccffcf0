//! The turns of a comparison, and the ratios between its ways.

use super::row::Row;
use super::schedule::{LEAST_ROUNDS, MOST_ROUNDS, Schedule};
use crate::halt::Halt;
use crate::laboratory::Laboratory;
use crate::observation::{Observation, quantile};
use crate::observer::Observer;
use crate::turns::{Ratio, in_turns};
use std::time::{Duration, Instant};
use torr_press::Plan;

/// Once all intervals are narrower than this, more rounds would tell nothing new.
const NARROW: f64 = 1.015;
/// The rounds that are made in any case, if the budget allows.
const USUAL_ROUNDS: usize = 5;
const NONE: Duration = Duration::ZERO;
/// How long each way is pressed before anything counts.
const FIRST_LOOK: Duration = Duration::from_millis(250);

/// One of the ways that are compared.
pub struct Way<'w> {
    /// What it is called.
    pub name: String,
    /// How the service is loaded. Its length does not matter.
    pub plan: Plan,
    /// The machine of the server that is asked.
    pub observer: Option<&'w dyn Observer>,
}

/// Which experiments belong to which way.
pub struct Turns {
    /// Of each round, where in the trail each way's experiment stands.
    rounds: Vec<Vec<usize>>,
    /// What was planned.
    schedule: Schedule,
    /// Whether somebody ended it early.
    pub interrupted: bool,
}

impl Turns {
    /// Lets each of so many ways have its turns: `turn` makes one experiment.
    ///
    /// # Errors
    /// What `turn` has, but for an interruption after the first round.
    pub fn take<'l>(
        lab: &mut Laboratory<'l>,
        ways: usize,
        schedule: Schedule,
        mut turn: impl FnMut(&mut Laboratory<'l>, usize) -> Result<(), Halt>,
    ) -> Result<Self, Halt> {
        let (started, mut rounds) = (Instant::now(), Vec::new());
        let ended = in_turns(
            lab,
            ways,
            &mut rounds,
            |lab, way| {
                turn(lab, way)?;
                Ok(lab.trail.len() - 1)
            },
            |lab, rounds| {
                let next = lab.elapsed() + started.elapsed() / rounds.len() as u32;
                let ratios: Vec<_> = (1..ways).map(|way| ratio(lab, rounds, 0, way)).collect();
                let narrow = ratios.iter().all(|ratio| ratio.is_above(ratio.ratio / NARROW));
                let vague = ratios.iter().any(Ratio::is_vague);
                (next > lab.assignment.budget && rounds.len() >= LEAST_ROUNDS)
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

    /// The same for ways that are there from the beginning.
    ///
    /// # Errors
    /// [`Halt`].
    pub fn of(lab: &mut Laboratory<'_>, ways: &[Way<'_>], why: &str) -> Result<Self, Halt> {
        let budget = lab.assignment.budget;
        // If there is not enough time, nothing needs to begin.
        let looks = FIRST_LOOK * ways.len() as u32;
        Schedule::within(budget, looks, ways.len(), NONE, NONE)?;
        let mut response = NONE;
        for way in ways {
            let plan = Plan { duration: Some(FIRST_LOOK), ..lab.bounded(way.plan.clone()) };
            response = response.max(usual(lab.run(&way.name, "whether it answers, and to warm it up", &plan)?));
        }
        let schedule = Schedule::within(budget, lab.elapsed().min(looks), ways.len(), NONE, response)?;
        Self::take(lab, ways.len(), schedule, |lab, at| {
            let way = &ways[at];
            let plan = Plan { duration: Some(schedule.length), ..lab.bounded(way.plan.clone()) };
            lab.run_seen_by(way.observer, &way.name, why, &plan)?;
            Ok(())
        })
    }

    /// How many rounds there were.
    pub fn rounds(&self) -> usize {
        self.rounds.len()
    }

    /// The experiments of a way.
    pub fn observations<'t>(&self, lab: &'t Laboratory<'_>, way: usize) -> Vec<&'t Observation> {
        self.rounds.iter().map(|round| &lab.trail[round[way]]).collect()
    }

    /// The throughput of one way as a ratio to another's.
    pub fn ratio(&self, lab: &Laboratory<'_>, from: usize, to: usize) -> Ratio {
        ratio(lab, &self.rounds, from, to)
    }

    /// A row for each of these ways, compared with the first.
    pub fn rows<'n>(&self, lab: &Laboratory<'_>, names: impl IntoIterator<Item = &'n str>) -> Vec<Row> {
        let is_base = !Row::over("", &self.observations(lab, 0), None).mostly_fails();
        let row = |(way, name): (usize, &str)| {
            let mut row = Row::over(name, &self.observations(lab, way), None);
            row.ratio = (way > 0 && is_base && !row.mostly_fails()).then(|| self.ratio(lab, 0, way));
            let response = Duration::from_micros(row.p50_us.unwrap_or(0));
            Row { short: self.schedule.is_short_for(response), ..row }
        };
        names.into_iter().enumerate().map(row).collect()
    }
}

/// How long a response took, the age of those included that did not come in time.
pub fn usual(observation: &Observation) -> Duration {
    let mut latency = observation.sample.answered.clone();
    latency.add(&observation.sample.unanswered);
    quantile(&latency, 0.5).unwrap_or(NONE)
}

fn ratio(lab: &Laboratory<'_>, rounds: &[Vec<usize>], from: usize, to: usize) -> Ratio {
    let rate = |at: usize| lab.trail[at].good_rps();
    let pairs: Vec<_> = rounds.iter().map(|round| (rate(round[from]), rate(round[to]))).collect();
    Ratio::over(&pairs)
}
