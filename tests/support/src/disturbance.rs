//! When a measurement is made again: where it claimed nothing, or where other programs or the hypervisor measurably took the CPU from
//! it. A wrong result of an undisturbed measurement is never tried again.

use procfs::CurrentSI;
use serde_json::Value;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The share of the machine's CPU time from which others disturb a measurement: on two CPUs, three tenths of one.
const OTHERS: f64 = 0.15;
/// The share of the machine's CPU time from which the hypervisor does.
const STOLEN: f64 = 0.02;
/// How often a measurement is made at most.
const ATTEMPTS: usize = 5;

/// The CPU time that a measurement had not, as shares of the machine's, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Disturbance {
    /// The share that was neither the service's, nor that of a peer of it, nor the generator's.
    pub others: f64,
    /// The share that the hypervisor gave to other machines.
    pub stolen: f64,
}

impl Disturbance {
    /// Reads a result (`torr.run/1`). Without its `host`, nothing is known to have disturbed it.
    pub fn of_run(result: &Value) -> Self {
        let host = &result["host"];
        let server = number(&host["server_cores"]);
        Self::between(&host["cores"], &host["cpu_share"], &host["steal_share"], server + generator(result))
    }

    /// Reads a diagnosis (`torr.doctor/1`): the experiment of its trail that was disturbed most.
    pub fn of_diagnosis(diagnosis: &Value) -> Self {
        let each = list(&diagnosis["trail"]).map(|trial| {
            let (machine, signals) = (&trial["signals"]["machine"], &trial["signals"]);
            let peers = list(&signals["peers"]).flat_map(|peer| list(&peer["processes"]));
            let known: f64 = list(&signals["processes"]).chain(peers).map(|process| number(&process["cores"])).sum();
            let known = known + generator(&trial["run"]);
            Self::between(&machine["cores"], &machine["cpu_share"], &machine["steal_share"], known)
        });
        each.fold(Self::default(), |a, b| Self { others: a.others.max(b.others), stolen: a.stolen.max(b.stolen) })
    }

    /// Reads what a search for a limit (`torr.limit/1`) says was taken during its steps: the most of it.
    pub fn of_search(outcome: &Value) -> Self {
        list(&outcome["steps"]).map(|step| &step["taken"]).fold(Self::default(), |most, taken| Self {
            others: most.others.max(number(&taken["others"])),
            stolen: most.stolen.max(number(&taken["stolen"])),
        })
    }

    /// Does some work, and reads the machine's counters around it. What this process and the children that it has waited for use is
    /// the work's own.
    pub fn during<T>(work: impl FnOnce() -> T) -> (T, Self) {
        let then = Ticks::now();
        let done = work();
        let now = Ticks::now();
        let since = |of: fn(&Ticks) -> u64| of(&now).saturating_sub(of(&then)) as f64;
        let all = since(|ticks| ticks.all).max(1.0);
        let others = (since(|ticks| ticks.used) - since(|ticks| ticks.own)).max(0.0) / all;
        (done, Self { others, stolen: since(|ticks| ticks.stolen) / all })
    }

    fn between(cores: &Value, used: &Value, stolen: &Value, known: f64) -> Self {
        let (cores, stolen) = (number(cores), number(stolen));
        let others = if cores > 0.0 { (number(used) - stolen - known / cores).max(0.0) } else { 0.0 };
        Self { others, stolen }
    }

    /// Whether it is enough to excuse a wrong result.
    pub fn counts(self) -> bool {
        self.others >= OTHERS || self.stolen >= STOLEN
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (others, stolen) = (self.others * 100.0, self.stolen * 100.0);
        write!(f, "other programs used {others:.0}% of the machine's CPU, the hypervisor gave {stolen:.0}% to others")
    }
}

/// Takes from a result (`torr.run/1`) what was found of its validity, for tests in which a disturbed run does as well as any.
pub fn forget_validity(result: &mut Value) {
    result.as_object_mut().expect("a result is an object").remove("validity").expect("every result has its validity");
}

/// The kernel's counters, in ticks since the machine's start.
struct Ticks {
    all: u64,
    used: u64,
    stolen: u64,
    own: u64,
}

impl Ticks {
    fn now() -> Self {
        let cpu = procfs::KernelStats::current().expect("the kernel tells what its CPUs do").total;
        let own = procfs::process::Process::myself().and_then(|process| process.stat()).expect("there is /proc");
        let own = own.utime + own.stime + u64::try_from(own.cutime + own.cstime).unwrap_or_default();
        let used = cpu.user + cpu.nice + cpu.system + cpu.irq.unwrap_or(0) + cpu.softirq.unwrap_or(0);
        let stolen = cpu.steal.unwrap_or(0);
        Self { all: used + stolen + cpu.idle + cpu.iowait.unwrap_or(0), used, stolen, own }
    }
}

/// The generator's CPU time in cores, as a result has it.
fn generator(result: &Value) -> f64 {
    let seconds = number(&result["duration_s"]);
    let us = number(&result["generator"]["cpu_us_per_request"]) * number(&result["requests"]);
    if seconds > 0.0 { us / 1e6 / seconds } else { 0.0 }
}

/// A number, or 0 where there is none.
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// What came of one measurement.
#[derive(Debug)]
pub enum Outcome<T> {
    /// It is as it should be.
    Right(T),
    /// It claims nothing, and says why.
    Unknown(String),
    /// It claims what is not so; and what has disturbed it meanwhile.
    Wrong(String, Disturbance),
}

/// Measures until the outcome is right, up to five times. What was not right is printed, with the reason for another attempt.
///
/// # Panics
/// At once where an outcome is wrong and nothing has disturbed the measurement, and where none of the attempts was right.
#[track_caller]
pub fn until_right<T>(what: &str, mut measure: impl FnMut() -> Outcome<T>) -> T {
    let mut said = Vec::new();
    for _ in 0..ATTEMPTS {
        said.push(match measure() {
            Outcome::Right(right) => return right,
            Outcome::Unknown(why) => format!("it could not be told: {why}"),
            Outcome::Wrong(wrong, disturbance) if disturbance.counts() => {
                format!("disturbed, since {disturbance}: {wrong}")
            }
            Outcome::Wrong(wrong, disturbance) => panic!("{what}: wrong, and undisturbed ({disturbance}): {wrong}"),
        });
        eprintln!("{what}: {}", said[said.len() - 1]);
    }
    panic!("{what}: not right in {ATTEMPTS} attempts: {said:#?}")
}

/// Runs assertions about a measurement. Those that fail while the hypervisor measurably took the CPU away are made again, up to five
/// times, with what was wrong printed.
///
/// # Panics
/// As [`until_right`].
#[track_caller]
pub fn unless_stolen(what: &str, measure: impl Fn()) {
    until_right(what, || {
        let (ended, disturbance) = Disturbance::during(|| catch_unwind(AssertUnwindSafe(&measure)));
        match ended {
            Ok(()) => Outcome::Right(()),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref().map(|text: &&str| (*text).to_owned()));
                // A server of the test that still runs would count among the others.
                let stolen = Disturbance { others: 0.0, ..disturbance };
                Outcome::Wrong(text.unwrap_or_else(|| "it panicked".into()), stolen)
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::process::Command;
    use std::time::Duration;

    const QUIET: Disturbance = Disturbance { others: 0.05, stolen: 0.0 };
    const BUSY: Disturbance = Disturbance { others: 0.3, stolen: 0.0 };
    const STOLEN_FROM: Disturbance = Disturbance { others: 0.0, stolen: 0.03 };

    /// How often it was measured, and whether that ended well.
    fn measured(outcome: impl Fn(usize) -> Outcome<()>) -> (usize, bool) {
        let mut count = 0;
        let ended = catch_unwind(AssertUnwindSafe(|| {
            until_right("a test", || {
                count += 1;
                outcome(count)
            });
        }));
        (count, ended.is_ok())
    }

    #[test]
    fn only_what_is_unknown_or_was_disturbed_is_measured_again() {
        let wrong = |disturbance| Outcome::Wrong("another factor".to_owned(), disturbance);
        let third = |nth, before| if nth == 3 { Outcome::Right(()) } else { before };
        assert_eq!(measured(|_| Outcome::Right(())), (1, true));
        assert_eq!(measured(|nth| third(nth, Outcome::Unknown("too few".to_owned()))), (3, true));
        assert_eq!(measured(|nth| third(nth, wrong(BUSY))), (3, true));
        assert_eq!(measured(|nth| third(nth, wrong(STOLEN_FROM))), (3, true));
        assert_eq!(measured(|nth| third(nth, wrong(QUIET))), (1, false), "a wrong result is not tried again");
        assert_eq!(measured(|_| wrong(BUSY)), (ATTEMPTS, false), "an excuse is no pass");
        assert_eq!(measured(|_| Outcome::Unknown(String::new())), (ATTEMPTS, false));
    }

    #[test]
    fn what_others_use_is_seen_until_it_is_known_as_own() {
        let second = Duration::from_secs(1);
        let mut other = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("there is a shell");
        let (_, disturbed) = Disturbance::during(|| std::thread::sleep(second));
        let (_, own) = Disturbance::during(|| {
            std::thread::sleep(second);
            other.kill().and_then(|()| other.wait()).expect("it can be ended")
        });
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        // Where others want this machine's CPUs as well, the loop gets a part of one, and they have the rest.
        assert!(disturbed.others > 0.5 / cores, "{disturbed}");
        assert!(own.others < disturbed.others, "a child that was waited for is no other: {own}, before {disturbed}");
    }

    #[test]
    fn a_result_tells_what_disturbed_it() {
        let run = json!({
            "duration_s": 2.0, "requests": 1000, "generator": {"cpu_us_per_request": 400.0},
            "host": {"cores": 2, "cpu_share": 0.9, "steal_share": 0.1, "server_cores": 1.0},
        });
        let disturbance = Disturbance::of_run(&run);
        assert!((disturbance.others - 0.2).abs() < 1e-9 && disturbance.stolen == 0.1, "{disturbance:?}");
        assert!(disturbance.counts());
        assert_eq!(Disturbance::of_run(&json!({"duration_s": 2.0})), Disturbance::default());

        let machine = |used: f64| json!({"cores": 2, "cpu_share": used, "steal_share": null});
        let process = json!({"cores": 0.5});
        let trial = |used, peers: Value| {
            let signals = json!({"machine": machine(used), "processes": [process], "peers": peers});
            json!({"run": {"duration_s": 1.0}, "signals": signals})
        };
        let diagnosis = |trail: Value| Disturbance::of_diagnosis(&json!({ "trail": trail })).others;
        assert_eq!(diagnosis(json!([trial(0.25, json!(null)), trial(0.5, json!([{"processes": [process]}]))])), 0.0);
        assert_eq!(diagnosis(json!([trial(0.75, json!(null)), trial(0.5, json!([]))])), 0.5);
        assert_eq!(diagnosis(json!([])), 0.0);

        let steps = json!([{"kept": true}, {"taken": {"others": 0.3, "stolen": 0.0}}, {"taken": {"stolen": 0.01}}]);
        let search = Disturbance::of_search(&json!({ "steps": steps }));
        assert_eq!(search, Disturbance { others: 0.3, stolen: 0.01 });
    }
}
