//! The conclusion of a comparison of workers, beside the rule of thumb: one per core for work that computes, several for work that
//! waits.

use crate::assignment::Assignment;
use crate::compare::conclusion::{ComparisonAdvice, ComparisonFact, ComparisonHeadline, Conclusion, Work};
use crate::compare::row::Row;
use crate::invocation::Flag;
use crate::turns::Ratio;
use std::ops::RangeInclusive;

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
    /// The command with `{n}` as the user gave it. If it has secrets, a variable stands for it in what is printed.
    pub command: &'a str,
    /// The load and its budget.
    pub assignment: &'a Assignment,
    /// The response time of a single request in seconds, if known.
    pub alone: Option<f64>,
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

    /// Returns the conclusion of the comparison.
    pub fn conclude(&self) -> Conclusion {
        let (workers, rows, best) = (self.counts[self.chosen], self.rows, &self.rows[self.best]);
        let connections = self.assignment.plan.connections;
        let (all_same, still_grows) = (self.chosen == 0, self.still_grows());
        let binds = self.binds(self.chosen);
        let headline = match all_same {
            _ if best.mostly_fails() => ComparisonHeadline::WorkersUnknown { failing: best.failing() },
            _ if self.binds(0) => ComparisonHeadline::ConnectionsLimit { connections, workers: self.counts[0] },
            _ if binds => ComparisonHeadline::ConnectionsBusy { connections, workers },
            true => ComparisonHeadline::OneCountEnough { workers },
            false if still_grows => ComparisonHeadline::StillGrowing { workers },
            false => ComparisonHeadline::FewestEnough { workers },
        };
        let because = [
            Some(ComparisonFact::WorkersThroughput { workers, rps: rows[self.chosen].rps }),
            self.at_work(self.chosen).zip(self.alone).filter(|_| binds).map(|(share, alone_s)| {
                ComparisonFact::BusyConnections { share: share.min(1.0), connections, alone_s }
            }),
            self.fewer.map(|ratio| ComparisonFact::FewerWorkers { workers: self.counts[self.chosen - 1], ratio }),
            (self.best != self.chosen).then(|| ComparisonFact::MostThroughput {
                workers: self.counts[self.best],
                rps: best.rps,
                ratio: self.gain,
            }),
            (!self.binds(0)).then(|| self.rule()),
        ];
        let says_something = self.recommended().is_some();
        let few = connections < self.counts.last().copied().unwrap_or(1);
        let more = Some(self.more_connections()).filter(|more| *more > connections);
        let advice = [
            says_something.then_some(ComparisonAdvice::StartWith { workers }),
            binds.then_some(ComparisonAdvice::MoreConnections { connections: more }),
            self.fewer.filter(Ratio::is_vague).map(|_| ComparisonAdvice::LongerBudget),
            (still_grows && !binds && says_something).then_some(ComparisonAdvice::MoreCounts),
            (few && !binds).then_some(ComparisonAdvice::MoreConnectionsThanWorkers { connections }),
            (all_same && !binds).then_some(ComparisonAdvice::Diagnose),
        ];
        Conclusion {
            headline,
            because: because.into_iter().flatten().chain(rows.iter().flat_map(Row::doubts)).collect(),
            advice: advice.into_iter().flatten().collect(),
            verify: Some(self.verify()),
        }
    }

    /// Returns the rule of thumb beside the measured number of workers.
    fn rule(&self) -> ComparisonFact {
        let least = self.counts[0];
        let worker_cores = self.rows[0].server_cores.map(|used| used / least as f64);
        let work = match worker_cores {
            Some(used) if used >= COMPUTES => Some(Work::Computes),
            Some(used) if used <= WAITS => Some(Work::Waits),
            _ => None,
        };
        let (cores, chosen) = (self.cores, self.counts[self.chosen]);
        let waiting = (FOR_WAITING.start() * cores, FOR_WAITING.end() * cores);
        ComparisonFact::RuleOfThumb { work, worker_cores, least, cores, waiting, chosen }
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
        self.assignment.again.doctor(flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invocation::Invocation;
    use std::time::Duration;
    use torr_gauge::verdict::Advice;
    use torr_press::request::Options;
    use torr_press::{Plan, Requests, Target};

    /// Returns the conclusion of throughputs by numbers of workers, with 20 ms for a single request.
    fn concluded(rates: &[(usize, f64)], connections: usize) -> (Conclusion, Option<usize>) {
        let (found, workers, _) = concluded_of(rates, connections, Invocation::default(), "server {port} {n}");
        (found, workers)
    }

    /// Returns the conclusion for a command line and the command of its server, and what to do before the printed
    /// command can be run.
    fn concluded_of(
        rates: &[(usize, f64)],
        connections: usize,
        again: Invocation,
        command: &str,
    ) -> (Conclusion, Option<usize>, Vec<Advice>) {
        let target = Target::parse("http://127.0.0.1:1/").expect("it is a URL");
        let request = Requests::get(&target, true).expect("the request is valid");
        let assignment = Assignment {
            plan: Plan { connections, ..Plan::new(target, vec![], request) },
            options: Options::default(),
            again,
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
            command,
            assignment: &assignment,
            alone: Some(0.02),
        };
        (advised.conclude(), advised.recommended(), assignment.again.before_running())
    }

    #[test]
    fn connections_that_bind_recommend_no_workers() {
        // 8 connections reach 400 requests/s at most.
        let (found, workers) = concluded(&[(1, 370.0), (2, 395.0), (4, 390.0)], 8);
        assert_eq!(workers, None);
        assert_eq!(found.headline, ComparisonHeadline::ConnectionsLimit { connections: 8, workers: 1 });
        assert_eq!(found.advice, [ComparisonAdvice::MoreConnections { connections: Some(32) }]);
        let verify = found.verify.expect("there is one");
        assert!(verify.contains("--counts '1,2,4'") && verify.contains("-c 32"), "{verify}");
    }

    #[test]
    fn workers_that_all_connections_keep_busy_show_nothing_of_more_workers() {
        let (found, workers) = concluded(&[(1, 50.0), (8, 395.0)], 8);
        assert_eq!(workers, Some(8));
        assert_eq!(found.headline, ComparisonHeadline::ConnectionsBusy { connections: 8, workers: 8 });
        assert!(!found.advice.contains(&ComparisonAdvice::MoreCounts), "{found:?}");
    }

    #[test]
    fn workers_that_bind_are_recommended() {
        let (found, workers) = concluded(&[(1, 50.0), (4, 200.0), (8, 201.0)], 100);
        assert_eq!((workers, &found.headline), (Some(4), &ComparisonHeadline::FewestEnough { workers: 4 }));
        assert!(found.advice.contains(&ComparisonAdvice::StartWith { workers: 4 }), "{found:?}");
        let verify = found.verify.expect("there is one");
        assert_eq!(
            verify,
            "torr doctor --sweep workers --counts '1,4,8' --command 'server {port} {n}' -c 100 --budget 20s"
        );
    }

    #[test]
    fn secrets_of_the_command_and_of_the_url_are_variables() {
        // A URL may be given without its scheme.
        let url = Target::parse("h:8080/?token=x").expect("it is a URL").as_given();
        let again = Invocation { url: Some(url), ..Invocation::default() };
        let command = "server {n} --database mysql://u:p@h/d";
        let (found, _, advice) = concluded_of(&[(1, 50.0), (4, 200.0), (8, 201.0)], 100, again, command);
        assert_eq!(
            found.verify.expect("there is one"),
            "torr doctor \"http://h:8080/?token=$TORR_URL_TOKEN\" --sweep workers --counts '1,4,8' \
             --command \"$TORR_COMMAND\" -c 100 --budget 20s"
        );
        let variables = [("TORR_URL_TOKEN", "the parameter token of the URL"), ("TORR_COMMAND", "--command")];
        let variables = variables.map(|(name, meaning)| (name.to_owned(), meaning.to_owned())).to_vec();
        assert_eq!(advice, [Advice::ExportSecrets { variables }]);
    }
}
