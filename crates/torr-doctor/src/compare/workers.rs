//! The number of workers that a server should have: the server is started with each number in turns, anew each time, since its
//! starts differ.

use super::measuring::{Turns, usual};
use super::outcome::{Comparison, Kind, finish};
use super::schedule::Schedule;
use crate::assignment::Assignment;
use crate::halt::Halt;
use crate::load_runner::LoadRunner;
use crate::observation::ExperimentStart;
use crate::observer::Observer;
use std::any::Any;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use torr_gauge::numbers::plural;
use torr_gauge::redact;
use torr_gauge::verdict::ExperimentId;
use torr_press::Plan;

mod advising;

/// Multiples of the cores, the most informative first, in case not all fit the budget.
const MULTIPLES: [usize; 6] = [1, 4, 8, 2, 3, 6];
/// The length of the first run, which shows that the server works.
const FIRST_LOOK: Duration = Duration::from_millis(250);
/// The share of a turn that is its warm-up.
const WARM_UP: f64 = 0.2;

/// A server that was started, and is stopped on drop.
pub struct Subject {
    /// The load.
    pub plan: Plan,
    /// The observer of its machine.
    pub observer: Option<Box<dyn Observer>>,
    /// The value whose drop stops the server.
    pub running: Box<dyn Any>,
}

/// The numbers of workers that are compared, and how the server is started.
pub struct Sweep<'s> {
    /// Starts the server with a number of workers, and waits until it responds.
    pub start: &'s mut dyn FnMut(usize) -> Result<Subject, Halt>,
    /// The numbers to compare, ascending; `None` to choose them.
    pub counts: Option<Vec<usize>>,
    /// The server's CPUs.
    pub cores: usize,
    /// The command that starts the server with `{n}` workers, for the report.
    pub command: &'s str,
}

/// Compares numbers of workers, and recommends the fewest that are about as good as the best.
///
/// # Errors
/// [`Halt`], and those of `sweep.start`.
pub fn workers(
    assignment: &Assignment,
    sweep: Sweep<'_>,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(ExperimentStart<'_>),
) -> Result<Comparison, Halt> {
    let mut runner = LoadRunner::open(assignment, None, stop, tell);
    let least = sweep.counts.as_ref().and_then(|counts| counts.first().copied()).unwrap_or(1);
    let Look { beside, response, alone } = first_look(&mut runner, sweep.start, least)?;
    let left = assignment.budget.saturating_sub(runner.elapsed());
    let counts = sweep.counts.unwrap_or_else(|| counts(sweep.cores, Schedule::most_ways(left, beside)));
    let schedule = Schedule::within(assignment.budget, runner.elapsed(), counts.len(), beside, response)?;
    let turns = Turns::take(&mut runner, counts.len(), schedule, |runner, at| {
        let name = named(counts[at]);
        runner.begin(ExperimentId::StartServer, &name)?;
        let subject = (sweep.start)(counts[at])?;
        let (warmup, duration) = (schedule.length.mul_f64(WARM_UP), schedule.length.mul_f64(1.0 - WARM_UP));
        let plan = Plan { warmup, duration: Some(duration), ..runner.bounded(subject.plan.clone()) };
        runner.run_seen_by(subject.observer.as_deref(), ExperimentId::WorkersTurn, &name, &plan)?;
        Ok(())
    })?;
    let names: Vec<_> = counts.iter().map(|&count| named(count)).collect();
    let mut rows = turns.rows(&runner, names.iter().map(String::as_str));
    rows.iter_mut().zip(&counts).for_each(|(row, &count)| row.workers = Some(count));
    let (best, chosen) = chosen(&rows.iter().map(|row| row.rps).collect::<Vec<_>>());
    let advised = advising::Advised {
        counts: &counts,
        rows: &rows,
        best,
        chosen,
        gain: turns.ratio(&runner, chosen, best),
        fewer: chosen.checked_sub(1).map(|fewer| turns.ratio(&runner, fewer, chosen)),
        cores: sweep.cores,
        command: sweep.command,
        assignment,
        alone,
    };
    let (conclusion, workers) = (advised.conclude(), advised.recommended());
    let found = finish(Kind::Workers, runner, &turns, rows, conclusion);
    // The command may have passwords of databases, which reports do not have.
    Ok(Comparison { workers, target: redact::line(sweep.command), ..found })
}

/// The observations of a server before the turns.
struct Look {
    /// The time that a turn takes beyond its load.
    beside: Duration,
    /// The response time under load.
    response: Duration,
    /// The mean response time of a single request in seconds; `None` if no response came in time.
    alone: Option<f64>,
}

/// Runs a short load, which shows whether the server works, and the length of a turn.
fn first_look(
    runner: &mut LoadRunner<'_>,
    start: &mut dyn FnMut(usize) -> Result<Subject, Halt>,
    workers: usize,
) -> Result<Look, Halt> {
    let (name, begun) = (named(workers), Instant::now());
    runner.begin(ExperimentId::StartServer, &name)?;
    let subject = start(workers)?;
    let plan = Plan { duration: Some(FIRST_LOOK), ..runner.bounded(subject.plan.clone()) };
    let one = Plan { connections: 1, depth: 1, threads: 1, ..plan.clone() };
    let observation = runner.run_seen_by(None, ExperimentId::StartedAlone, &name, &one)?;
    let alone = (observation.sample.answered.count() > 0)
        .then(|| observation.sample.answered.sum() / observation.sample.answered.count() as f64 / 1e6);
    let response = usual(runner.run_seen_by(None, ExperimentId::FirstRun, &name, &plan)?);
    drop(subject);
    Ok(Look { beside: begun.elapsed().saturating_sub(2 * FIRST_LOOK), response, alone })
}

fn named(workers: usize) -> String {
    plural(workers as u64, "worker")
}

/// Returns one worker and multiples of the cores: at most `most` numbers, and at least two.
fn counts(cores: usize, most: usize) -> Vec<usize> {
    let mut counts = vec![1];
    for count in MULTIPLES.map(|times| times * cores) {
        if counts.len() < most.max(2) && !counts.contains(&count) {
            counts.push(count);
        }
    }
    counts.sort_unstable();
    counts
}

/// Returns the positions of the best rate and of the first that is about as good.
fn chosen(rates: &[f64]) -> (usize, usize) {
    let best = (0..rates.len()).max_by(|&a, &b| rates[a].total_cmp(&rates[b])).unwrap_or(0);
    let enough = rates.iter().position(|&rate| rate >= rates[best] * advising::ENOUGH);
    (best, enough.unwrap_or(best))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ladder_is_as_long_as_the_budget_allows() {
        assert_eq!(counts(2, 99), [1, 2, 4, 6, 8, 12, 16]);
        assert_eq!(counts(1, 99), [1, 2, 3, 4, 6, 8]);
        assert_eq!(counts(4, 4), [1, 4, 16, 32]);
        assert_eq!(counts(4, 0), [1, 4]);
    }

    #[test]
    fn the_fewest_that_are_about_as_good_are_chosen() {
        assert_eq!(chosen(&[50.0, 98.0, 100.0, 99.0]), (2, 1));
        assert_eq!(chosen(&[50.0, 96.0, 100.0]), (2, 2));
    }
}
