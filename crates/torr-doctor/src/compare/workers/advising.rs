//! What a sweep of workers says, beside the rule of thumb: one per core for work that computes, several for work that waits.

use super::super::{Conclusion, Row};
use crate::invocation::Flag;
use crate::laboratory::Patient;
use crate::turns::Ratio;
use crate::words::{counted, rate};
use std::ops::RangeInclusive;

/// A number of workers that gives this part of the best throughput is about as good.
pub const ENOUGH: f64 = 0.97;
/// A worker that uses so much of a CPU computes; one that uses less than the other waits.
const COMPUTES: f64 = 0.75;
const WAITS: f64 = 0.5;
/// How many times the cores there are to be for work that waits.
const FOR_WAITING: RangeInclusive<usize> = 3..=8;

/// What is to be told.
pub struct Advised<'a> {
    /// Numbers of workers.
    pub counts: &'a [usize],
    /// What came of each.
    pub rows: &'a [Row],
    /// The best of them.
    pub best: usize,
    /// The one to take.
    pub chosen: usize,
    /// The best one's throughput as a ratio to that one's.
    pub gain: Ratio,
    /// Its throughput as a ratio to that of the number before it.
    pub fewer: Option<Ratio>,
    /// CPUs.
    pub cores: usize,
    /// The command with `{n}`.
    pub command: &'a str,
    /// Where it is asked, if that was said.
    pub url: Option<&'a str>,
    /// How it was loaded, and for how long.
    pub patient: &'a Patient,
}

/// What the work of a worker is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Work {
    Computes,
    Waits,
    Unknown,
}

impl Advised<'_> {
    pub fn conclude(&self) -> Conclusion {
        let (chosen, rows) = (self.counts[self.chosen], self.rows);
        let workers = counted(chosen, "worker");
        let (all_same, still_grows) = (self.chosen == 0, self.still_grows());
        let summary = match all_same {
            true => format!("{workers} is enough: more bring less than 3%."),
            false if still_grows => {
                format!("{workers} give the most of all numbers tried, and there may be more to gain with more.")
            }
            false => format!("{workers}: the fewest that come within 3% of the most that any number gives."),
        };
        let (at, best) = (&rows[self.chosen], &rows[self.best]);
        let because = [
            Some(format!("{workers}: {}", rate(at.rps))),
            self.fewer.map(|ratio| {
                let fewer = counted(self.counts[self.chosen - 1], "worker");
                match ratio.is_one() {
                    true => {
                        format!("with {fewer} it may be as much: that is {} of it, which may be chance", ratio.told())
                    }
                    false => format!("that is {} as much as with {fewer}", ratio.told()),
                }
            }),
            (self.best != self.chosen).then(|| {
                let most = counted(self.counts[self.best], "worker");
                format!("the most is {} with {most}, {} as much", rate(best.rps), self.gain.told())
            }),
            Some(self.rule()),
        ];
        let few = self.patient.plan.connections < self.counts.last().copied().unwrap_or(1);
        let advice = [
            Some(format!("start it with {workers}: {chosen} in the place of '{{n}}'")),
            self.fewer.filter(Ratio::is_vague).map(|_| {
                "throughput varies too much to be sure: give a longer --budget, on a machine where nothing else runs".into()
            }),
            still_grows.then(|| "it still grows with the largest number tried: try more with --counts".to_owned()),
            few.then(|| {
                format!(
                    "only {} pressed it: give more with -c than there are workers",
                    counted(self.patient.plan.connections, "connection")
                )
            }),
            all_same.then(|| "if that is less than it should give, 'torr doctor' names what limits it".to_owned()),
        ];
        Conclusion {
            summary,
            because: because.into_iter().flatten().chain(rows.iter().flat_map(Row::doubts)).collect(),
            advice: advice.into_iter().flatten().collect(),
            verify: Some(self.verify()),
        }
    }

    /// The rule of thumb, and whether what was measured agrees.
    fn rule(&self) -> String {
        let (cores, chosen) = (self.cores, self.counts[self.chosen]);
        let (from, to) = (FOR_WAITING.start() * cores, FOR_WAITING.end() * cores);
        let used = self.rows[0].server_cores.map(|used| used / self.counts[0] as f64);
        let work = match used {
            Some(used) if used >= COMPUTES => Work::Computes,
            Some(used) if used <= WAITS => Work::Waits,
            _ => Work::Unknown,
        };
        let agrees = |fits: bool| if fits { "and the curve agrees" } else { "but the curve does not agree" };
        let seen = used.map_or(String::new(), |used| {
            format!("with {} a worker used {used:.2} CPUs: ", counted(self.counts[0], "worker"))
        });
        match work {
            Work::Computes => format!(
                "{seen}the work computes, for which the rule is one worker per core, {cores} here, {}",
                agrees(chosen <= cores)
            ),
            Work::Waits if chosen < from && self.chosen == 0 => format!(
                "{seen}the work waits, for which the rule is 3 to 8 times the cores, {from} to {to} here, but here waiting \
                 holds no worker: it may be asynchronous"
            ),
            Work::Waits => format!(
                "{seen}the work waits, for which the rule is 3 to 8 times the cores, {from} to {to} here, {}",
                agrees((from..=to).contains(&chosen))
            ),
            Work::Unknown => format!(
                "{seen}the rule is one worker per core ({cores} here) for work that computes, 3 to 8 times the cores ({from} \
                 to {to}) for work that waits: {}",
                match chosen {
                    n if n <= cores => "the curve is that of work that computes",
                    n if n < from => "the curve is between both",
                    _ => "the curve is that of work that waits",
                }
            ),
        }
    }

    fn still_grows(&self) -> bool {
        self.chosen + 1 == self.counts.len()
    }

    /// The neighbours once more, or larger numbers.
    fn verify(&self) -> String {
        let (at, chosen) = (self.chosen, self.counts[self.chosen]);
        let counts = match self.still_grows() {
            true => vec![chosen, chosen + chosen.div_ceil(2), 2 * chosen],
            false => self.counts[at.saturating_sub(1)..=at + 1].to_vec(),
        };
        // More numbers than were tried need more time.
        let budget = self.patient.budget.mul_f64((counts.len() as f64 / self.counts.len() as f64).max(1.0));
        let budget = format!("{}s", budget.as_secs_f64().ceil());
        let counts = counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let flags: &[Flag<'_>] = &[
            ("--sweep", &"workers"),
            ("--counts", &counts),
            ("--command", &self.command),
            ("-c", &self.patient.plan.connections),
            ("--budget", &budget),
        ];
        self.patient.again.doctor_at(self.url, flags)
    }
}
