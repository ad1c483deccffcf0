//! The confusion matrix of a run, its counts, and whether these are good enough.

use crate::cli::Options;
use crate::located::Judgement;
use crate::location::Visibility;
use crate::outcome::{Outcome, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The share of the faults that the doctor must name on a quiet machine.
const ENOUGH: f64 = 0.95;
/// The share of the promises that must be kept.
const ENOUGH_KEPT: f64 = 0.9;
/// The share of the faults that a plain run must name. Of the others it must say that it does not know.
const ENOUGH_PASSIVE: f64 = 20.0 / 30.0;
/// The share of the verdicts that name a factor beside neighbours which must be right.
const ENOUGH_BESIDE: f64 = 0.8;

/// The share of the visible locations that may be passed over in silence.
const ENOUGH_LOCATED: f64 = 0.8;

/// What a round must reach.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Demands {
    /// Of verdicts with experiments on a quiet machine.
    Quiet,
    /// Of verdicts of plain runs.
    Passive,
    /// Of verdicts beside programs that come and go: what is not known is no failure, and gains are not promised for such weather.
    Beside,
}

/// The counts of some diagnoses.
pub struct Totals {
    /// All of them.
    pub count: usize,
    /// Verdicts that are right.
    pub right: usize,
    /// Right verdicts that are certain.
    pub certain: usize,
    /// Verdicts that name no factor though there is one.
    pub unknown: usize,
    /// Verdicts that name a wrong factor.
    pub wrong: usize,
    /// Wrong verdicts that are certain.
    pub surely_wrong: usize,
}

impl Demands {
    /// Returns the demands on a round.
    pub fn of(options: &Options) -> Self {
        match options {
            Options { passive: true, .. } => Self::Passive,
            Options { neighbours: 1.., .. } => Self::Beside,
            _ => Self::Quiet,
        }
    }
}

impl Totals {
    /// Counts diagnoses.
    pub fn of(outcomes: &[&Outcome]) -> Self {
        let count = |of: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| of(outcome)).count();
        Self {
            count: outcomes.len(),
            right: count(|outcome| outcome.right),
            certain: count(Outcome::is_surely_right),
            unknown: count(|outcome| !outcome.right && !outcome.is_wrong()),
            wrong: count(Outcome::is_wrong),
            surely_wrong: count(Outcome::is_surely_wrong),
        }
    }
}

/// The counts of the locations that some diagnoses name.
#[derive(Debug, PartialEq, Eq)]
pub struct Locations {
    /// Diagnoses that looked for a location, of services whose location is known.
    pub judged: usize,
    /// Of these the locations that are visible.
    pub visible: usize,
    /// Visible locations that were named.
    pub named: usize,
    /// Services without a location that can be named, of which none was named wrongly.
    pub silent: usize,
    /// Locations that were named wrongly.
    pub wrong: usize,
    /// Promises of locations that were judged.
    pub promised: usize,
    /// Promises of locations that were kept.
    pub kept: usize,
}

impl Locations {
    /// Counts the locations of outcomes.
    pub fn of(outcomes: &[Outcome]) -> Self {
        let judged: Vec<_> = outcomes
            .iter()
            .filter_map(|outcome| {
                let visible = outcome.label.location.as_ref()?.visibility == Visibility::Dominant;
                Some((visible, outcome.located.as_ref()?.judgement))
            })
            .collect();
        let count = |visible: bool| judged.iter().filter(|found| **found == (visible, Judgement::Right)).count();
        let promises: Vec<_> = outcomes.iter().filter_map(Outcome::is_location_kept).collect();
        Self {
            judged: judged.len(),
            visible: judged.iter().filter(|(visible, _)| *visible).count(),
            named: count(true),
            silent: count(false),
            wrong: judged.iter().filter(|(_, judgement)| *judgement == Judgement::Wrong).count(),
            promised: promises.len(),
            kept: promises.iter().filter(|kept| **kept).count(),
        }
    }

    /// Whether enough of the locations are named, and none wrongly.
    fn are_good(&self) -> bool {
        let names = self.named as f64 >= ENOUGH_LOCATED * self.visible as f64;
        let keeps = self.kept as f64 >= ENOUGH_KEPT * self.promised as f64;
        names && keeps && self.wrong == 0
    }

    /// Prints the counts, if there are any.
    fn tell(&self) {
        let Self { judged, visible, named, silent, wrong, promised, kept } = self;
        if *judged > 0 {
            println!("locations named rightly     {named} of {visible}{} (aim: 85%)", percent(*named, *visible));
            println!("locations rightly not named {silent} of {}", judged - visible);
            println!("locations named wrongly     {wrong} (aim: 0)");
            println!("their promises kept         {kept} of {promised}{} (aim: 90%)", percent(*kept, *promised));
        }
    }
}

/// Returns a share in percent, after a comma. Empty if it is one of nothing.
pub fn percent(part: usize, whole: usize) -> String {
    if whole == 0 { String::new() } else { format!(", {:.0}%", 100.0 * part as f64 / whole as f64) }
}

/// The load that services kept while the doctor sampled them to name a location.
#[derive(Debug, PartialEq)]
pub struct Sampled {
    /// The median of the shares of the throughput before. Of an even number of shares it is the lower one.
    pub median: f64,
    /// The least share.
    pub worst: f64,
    /// The name of its subject.
    pub of: &'static str,
}

impl Sampled {
    /// Returns the shares that the diagnoses tell. `None` if none does.
    pub fn of(outcomes: &[Outcome]) -> Option<Self> {
        let kept = |outcome: &Outcome| Some((outcome.finding.trail["located"]["kept"].as_f64()?, outcome.name));
        let mut shares: Vec<_> = outcomes.iter().filter_map(kept).collect();
        shares.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let (worst, of) = *shares.first()?;
        Some(Self { median: shares[(shares.len() - 1) / 2].0, worst, of })
    }
}

impl fmt::Display for Sampled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} in the median, {:.2} at worst ({})", self.median, self.worst, self.of)
    }
}

/// Prints matrix and counts, and returns whether they are good enough.
pub fn tell(record: &Record, demands: Demands) -> bool {
    let (faults, healthy): (Vec<&Outcome>, Vec<&Outcome>) =
        record.outcomes.iter().partition(|outcome| outcome.label.fault);
    if !record.outcomes.is_empty() {
        println!("\n{}", matrix(&record.outcomes));
    }
    let (ill, well) = (Totals::of(&faults), Totals::of(&healthy));
    let misjudged = well.count - well.right;
    let late = record.outcomes.iter().filter(|outcome| outcome.late).count();
    let surely_wrong = ill.surely_wrong + well.surely_wrong;
    println!("faults named rightly        {} of {}", ill.right, ill.count);
    println!("faults not known            {}", ill.unknown);
    println!("faults named wrongly        {}", ill.wrong);
    println!("wrong and 'certain'         {surely_wrong}");
    println!("healthy, called ill         {misjudged} of {}", well.count);
    let (kept, judged, width) = promises(&record.outcomes);
    println!("promises kept               {kept} of {judged}{width}");
    println!("beyond the budget           {late}");
    println!("not run                     {}", record.not_run.len());
    let locations = Locations::of(&record.outcomes);
    locations.tell();
    if let Some(sampled) = Sampled::of(&record.outcomes) {
        println!("load kept while sampled     {sampled} (aim: 0.98)");
    }
    let names = |share: f64, of: usize| ill.right as f64 >= share * of as f64;
    let keeps = kept as f64 >= ENOUGH_KEPT * judged as f64;
    let (enough, tolerable) = match demands {
        Demands::Quiet => {
            let named = names(ENOUGH, ill.count) && keeps && misjudged == 0;
            (named && locations.are_good(), surely_wrong == 0)
        }
        Demands::Passive => (names(ENOUGH_PASSIVE, ill.count) && misjudged == 0, ill.wrong == 0),
        Demands::Beside => (names(ENOUGH_BESIDE, ill.right + ill.wrong), surely_wrong == 0 && locations.wrong == 0),
    };
    enough && tolerable && late == 0
}

/// Returns how many promises were kept, how many could be judged, and in words the median width of the intervals that were promised.
fn promises(outcomes: &[Outcome]) -> (usize, usize, String) {
    let judged: Vec<_> = outcomes.iter().filter(|outcome| outcome.is_promise_kept().is_some()).collect();
    let kept = judged.iter().filter(|outcome| outcome.is_promise_kept() == Some(true)).count();
    let mut widths: Vec<_> = judged.iter().filter_map(|outcome| outcome.promise.width()).collect();
    widths.sort_by(f64::total_cmp);
    let width = widths.get(widths.len() / 2).map(|median| {
        format!("; the median interval is {median:.1} wide, {} have no upper end", judged.len() - widths.len())
    });
    (kept, judged.len(), width.unwrap_or_default())
}

/// Returns the confusion matrix: labels down, verdicts across.
fn matrix(outcomes: &[Outcome]) -> String {
    let row_of =
        |outcome: &Outcome| format!("{}{}", if outcome.label.fault { "" } else { "healthy " }, outcome.label.main());
    let mut rows = BTreeMap::<String, BTreeMap<String, usize>>::new();
    let mut columns = BTreeSet::new();
    for outcome in outcomes {
        let verdict = outcome.finding.factor.to_string();
        columns.insert(verdict.clone());
        *rows.entry(row_of(outcome)).or_default().entry(verdict).or_default() += 1;
    }
    let mut text = format!("{:<24}", "label \\ verdict");
    for column in &columns {
        text += &format!("{column:>15}");
    }
    for (row, verdicts) in rows {
        text += &format!("\n{row:<24}");
        for column in &columns {
            let count = verdicts.get(column).map_or("·".into(), usize::to_string);
            text += &format!("{count:>15}");
        }
    }
    text + "\n"
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::finding::Finding;
    use crate::location::{Location, Source};
    use crate::subject::Label;
    use serde_json::{Value, json};
    use torr_gauge::{Confidence, Factor, Gain};

    /// Returns the outcome of a lock of which `factor` was said, with a promise of 2 to 4 times the throughput.
    pub fn outcome(factor: Factor, real: Option<f64>) -> Outcome {
        let label = Label { fault: true, factors: vec![Factor::Lock], shows: &[], location: None };
        let gain = Some(Gain { low: Some(2.0), high: Some(4.0), reason: None, summary: String::new() });
        let (confidence, summary, trail) = (Confidence::Likely, String::new(), Value::Null);
        let finding = Finding { factor, confidence, seconds: 1.0, summary, gain, trail };
        let mut outcome = Outcome::new("lock", &label, finding, 60.0);
        outcome.promise.real = real;
        outcome
    }

    /// Returns a record of right verdicts with these real gains.
    pub fn record(reals: &[f64]) -> Record {
        let outcomes = reals.iter().map(|&real| outcome(Factor::Lock, Some(real))).collect();
        Record { outcomes, ..Record::new("torr doctor", 0) }
    }

    #[test]
    fn nine_of_ten_promises_must_be_kept() {
        let of = |kept: usize| [vec![3.0; kept], vec![9.0]].concat();
        assert!(tell(&record(&of(9)), Demands::Quiet));
        assert!(!tell(&record(&of(8)), Demands::Quiet));
        assert!(tell(&record(&of(1)), Demands::Beside), "no promise is judged beside neighbours");
    }

    #[test]
    fn beside_neighbours_what_is_not_known_is_no_failure() {
        let mut round = record(&[3.0; 4]);
        round.outcomes.extend([Factor::Unknown; 9].map(|factor| outcome(factor, None)));
        assert!(tell(&round, Demands::Beside) && !tell(&round, Demands::Quiet));
        round.outcomes.push(outcome(Factor::Workers, None));
        assert!(tell(&round, Demands::Beside), "four of five that are named");
        round.outcomes.push(outcome(Factor::Workers, None));
        assert!(!tell(&round, Demands::Beside), "four of six");
        let mut sure = record(&[3.0; 40]);
        let mut wrong = outcome(Factor::Workers, None);
        wrong.finding.confidence = Confidence::Certain;
        sure.outcomes.push(wrong);
        assert!(!tell(&sure, Demands::Beside), "wrong and certain");
    }

    /// Returns the outcome of a service whose location is `b`, if it is visible, and of which `function` was named.
    pub fn located(visible: bool, function: Option<&str>, real: f64) -> Outcome {
        let source = Source { file: "shop.go", text: "func b() { // clinic: b\n} // clinic: b\n" };
        let location = Location::cpu(source, &["b"], "b");
        let mut ill = outcome(Factor::Lock, Some(real));
        let gain = json!({"low": 1.4, "value": 1.5, "high": 1.6});
        let share = json!({"low": 0.5, "value": 0.6, "high": 0.7});
        let named = |name: &str| json!({"kind": "cpu", "runtime": "go", "function": name, "share": share, "samples": 90, "gain": gain});
        let places: Vec<_> = function.map(named).into_iter().collect();
        ill.label.location = Some(if visible { location } else { location.invisible() });
        ill.finding.trail = json!({"located": {"places": places}});
        let mut located = Outcome::new("lock", &ill.label, ill.finding, 60.0);
        located.promise.real = Some(real);
        located
    }

    #[test]
    fn no_location_may_be_wrong_and_one_of_five_may_be_silent() {
        let right = || located(true, Some("main.b"), 1.5);
        let silent = || located(true, None, 1.5);
        let mut outcomes: Vec<_> = std::iter::repeat_with(right).take(4).collect();
        outcomes.extend([silent(), located(false, None, 1.5)]);
        let found = Locations::of(&outcomes);
        let expected = Locations { judged: 6, visible: 5, named: 4, silent: 1, wrong: 0, promised: 4, kept: 4 };
        assert_eq!(found, expected);
        assert!(found.are_good());
        outcomes.push(silent());
        assert!(!Locations::of(&outcomes).are_good(), "two of six are silent");
        let mut outcomes: Vec<_> = std::iter::repeat_with(right).take(9).collect();
        outcomes.push(located(false, Some("main.a"), 1.5));
        assert!(!Locations::of(&outcomes).are_good(), "one is wrong");
        let broken = Locations::of(&[located(true, Some("main.b"), 3.0)]);
        assert_eq!((broken.promised, broken.kept), (1, 0));
        assert!(!broken.are_good());
    }

    #[test]
    fn the_load_that_is_kept_while_sampled_has_a_median_and_a_worst() {
        assert_eq!(Sampled::of(&[outcome(Factor::Lock, None)]), None, "it was not sampled");
        let kept = |name, kept: f64| {
            let mut sampled = outcome(Factor::Lock, None);
            sampled.finding.trail = json!({"located": {"places": [], "kept": kept}});
            sampled.name = name;
            sampled
        };
        let outcomes = [kept("good", 0.99), outcome(Factor::Lock, None), kept("bad", 0.73), kept("fair", 0.96)];
        let sampled = Sampled::of(&outcomes).expect("three were sampled");
        assert_eq!(sampled, Sampled { median: 0.96, worst: 0.73, of: "bad" });
        assert_eq!(sampled.to_string(), "0.96 in the median, 0.73 at worst (bad)");
        assert_eq!((percent(25, 30), percent(0, 0)), (", 83%".into(), String::new()));
    }

    #[test]
    fn where_the_cost_of_a_location_is_halved_only_a_gain_for_half_the_cost_is_judged() {
        let mut halved = located(true, Some("main.b"), 3.0);
        assert_eq!((halved.is_promise_kept(), halved.is_location_kept()), (None, Some(false)));
        let promised = halved.promise.gain.as_mut().expect("it promises something");
        promised.summary = "2.00x to 4.00x the throughput with requests that cost half the CPU".into();
        assert_eq!(halved.is_promise_kept(), Some(true));
        let mut doubled = located(true, Some("main.b"), 3.0);
        doubled.label.location = doubled.label.location.map(Location::cured_as_advised);
        assert_eq!(doubled.is_promise_kept(), Some(true), "a pool that is twice as large");
        assert!(
            halved.line().contains("2.00..4.00     3.00 kept     1.40..1.60 BROKEN  right: main.b;"),
            "{}",
            halved.line()
        );
    }

    #[test]
    fn only_right_verdicts_whose_gain_was_measured_promise_something() {
        let outcomes = [
            outcome(Factor::Lock, Some(3.0)),
            outcome(Factor::Lock, Some(9.0)),
            outcome(Factor::Lock, None),
            outcome(Factor::Workers, Some(9.0)),
        ];
        let (kept, judged, width) = promises(&outcomes);
        assert_eq!((kept, judged), (1, 2));
        assert_eq!(width, "; the median interval is 2.0 wide, 0 have no upper end");
    }
}
