//! What the comparisons of a difference come to: how often it was shown, how often rightly, and whether intervals hold the truth.

use super::comparison::{Entry, Found};
use crate::rounds::median;

/// The share of comparisons of a version with itself that may call a metric different.
const FALSE_ALARMS: f64 = 0.05;
/// The differences in percent that must be shown, each with the share of comparisons.
const POWER: [(u32, f64); 2] = [(2, 0.5), (5, 0.9)];
/// The number of comparisons of a difference below which no aim is judged.
const ENOUGH: usize = 20;

/// The comparisons of one difference beside as many neighbours.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    /// The programs that came and went.
    pub neighbours: usize,
    /// The difference in percent that was wanted.
    pub difference: u32,
    /// The comparisons.
    pub count: usize,
    /// The difference in CPU time that was planted, by the calibration: the least and the most, as shares.
    pub planted: [f64; 2],
    /// Comparisons that called the CPU time different in the right direction; of a version with itself in any direction.
    pub shown: usize,
    /// Comparisons that called the CPU time different in the wrong direction.
    pub reversed: usize,
    /// Comparisons that said that the CPU time does not differ by 2% or more.
    pub same: usize,
    /// Comparisons that called any metric different.
    pub any: usize,
    /// Intervals of the CPU time.
    pub intervals: usize,
    /// Intervals that hold the truth, give or take what the calibration leaves open.
    pub hold: usize,
    /// The smallest difference that a comparison said that it could show: the median.
    pub smallest: Option<f64>,
    /// The median time of a comparison in seconds.
    pub seconds: f64,
    /// The median share of the machine's CPU time that other programs used.
    pub others: f64,
}

/// Returns the tallies, those without neighbours first.
pub fn tallies(entries: &[Entry]) -> Vec<Tally> {
    let mut kinds: Vec<_> = entries.iter().map(|entry| (entry.neighbours, entry.difference)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let of = |(neighbours, difference): (usize, u32)| {
        let these: Vec<_> =
            entries.iter().filter(|entry| (entry.neighbours, entry.difference) == (neighbours, difference)).collect();
        tally(neighbours, difference, &these)
    };
    kinds.into_iter().map(of).collect()
}

fn tally(neighbours: usize, difference: u32, entries: &[&Entry]) -> Tally {
    let count = |of: &dyn Fn(&Entry) -> bool| entries.iter().filter(|entry| of(entry)).count();
    let values = |of: &dyn Fn(&Entry) -> Option<f64>| entries.iter().filter_map(|entry| of(entry)).collect::<Vec<_>>();
    let is = |entry: &Entry, outcome: &str| entry.cpu().is_some_and(|cpu| cpu.outcome == outcome);
    let is_right = |entry: &Entry| {
        let rises = entry.cpu().and_then(|cpu| cpu.ratio).map(|ratio| ratio > 1.0);
        difference == 0 || rises == Some(entry.truth > 1.0)
    };
    let planted = values(&|entry| Some(entry.truth.max(1.0 / entry.truth) - 1.0));
    let smallest = values(&|entry| entry.smallest);
    Tally {
        neighbours,
        difference,
        count: entries.len(),
        planted: [planted.iter().copied().fold(f64::INFINITY, f64::min), planted.iter().copied().fold(0.0, f64::max)],
        shown: count(&|entry| is(entry, "different") && is_right(entry)),
        reversed: count(&|entry| is(entry, "different") && !is_right(entry)),
        same: count(&|entry| is(entry, "same")),
        any: count(&|entry| entry.found.iter().any(|found| found.outcome == "different")),
        intervals: count(&|entry| interval(entry).is_some()),
        hold: count(&|entry| holds_truth(entry)),
        smallest: (!smallest.is_empty()).then(|| median(smallest)),
        seconds: median(values(&|entry| Some(entry.seconds))),
        others: median(values(&|entry| Some(entry.others))),
    }
}

fn interval(entry: &Entry) -> Option<[f64; 2]> {
    entry.cpu().and_then(|cpu: &Found| cpu.interval)
}

fn holds_truth(entry: &Entry) -> bool {
    let Entry { truth, doubt, .. } = *entry;
    interval(entry).is_some_and(|[low, high]| low - doubt <= truth && truth <= high + doubt)
}

/// Returns the aims that the comparisons miss. Too few of them miss nothing.
pub fn missed(entries: &[Entry]) -> Vec<String> {
    let mut missed = Vec::new();
    for tally in tallies(entries).iter().filter(|tally| tally.count >= ENOUGH) {
        let Tally { count, shown, difference, neighbours, .. } = *tally;
        let beside = if neighbours > 0 { format!(" beside {neighbours} neighbours") } else { String::new() };
        let share = |part: usize| part as f64 / count as f64;
        if difference == 0 && share(tally.any) > FALSE_ALARMS {
            missed.push(format!(
                "{} of {count} comparisons of a version with itself{beside} were false alarms",
                tally.any
            ));
        }
        // What neighbours hide need not be shown: that no alarm is false is all that is demanded.
        let power = POWER.iter().find(|(percent, _)| *percent == difference && neighbours == 0);
        if power.is_some_and(|(_, least)| share(shown) < *least) {
            missed.push(format!("{difference}% was shown in {shown} of {count} comparisons"));
        }
        if tally.reversed > 0 {
            missed.push(format!(
                "{difference}% was shown in the wrong direction in {} of {count}{beside}",
                tally.reversed
            ));
        }
    }
    missed
}

#[cfg(test)]
pub mod tests {
    use super::super::planted::Kind;
    use super::*;

    /// Returns a comparison that calls the CPU time different if its interval does not have 1 in it.
    pub fn entry(difference: u32, truth: f64, interval: [f64; 2]) -> Entry {
        let is_different = interval[0] > 1.0 || interval[1] < 1.0;
        Entry {
            round: 0,
            difference,
            kind: Kind::Work,
            units: difference,
            truth,
            doubt: 0.0005,
            neighbours: 0,
            running: 0.0,
            others: 0.01,
            stolen: 0.0,
            seed: 1,
            seconds: 30.0,
            blocks: 60,
            left_out: 0,
            smallest: Some(0.01),
            found: vec![Found {
                metric: "cpu".into(),
                outcome: if is_different { "different" } else { "cannot_tell" }.into(),
                ratio: Some(f64::midpoint(interval[0], interval[1])),
                interval: Some(interval),
            }],
        }
    }

    #[test]
    fn differences_count_in_their_direction() {
        let entries = [
            entry(2, 1.02, [1.01, 1.03]),
            entry(2, 1.0 / 1.02, [0.97, 0.99]),
            entry(2, 1.02, [0.97, 0.99]),
            entry(2, 1.02, [0.99, 1.0199]),
            entry(0, 1.0, [1.01, 1.02]),
        ];
        let [none, two] = &tallies(&entries)[..] else { panic!("two differences") };
        assert_eq!((none.count, none.shown, none.any, none.hold), (1, 1, 1, 0));
        assert_eq!((two.count, two.shown, two.reversed, two.any), (4, 2, 1, 3));
        assert_eq!((two.intervals, two.hold), (4, 3), "the calibration leaves 0.05% open");
        assert!(two.planted.iter().all(|planted| (planted - 0.02).abs() < 1e-9), "{:?}", two.planted);
    }

    #[test]
    fn aims_are_judged_by_enough_comparisons() {
        let many = |entry: Entry, count: usize| vec![entry; count];
        let hidden = entry(5, 1.05, [0.99, 1.08]);
        assert_eq!(missed(&many(hidden.clone(), ENOUGH - 1)), Vec::<String>::new());
        assert_eq!(missed(&many(hidden, ENOUGH)), ["5% was shown in 0 of 20 comparisons"]);
        let alarm = [many(entry(0, 1.0, [0.99, 1.01]), 38), many(entry(0, 1.0, [1.01, 1.02]), 2)].concat();
        assert_eq!(missed(&alarm), Vec::<String>::new(), "5% may be");
        let alarms = [alarm, many(entry(0, 1.0, [1.01, 1.02]), 1)].concat();
        assert_eq!(missed(&alarms), ["3 of 41 comparisons of a version with itself were false alarms"]);
    }
}
