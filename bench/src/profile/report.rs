//! What was sampled, for programs and for people.

use std::collections::BTreeMap;

use serde::Serialize;

use super::options::WhereOptions;
use super::parts::{PARTS, Part, Row};
use super::sampling::FREQUENCY;
use crate::archive;
use crate::data::candidates::POOL;
use crate::data::scenario::Group;
use crate::machine::Machine;
use crate::report::{NONE, table};

/// As many functions of a way are archived: those that cost the most.
const ARCHIVED: usize = 60;

/// Where one way spends its time.
#[derive(Serialize)]
pub struct Profile {
    /// The database.
    pub database: Group,
    /// The way's name among the candidates.
    pub candidate: &'static str,
    /// The turns in which it was sampled.
    #[serde(flatten)]
    turns: Sampling,
    /// CPU time per request in microseconds by part, in the order of the plot.
    parts: Vec<Spent>,
    /// What cost the most.
    functions: Vec<Named>,
}

/// The turns in which a way was sampled, taken together.
#[derive(Serialize)]
pub struct Sampling {
    /// The event that perf samples.
    pub event: String,
    /// Requests answered.
    pub requests: u64,
    /// CPU time of the service per request in microseconds, by the scheduler's account.
    pub us_per_request: f64,
    /// The least and the most of that in one turn.
    pub us_range: [f64; 2],
    /// How often perf looked.
    pub samples: u64,
    /// As a share of what it should have been by that CPU time.
    pub seen: f64,
}

/// What went into one part.
#[derive(Serialize)]
struct Spent {
    part: Part,
    us_per_request: f64,
}

/// One function, and which part it was counted into.
#[derive(Serialize)]
pub struct Named {
    /// The part.
    pub part: Part,
    /// CPU time per request in microseconds.
    pub us_per_request: f64,
    /// Its name.
    pub name: String,
    /// The program or library that it is in.
    pub file: String,
}

impl Profile {
    /// Sums up all functions.
    pub fn new(database: Group, candidate: &'static str, turns: Sampling, mut functions: Vec<Named>) -> Self {
        let of = |part: Part| functions.iter().filter(|f| f.part == part).map(|f| f.us_per_request).sum();
        let parts = PARTS.iter().map(|row| Spent { part: row.part, us_per_request: of(row.part) }).collect();
        functions.sort_by(|a, b| b.us_per_request.total_cmp(&a.us_per_request));
        functions.truncate(ARCHIVED);
        Profile { database, candidate, turns, parts, functions }
    }

    /// Each part with its microseconds per request, in the order of the plot.
    pub fn parts(&self) -> impl Iterator<Item = (&'static Row, f64)> {
        PARTS.iter().zip(&self.parts).map(|(row, spent)| (row, spent.us_per_request))
    }

    /// CPU time of the service per request in microseconds.
    pub fn us_per_request(&self) -> f64 {
        self.turns.us_per_request
    }

    /// The name without the program's.
    pub fn short(&self) -> &'static str {
        self.candidate.split_once(' ').map_or(self.candidate, |(_, way)| way)
    }

    /// By how much a part of one microsecond may be wrong, since only so many samples are of it.
    fn error_of_one(&self) -> f64 {
        (self.turns.us_per_request / self.turns.samples as f64).sqrt()
    }
}

/// A whole run.
#[derive(Serialize)]
pub struct Report {
    /// Name and version of this format.
    schema: &'static str,
    /// Start of the run, UTC.
    pub started_at: String,
    /// Turns of one second of each way.
    rounds: u32,
    /// Samples per second of CPU time.
    frequency: u32,
    connections: u32,
    /// Connections of the service to the database.
    pool: u32,
    /// Where it was run.
    pub machine: Machine,
    /// What was found.
    pub profiles: Vec<Profile>,
}

impl Report {
    /// Puts a run together.
    pub fn new(started_at: String, options: &WhereOptions, machine: Machine, profiles: Vec<Profile>) -> Self {
        Report {
            schema: "torr.bench.where/1",
            started_at,
            rounds: options.seconds,
            frequency: FREQUENCY,
            connections: options.connections,
            pool: POOL,
            machine,
            profiles,
        }
    }

    /// As it is archived for people.
    pub fn markdown(&self) -> String {
        let events: BTreeMap<&str, ()> = self.profiles.iter().map(|p| (p.turns.event.as_str(), ())).collect();
        let events = events.into_keys().collect::<Vec<_>>().join(", ");
        let mut text =
            format!("# Where the ways spend their time, {}, revision {}\n\n", self.started_at, self.machine.revision);
        text += &format!(
            "Measured by `torr-bench where`: one random row of 100,000 as JSON; the service with one worker on CPU 0; the load, \
             `torr -t 1 -c {}`, and the database on CPU 1; {POOL} connections to the database. Each way was pressed in {} \
             turns of one second, the order reversed every other round, while \
             perf looked {FREQUENCY} times per second of CPU time ({events}) which function was at work.\n\n",
            self.connections, self.rounds
        );
        text + &archive::on(&self.machine) + &self.tables()
    }

    /// One table per database.
    pub fn tables(&self) -> String {
        let mut text = "\nMicroseconds of the service's CPU time per request.\n".to_owned();
        for of_database in self.profiles.chunk_by(|a, b| a.database == b.database) {
            text += &format!("\n## {}\n\n{}", of_database[0].database.title(), of_one(of_database));
        }
        text + "\nA part is what was found in it of all samples, times the CPU time per request. How much that changes from turn to turn, whatever \
                else goes on, stands below the sum. The last row says how sure the shares are: \
                a part of 1 us was found so often that the square root of the number is this share of it; a part four times as large is \
                sure to half of that. A function that the compiler has put into another one counts with that one.\n"
    }
}

fn of_one(profiles: &[Profile]) -> String {
    let row = |name: &str, cell: &dyn Fn(&Profile) -> String| {
        std::iter::once(name.to_owned()).chain(profiles.iter().map(cell)).collect::<Vec<_>>()
    };
    let mut rows = vec![row("", &|p| p.short().to_owned())];
    for (n, part) in PARTS.iter().enumerate() {
        let spent = |p: &Profile| p.parts[n].us_per_request;
        if profiles.iter().any(|p| spent(p) > 0.0) {
            rows.push(row(part.name, &|p| if spent(p) > 0.0 { format!("{:.2}", spent(p)) } else { NONE.into() }));
        }
    }
    rows.push(row("**all**", &|p| format!("**{:.2}**", p.us_per_request())));
    rows.push(row("in one turn", &|p| format!("{:.1}-{:.1}", p.turns.us_range[0], p.turns.us_range[1])));
    rows.push(row("samples", &|p| p.turns.samples.to_string()));
    rows.push(row("a part of 1 us", &|p| format!("+-{:.0}%", p.error_of_one() * 100.0)));
    table(&rows)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A way of 10 us, of which the kernel takes 6.
    pub fn profile(database: Group, candidate: &'static str) -> Profile {
        let named = |part, us_per_request| Named { part, us_per_request, name: "f".into(), file: "torr".into() };
        let functions = vec![named(Part::Builder, 1.0), named(Part::Kernel, 6.0), named(Part::Builder, 3.0)];
        let event = "cpu-clock".into();
        let turns =
            Sampling { event, requests: 1000, us_per_request: 10.0, us_range: [9.0, 11.0], samples: 4000, seen: 1.0 };
        Profile::new(database, candidate, turns, functions)
    }

    #[test]
    fn functions_are_summed_up_by_part() {
        let profile = profile(Group::Postgres, "torr builder");
        assert_eq!(profile.parts().map(|(_, us)| us).sum::<f64>(), 10.0);
        assert_eq!(profile.functions[0].part, Part::Kernel);
        let text = of_one(&[profile]);
        assert!(text.contains("| builder        |      4.00 |\n| kernel         |      6.00 |\n"), "{text}");
        assert!(text.contains("| a part of 1 us |      +-5% |\n"), "{text}");
    }
}
