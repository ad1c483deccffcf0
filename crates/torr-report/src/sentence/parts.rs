//! Parts of sentences that several facts share.

use crate::human::{per_second, plural, times};
use torr_gauge::verdict::{ProgramUse, Speedup, Unit};

/// Returns a ratio of two measured loads.
pub(super) fn grew(speedup: &Speedup) -> String {
    let Speedup { before_rps, after_rps, ratio, interval, pairs } = speedup;
    let interval = match interval {
        Some((low, high)) => format!("{} to {}, {pairs} pairs of runs", times(*low), times(*high)),
        None => "one pair of runs".to_owned(),
    };
    let (before, after) = (per_second(*before_rps), per_second(*after_rps));
    format!("throughput went from {before} to {after}, {} ({interval})", times(*ratio))
}

pub(super) fn listed(programs: &[ProgramUse]) -> String {
    let text = |(program, at): (&ProgramUse, usize)| {
        format!("{} {:.2}{}", program.name, program.cores, if at == 0 { " CPUs" } else { "" })
    };
    programs.iter().zip(0..).map(text).collect::<Vec<_>>().join(", ")
}

pub(super) fn counted(unit: Unit, n: u64) -> String {
    plural(n, if unit == Unit::Request { "request" } else { "session" })
}

pub(super) fn was(n: usize) -> &'static str {
    if n == 1 { "was" } else { "were" }
}

pub(super) fn shown(part: Option<String>) -> String {
    part.unwrap_or_default()
}
