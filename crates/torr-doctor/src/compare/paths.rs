//! Paths of the same server: what one way to make an answer costs beside another.

use super::measuring::Turns;
use super::{Comparison, Conclusion, Kind, Row, Way, finish};
use crate::invocation::Invocation;
use crate::laboratory::{Halt, Laboratory, Patient};
use crate::trail::Step;
use crate::words::{counted, rate};
use std::sync::atomic::AtomicBool;

/// Compares paths, each of which is a way, with the first of them. There are at least two.
///
/// # Errors
/// [`Halt`].
pub fn paths(
    patient: &Patient,
    ways: &[Way<'_>],
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Step<'_>),
) -> Result<Comparison, Halt> {
    let mut lab = Laboratory::open(patient, None, stop, tell);
    let turns = Turns::of(&mut lab, ways, "what this path costs beside the others")?;
    let rows = turns.rows(&lab, ways.iter().map(|way| way.name.as_str()));
    let conclusion = conclude(&rows, ways, turns.rounds(), &patient.again);
    Ok(finish(Kind::Paths, lab, &turns, rows, conclusion))
}

fn conclude(rows: &[Row], ways: &[Way<'_>], rounds: usize, again: &Invocation) -> Conclusion {
    let first = &rows[0];
    let told = |row: &Row| {
        let ratio = row.ratio?;
        let cpu = row
            .server_us
            .zip(first.server_us)
            .map(|(here, there)| format!("; an answer costs the server {here:.0} us of CPU instead of {there:.0} us"));
        let (cpu, times) = (cpu.unwrap_or_default(), ratio.told());
        Some(match ratio.is_one() {
            true => format!("{} cannot be told apart from {}: {times} its throughput{cpu}", row.name, first.name),
            false => format!("{} gives {times} the throughput of {}{cpu}", row.name, first.name),
        })
    };
    let by_rate = |a: &&Row, b: &&Row| a.rps.total_cmp(&b.rps);
    let (best, worst) = (rows.iter().max_by(by_rate).unwrap_or(first), rows.iter().min_by(by_rate).unwrap_or(first));
    let is_vague = rows.iter().filter_map(|row| row.ratio).any(|ratio| ratio.is_vague());
    let same = rows.iter().filter_map(|row| row.ratio).all(|ratio| ratio.is_one());
    let summary = match same {
        true if is_vague => {
            "Whether the paths differ cannot be told: throughput varies too much. Give a longer --budget, on machines where \
             nothing else runs."
                .into()
        }
        true => format!("No path differs from {} by more than chance, over {}.", first.name, counted(rounds, "round")),
        false => format!(
            "{} gives the most, {}; {} the least, {}: {:.2} of that.",
            best.name,
            rate(best.rps),
            worst.name,
            rate(worst.rps),
            worst.rps / best.rps.max(0.01)
        ),
    };
    let verify = rows
        .iter()
        .position(|row| row.name == worst.name)
        .map(|at| again.press_other(&ways[at].plan.target.url, &[("-c", &ways[at].plan.connections)]));
    Conclusion {
        summary,
        because: rows.iter().filter_map(told).chain(rows.iter().flat_map(Row::doubts)).collect(),
        advice: vec![
            "if these paths get the same data by a driver, a query builder and a model, then what they differ by is what the \
             query builder and the ORM cost"
                .into(),
        ],
        verify,
    }
}
