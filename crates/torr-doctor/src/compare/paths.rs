//! A comparison of paths of one server.

use super::measuring::{Turns, Way};
use super::outcome::{Comparison, Conclusion, Kind, finish};
use super::row::Row;
use crate::assignment::Assignment;
use crate::halt::Halt;
use crate::invocation::Invocation;
use crate::load_runner::LoadRunner;
use crate::observation::ExperimentStart;
use std::sync::atomic::AtomicBool;
use torr_gauge::numbers::{per_second, plural};

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
    let turns = Turns::of(&mut runner, ways, "what this path costs beside the others")?;
    let rows = turns.rows(&runner, ways.iter().map(|way| way.name.as_str()));
    let conclusion = conclude(&rows, ways, turns.rounds(), &assignment.again);
    Ok(finish(Kind::Paths, runner, &turns, rows, conclusion))
}

fn conclude(rows: &[Row], ways: &[Way<'_>], rounds: usize, again: &Invocation) -> Conclusion {
    let first = &rows[0];
    let in_words = |row: &Row| {
        let ratio = row.ratio?;
        let cpu = row
            .server_us
            .zip(first.server_us)
            .map(|(here, there)| format!("; a response costs the server {here:.0} us of CPU instead of {there:.0} us"));
        let (cpu, times) = (cpu.unwrap_or_default(), ratio.in_words());
        Some(match ratio.is_one() {
            true => format!("{} does not differ measurably from {}: {times} its throughput{cpu}", row.name, first.name),
            false => format!("{} gives {times} the throughput of {}{cpu}", row.name, first.name),
        })
    };
    let by_rate = |a: &&Row, b: &&Row| a.rps.total_cmp(&b.rps);
    // What fails is neither the fastest nor the slowest.
    let works = || rows.iter().filter(|row| !row.mostly_fails());
    let (best, worst) = (works().max_by(by_rate).unwrap_or(first), works().min_by(by_rate).unwrap_or(first));
    let failing: Vec<_> = rows.iter().filter(|row| row.mostly_fails()).collect();
    let fails = |row: &&Row| {
        let base = if row.name == first.name { "base of" } else { "part of" };
        format!("{} responds with errors, which is no {base} a comparison: {}", row.name, row.failure_text())
    };
    let is_vague = rows.iter().filter_map(|row| row.ratio).any(|ratio| ratio.is_vague());
    let same = rows.iter().filter_map(|row| row.ratio).all(|ratio| ratio.is_one());
    let summary = match same {
        _ if works().count() < 2 => format!(
            "There is nothing to compare: {}.",
            failing.iter().map(|row| format!("of {} {}", row.name, row.failure_text())).collect::<Vec<_>>().join("; ")
        ),
        _ if first.mostly_fails() => format!(
            "{}. Of the others {} gives the most, {}, and {} the least, {}.",
            fails(&first),
            best.name,
            per_second(best.rps),
            worst.name,
            per_second(worst.rps)
        ),
        true if is_vague => {
            "Whether the paths differ is unknown: throughput varies too much. Give a longer --budget, on machines where \
             nothing else runs."
                .into()
        }
        true => format!("No path differs from {} by more than chance, over {}.", first.name, plural(rounds as u64, "round")),
        false => format!(
            "{} gives the most, {}; {} the least, {}: {:.2} of that.",
            best.name,
            per_second(best.rps),
            worst.name,
            per_second(worst.rps),
            worst.rps / best.rps.max(0.01)
        ),
    };
    let verify = rows
        .iter()
        .position(|row| row.name == worst.name)
        .and_then(|at| ways.get(at))
        .map(|way| again.press_other(&way.plan.target.as_given(), &[("-c", &way.plan.connections)]));
    Conclusion {
        summary,
        because: failing
            .iter()
            .map(fails)
            .chain(rows.iter().filter_map(in_words))
            .chain(works().flat_map(Row::doubts))
            .collect(),
        advice: vec![
            "if these paths get the same data by a driver, a query builder and a model, then what they differ by is what the \
             query builder and the ORM cost"
                .into(),
        ],
        verify,
        ..Conclusion::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, rps: f64, failed_share: f64) -> Row {
        let failure = (failed_share > 0.0).then(|| "status 404".to_owned());
        Row { rps, failed_share, failure, ..Row::over(name, &[], None) }
    }

    #[test]
    fn a_path_that_responds_with_errors_is_no_base() {
        let concluded = |rows: &[Row]| conclude(rows, &[], 5, &Invocation::default());
        let found = concluded(&[row("/nope", 0.0, 1.0), row("/", 100.0, 0.0)]);
        assert_eq!(found.summary, "There is nothing to compare: of /nope 100% of the requests fail, with status 404.");
        assert!(
            found.because[0].starts_with("/nope responds with errors, which is no base of a comparison"),
            "{found:?}"
        );
        let found = concluded(&[row("/nope", 0.0, 1.0), row("/a", 100.0, 0.0), row("/b", 80.0, 0.0)]);
        assert!(
            found.summary.contains("no base") && found.summary.contains("Of the others /a gives the most"),
            "{found:?}"
        );
        let ratio = Some(crate::Ratio::over(&[(100.0, 50.0), (100.0, 50.0), (100.0, 50.0)]));
        let half = Row { ratio, ..row("/b", 50.0, 0.0) };
        let found = concluded(&[row("/a", 100.0, 0.0), half, row("/nope", 0.0, 1.0)]);
        assert!(found.summary.contains("/b the least"), "{found:?}");
        assert!(found.because[0].starts_with("/nope responds with errors, which is no part"), "{found:?}");
    }
}
