//! A comparison of paths of one server.

use super::conclusion::{ComparisonAdvice, ComparisonFact, ComparisonHeadline, Conclusion};
use super::measuring::{Turns, Way};
use super::outcome::{Comparison, Kind, finish};
use super::row::Row;
use crate::assignment::Assignment;
use crate::halt::Halt;
use crate::invocation::Invocation;
use crate::load_runner::LoadRunner;
use crate::observation::ExperimentStart;
use std::sync::atomic::AtomicBool;
use torr_gauge::verdict::ExperimentId;

/// Compares paths with the first of them. There must be at least two.
///
/// # Errors
/// [`Halt`].
pub fn paths(
    assignment: &Assignment,
    ways: &[Way<'_>],
    stop: &AtomicBool,
    tell: &mut dyn FnMut(ExperimentStart<'_>),
) -> Result<Comparison, Halt> {
    let mut runner = LoadRunner::open(assignment, None, stop, tell);
    let turns = Turns::of(&mut runner, ways, ExperimentId::PathsTurn)?;
    let rows = turns.rows(&runner, ways.iter().map(|way| way.name.as_str()));
    let conclusion = conclude(&rows, ways, turns.rounds(), &assignment.again);
    Ok(finish(Kind::Paths, runner, &turns, rows, conclusion))
}

fn conclude(rows: &[Row], ways: &[Way<'_>], rounds: usize, again: &Invocation) -> Conclusion {
    let first = &rows[0];
    let throughput = |row: &Row| {
        Some(ComparisonFact::PathThroughput {
            name: row.name.clone(),
            first: first.name.clone(),
            ratio: row.ratio?,
            server_us: row.server_us,
            first_server_us: first.server_us,
        })
    };
    let by_rate = |a: &&Row, b: &&Row| a.rps.total_cmp(&b.rps);
    // What fails is neither the fastest nor the slowest.
    let works = || rows.iter().filter(|row| !row.mostly_fails());
    let (best, worst) = (works().max_by(by_rate).unwrap_or(first), works().min_by(by_rate).unwrap_or(first));
    let failing = || rows.iter().filter(|row| row.mostly_fails());
    let fails = |row: &Row| ComparisonFact::MostlyFails { failing: row.failing(), is_base: row.name == first.name };
    let ratios = || rows.iter().filter_map(|row| row.ratio);
    let (best_rate, worst_rate) = (best.rate(), worst.rate());
    let headline = match ratios().all(|ratio| ratio.is_one()) {
        _ if works().count() < 2 => {
            ComparisonHeadline::NothingToCompare { failing: failing().map(Row::failing).collect() }
        }
        _ if first.mostly_fails() => {
            ComparisonHeadline::FirstPathFails { first: first.failing(), best: best_rate, worst: worst_rate }
        }
        true if ratios().any(|ratio| ratio.is_vague()) => ComparisonHeadline::PathsVague,
        true => ComparisonHeadline::PathsSame { first: first.name.clone(), rounds },
        false => ComparisonHeadline::PathsDiffer { best: best_rate, worst: worst_rate },
    };
    let verify = rows
        .iter()
        .position(|row| row.name == worst.name)
        .and_then(|at| ways.get(at))
        .map(|way| again.press_other("--paths", &way.plan.target.as_given(), &[("-c", &way.plan.connections)]));
    let because = failing().map(fails).chain(rows.iter().filter_map(throughput)).chain(works().flat_map(Row::doubts));
    Conclusion { headline, because: because.collect(), advice: vec![ComparisonAdvice::OrmCost], verify }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Failing, WayRate};

    fn row(name: &str, rps: f64, failed_share: f64) -> Row {
        let failure = (failed_share > 0.0).then(|| "status 404".to_owned());
        Row { rps, failed_share, failure, ..Row::over(name, &[], None) }
    }

    #[test]
    fn a_path_that_responds_with_errors_is_no_base() {
        let concluded = |rows: &[Row]| conclude(rows, &[], 5, &Invocation::default());
        let failing = || Failing { name: "/nope".into(), share: 1.0, failure: Some("status 404".into()) };
        let fails = |is_base| ComparisonFact::MostlyFails { failing: failing(), is_base };
        let rate = |name: &str, rps| WayRate { name: name.into(), rps };
        let found = concluded(&[row("/nope", 0.0, 1.0), row("/", 100.0, 0.0)]);
        assert_eq!(found.headline, ComparisonHeadline::NothingToCompare { failing: vec![failing()] });
        assert_eq!(found.because[0], fails(true));
        let found = concluded(&[row("/nope", 0.0, 1.0), row("/a", 100.0, 0.0), row("/b", 80.0, 0.0)]);
        let (best, worst) = (rate("/a", 100.0), rate("/b", 80.0));
        assert_eq!(found.headline, ComparisonHeadline::FirstPathFails { first: failing(), best, worst });
        let ratio = Some(crate::Ratio::over(&[(100.0, 50.0), (100.0, 50.0), (100.0, 50.0)]));
        let half = Row { ratio, ..row("/b", 50.0, 0.0) };
        let found = concluded(&[row("/a", 100.0, 0.0), half, row("/nope", 0.0, 1.0)]);
        let (best, worst) = (rate("/a", 100.0), rate("/b", 50.0));
        assert_eq!(found.headline, ComparisonHeadline::PathsDiffer { best, worst });
        assert_eq!(found.because[0], fails(false));
    }
}
