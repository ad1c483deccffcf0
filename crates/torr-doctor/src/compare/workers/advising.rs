//! The conclusion of a comparison of workers, beside the rule of thumb: one per core for work that computes, several for work that
//! waits.

use crate::assignment::Assignment;
use crate::compare::outcome::Conclusion;
use crate::compare::row::Row;
use crate::invocation::Flag;
use crate::turns::Ratio;
use std::ops::RangeInclusive;
use torr_gauge::numbers::{per_second, percent, plural, seconds};

/// The share of the best throughput from which a number of workers is about as good.
pub const ENOUGH: f64 = 0.97;
/// The CPU in cores from which a worker computes rather than waits.
const COMPUTES: f64 = 0.75;
const WAITS: f64 = 0.5;
/// The share of the connections with a request in service from which the connections are the limit.
const AT_WORK: f64 = 0.7;
/// The workers per core that are usual for work that waits.
const FOR_WAITING: RangeInclusive<usize> = 3..=8;

/// The measurements that a conclusion is made from.
pub struct Advised<'a> {
    /// The numbers of workers.
    pub counts: &'a [usize],
    /// The result of each number.
    pub rows: &'a [Row],
    /// The position of the best.
    pub best: usize,
    /// The position of the recommended one.
    pub chosen: usize,
    /// The best one's throughput as a ratio to the recommended one's.
    pub gain: Ratio,
    /// The recommended one's throughput as a ratio to that of the number before it.
    pub fewer: Option<Ratio>,
    /// The server's CPUs.
    pub cores: usize,
    /// The command with `{n}`.
    pub command: &'a str,
    /// The URL, if it is given.
    pub url: Option<&'a str>,
    /// The load and its budget.
    pub assignment: &'a Assignment,
    /// The response time of a single request in seconds, if known.
    pub alone: Option<f64>,
}

/// The kind of work of a worker.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Work {
    Computes,
    Waits,
    Unknown,
}

impl Advised<'_> {
    /// Returns the recommended number of workers, if one can be recommended.
    pub fn recommended(&self) -> Option<usize> {
        let says_nothing = self.rows[self.best].mostly_fails() || self.binds(0);
        (!says_nothing).then(|| self.counts[self.chosen])
    }

    /// Returns the share of the connections with a request in service, not in a queue.
    fn at_work(&self, way: usize) -> Option<f64> {
        let plan = &self.assignment.plan;
        let in_flight = plan.connections.min(self.assignment.max_connections) * usize::from(plan.depth);
        Some(self.rows[way].rps * self.alone? / in_flight as f64)
    }

    /// Returns whether no request waits for a worker: then the connections limit the throughput, not the workers.
    fn binds(&self, way: usize) -> bool {
        !self.rows[way].mostly_fails() && self.at_work(way).is_some_and(|share| share >= AT_WORK)
    }

    /// Returns the number of connections to compare with where these limit the throughput, within the user's limit.
    fn more_connections(&self) -> usize {
        let used = self.assignment.plan.connections;
        let is_bounded = self.assignment.again.doctor.iter().any(|(name, _)| name == "--max-connections");
        if is_bounded { (4 * used).min(self.assignment.max_connections) } else { 4 * used }
    }

    pub fn conclude(&self) -> Conclusion {
        let (chosen, rows) = (self.counts[self.chosen], self.rows);
        let workers = plural(chosen as u64, "worker");
        let (all_same, still_grows) = (self.chosen == 0, self.still_grows());
        let connections = plural(self.assignment.plan.connections as u64, "connection");
        let binds = self.binds(self.chosen);
        let summary = match all_same {
            _ if rows[self.best].mostly_fails() => {
                format!("Nothing can be said of the number of workers: {}.", rows[self.best].failure_text())
            }
            _ if self.binds(0) => format!(
                "The {connections} limit the throughput, not the workers: already with {} no request waits for one, so this says \
                 nothing of how many a heavier load needs.",
                plural(self.counts[0] as u64, "worker")
            ),
            _ if binds => format!(
                "{workers} are as many as {connections} can keep at work: whether more workers bring more is unknown with so few \
                 connections."
            ),
            true => format!("{workers} is enough: more bring less than 3%."),
            false if still_grows => {
                format!("{workers} give the most of all numbers tried, and there may be more to gain with more.")
            }
            false => format!("{workers}: the fewest that come within 3% of the most that any number gives."),
        };
        let (at, best) = (&rows[self.chosen], &rows[self.best]);
        let at_work = self.at_work(self.chosen).zip(self.alone).filter(|_| binds).map(|(share, alone)| {
            format!(
                "that is {} of what {connections} reach if no request waits for another: one on its own takes {}",
                percent(share.min(1.0)),
                seconds(alone)
            )
        });
        let because = [
            Some(format!("{workers}: {}", per_second(at.rps))),
            at_work,
            self.fewer.map(|ratio| {
                let fewer = plural(self.counts[self.chosen - 1] as u64, "worker");
                match ratio.is_one() {
                    true => {
                        format!(
                            "with {fewer} it may be as much: that is {} of it, which may be chance",
                            ratio.in_words()
                        )
                    }
                    false => format!("that is {} as much as with {fewer}", ratio.in_words()),
                }
            }),
            (self.best != self.chosen).then(|| {
                let most = plural(self.counts[self.best] as u64, "worker");
                format!("the most is {} with {most}, {} as much", per_second(best.rps), self.gain.in_words())
            }),
            (!self.binds(0)).then(|| self.rule()),
        ];
        let says_something = self.recommended().is_some();
        let few = self.assignment.plan.connections < self.counts.last().copied().unwrap_or(1);
        let advice = [
            says_something.then(|| format!("start it with {workers}: {chosen} in place of '{{n}}'")),
            binds.then(|| match self.more_connections() {
                more if more > self.assignment.plan.connections => format!("press with more connections: -c {more}"),
                _ => "press with more connections: raise -c and --max-connections".to_owned(),
            }),
            self.fewer.filter(Ratio::is_vague).map(|_| {
                "throughput varies too much to be sure: give a longer --budget, on a machine where nothing else runs".into()
            }),
            (still_grows && !binds && says_something).then(|| "it still grows with the largest number tried: try more with --counts".to_owned()),
            (few && !binds).then(|| {
                format!(
                    "only {} pressed it: give more with -c than there are workers",
                    plural(self.assignment.plan.connections as u64, "connection")
                )
            }),
            (all_same && !binds).then(|| "if that is less than it should give, 'torr doctor' names what limits it".to_owned()),
        ];
        Conclusion {
            summary,
            because: because.into_iter().flatten().chain(rows.iter().flat_map(Row::doubts)).collect(),
            advice: advice.into_iter().flatten().collect(),
            verify: Some(self.verify()),
            ..Conclusion::default()
        }
    }

    /// Returns the rule of thumb, and whether the measurement agrees.
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
            format!("with {} a worker used {used:.2} CPUs: ", plural(self.counts[0] as u64, "worker"))
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

    /// Returns the command that compares the neighbours again, or larger numbers.
    fn verify(&self) -> String {
        let (at, chosen) = (self.chosen, self.counts[self.chosen]);
        let (binds, counted) = (self.binds(self.chosen), self.counts);
        let counts = match self.still_grows() {
            // With more connections these numbers of workers may differ.
            _ if binds => counted.to_vec(),
            true => vec![chosen, chosen + chosen.div_ceil(2), 2 * chosen],
            false => self.counts[at.saturating_sub(1)..=at + 1].to_vec(),
        };
        // More numbers than were tried need more time.
        let budget = self.assignment.budget.mul_f64((counts.len() as f64 / self.counts.len() as f64).max(1.0));
        let budget = format!("{}s", budget.as_secs_f64().ceil());
        let counts = counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let more = self.more_connections();
        let flags: &[Flag<'_>] = &[
            ("--sweep", &"workers"),
            ("--counts", &counts),
            ("--command", &self.command),
            ("-c", if binds { &more } else { &self.assignment.plan.connections }),
            ("--budget", &budget),
        ];
        self.assignment.again.doctor_at(self.url, flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use torr_press::request::Options;
    use torr_press::{Plan, Requests, Target};

    /// Returns the conclusion of throughputs by numbers of workers, with 20 ms for a single request.
    fn concluded(rates: &[(usize, f64)], connections: usize) -> (Conclusion, Option<usize>) {
        let target = Target::parse("http://127.0.0.1:1/").expect("it is a URL");
        let request = Requests::get(&target, true).expect("the request is valid");
        let assignment = Assignment {
            plan: Plan { connections, ..Plan::new(target, vec![], request) },
            options: Options::default(),
            again: crate::Invocation::default(),
            budget: Duration::from_secs(20),
            max_rate: None,
            max_connections: 2 * connections,
        };
        let counts: Vec<_> = rates.iter().map(|(count, _)| *count).collect();
        let rows: Vec<_> = rates.iter().map(|(_, rps)| Row { rps: *rps, ..Row::over("", &[], None) }).collect();
        let (best, chosen) = super::super::chosen(&rates.iter().map(|(_, rps)| *rps).collect::<Vec<_>>());
        let one = Ratio::over(&[(1.0, 1.0); 3]);
        let advised = Advised {
            counts: &counts,
            rows: &rows,
            best,
            chosen,
            gain: one,
            fewer: (chosen > 0).then_some(one),
            cores: 2,
            command: "server {port} {n}",
            url: None,
            assignment: &assignment,
            alone: Some(0.02),
        };
        (advised.conclude(), advised.recommended())
    }

    #[test]
    fn connections_that_bind_recommend_no_workers() {
        // 8 connections reach 400 requests/s at most.
        let (found, workers) = concluded(&[(1, 370.0), (2, 395.0), (4, 390.0)], 8);
        assert_eq!(workers, None);
        assert!(found.summary.starts_with("The 8 connections limit the throughput, not the workers"), "{found:?}");
        let advice = found.advice.join("\n");
        assert!(advice.contains("-c 32") && !advice.contains("start it with"), "{found:?}");
        let verify = found.verify.expect("there is one");
        assert!(verify.contains("--counts '1,2,4'") && verify.contains("-c 32"), "{verify}");
    }

    #[test]
    fn workers_that_all_connections_keep_busy_show_nothing_of_more_workers() {
        let (found, workers) = concluded(&[(1, 50.0), (8, 395.0)], 8);
        assert_eq!(workers, Some(8));
        assert!(found.summary.contains("8 workers are as many as 8 connections can keep at work"), "{found:?}");
        assert!(!found.advice.join("\n").contains("try more with --counts"), "{found:?}");
    }

    #[test]
    fn workers_that_bind_are_recommended() {
        let (found, workers) = concluded(&[(1, 50.0), (4, 200.0), (8, 201.0)], 100);
        assert_eq!((workers, found.summary.starts_with("4 workers")), (Some(4), true), "{found:?}");
        assert!(found.advice.join("\n").contains("start it with 4 workers: 4 in place of '{n}'"), "{found:?}");
        let verify = found.verify.expect("there is one");
        assert_eq!(
            verify,
            "torr doctor --sweep workers --counts '1,4,8' --command 'server {port} {n}' -c 100 --budget 20s"
        );
    }
}
