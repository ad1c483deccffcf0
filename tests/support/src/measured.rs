//! Assertions that only a quiet machine can keep, and when a measurement is made again.
//!
//! A test that measures has two kinds of assertions. `assert!` is for what holds in any weather: counts, exit codes, the honesty of a
//! verdict. [`quiet!`](crate::quiet) is for times and rates, which other programs can spoil. A failed `quiet!` is a failure, unless a
//! disturbance was measured that the test did not make itself. Then the measurement is made again, when the machine has become quiet. Where
//! it stays disturbed, a line `NOT MEASURED: ...` is printed, past the capture of the test runner, so that it can be counted.

use crate::disturbance::Disturbance;
use std::cell::Cell;
use std::io::{Write, stderr};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The most attempts at one measurement.
const ATTEMPTS: usize = 4;
/// The most attempts at a measurement that a witness of the test explains each time: a virtual machine's own delays come and go within
/// seconds, and no counter shows when they have ended.
const WITNESSED_ATTEMPTS: usize = 12;
/// The length of a look for other programs before an attempt.
const LOOK: Duration = Duration::from_millis(200);
/// The longest wait for a quiet moment before an attempt.
const LONGEST_WAIT: Duration = Duration::from_secs(15);
/// The longest wait of all tests of a program together: a machine that has not become quiet by then is taken to stay disturbed, and each
/// further measurement is made once.
const ALL_WAITS: Duration = Duration::from_secs(90);

/// The time that the tests of this program have waited so far.
static WAITED: Mutex<Duration> = Mutex::new(Duration::ZERO);

thread_local! {
    /// Whether the thread is within [`measured`].
    static IS_MEASURING: Cell<bool> = const { Cell::new(false) };
}

/// Asserts what holds on a quiet machine only, such as a time or a rate. Belongs into [`measured`](crate::measured::measured).
#[macro_export]
macro_rules! quiet {
    ($holds:expr $(,)?) => {
        if !$holds {
            $crate::measured::not_as_measured(stringify!($holds).to_owned())
        }
    };
    ($holds:expr, $($text:tt)+) => {
        if !$holds {
            $crate::measured::not_as_measured(format!($($text)+))
        }
    };
}

/// A measurement that is not as it would be on a quiet machine.
struct NeedsQuiet {
    wrong: String,
    /// What a witness of the test measured that explains it.
    witnessed: Option<String>,
}

/// Ends a measurement that is not as it would be on a quiet machine.
///
/// # Panics
/// Always: with a value that [`measured`] knows if that has called, otherwise with the text.
#[track_caller]
pub fn not_as_measured(text: String) -> ! {
    if IS_MEASURING.get() {
        resume_unwind(Box::new(NeedsQuiet { wrong: text, witnessed: None }));
    }
    panic!("{text}");
}

/// Ends a measurement that is wrong by less than what a witness of the test measured: delays of the machine that no counter of CPU time
/// shows.
///
/// # Panics
/// As [`not_as_measured`] does.
#[track_caller]
pub fn explained(wrong: String, witnessed: String) -> ! {
    if IS_MEASURING.get() {
        resume_unwind(Box::new(NeedsQuiet { wrong, witnessed: Some(witnessed) }));
    }
    panic!("{wrong}, {witnessed}");
}

/// Measures until each `quiet!` holds, and returns what `measure` returns; `None` on a machine that stays disturbed, which is printed.
///
/// # Panics
/// Where an `assert!` fails, and where a `quiet!` fails in an attempt that nothing has disturbed.
#[track_caller]
pub fn measured<T>(what: &str, measure: impl FnMut() -> T) -> Option<T> {
    attempts(what, &mut Machine, measure)
}

/// The machine as attempts see it, so that they can be tested without one.
trait Weather {
    /// Waits for a quiet moment. Returns whether another attempt is worthwhile if this one is disturbed.
    fn wait_for_quiet(&mut self, what: &str) -> bool;

    /// Does the work, and returns what disturbed it.
    fn during<T>(&mut self, work: impl FnOnce() -> T) -> (T, Disturbance);

    /// Prints a line.
    fn say(&mut self, line: &str);
}

#[track_caller]
fn attempts<T>(what: &str, weather: &mut impl Weather, mut measure: impl FnMut() -> T) -> Option<T> {
    let (mut last, mut was_disturbed) = (String::new(), false);
    for attempt in 1..=WITNESSED_ATTEMPTS {
        let may_become_quiet = weather.wait_for_quiet(what);
        IS_MEASURING.set(true);
        let (ended, disturbance) = weather.during(|| catch_unwind(AssertUnwindSafe(&mut measure)));
        IS_MEASURING.set(false);
        let failed = match ended {
            Ok(done) => return Some(done),
            Err(panic) => panic,
        };
        let NeedsQuiet { wrong, witnessed } = match failed.downcast::<NeedsQuiet>() {
            Ok(needs_quiet) => *needs_quiet,
            Err(assertion) => resume_unwind(assertion),
        };
        let is_disturbed = disturbance.counts() || witnessed.is_some();
        assert!(is_disturbed, "{what}: wrong, and undisturbed ({disturbance}): {wrong}");
        was_disturbed |= disturbance.counts();
        // A witness is a part of the test: what it saw is a reason to measure again, and none to pass.
        let most = if was_disturbed { ATTEMPTS } else { WITNESSED_ATTEMPTS };
        let is_last = attempt >= most || !may_become_quiet && witnessed.is_none();
        assert!(
            was_disturbed || !is_last,
            "{what}: wrong in each attempt, and only the test's witness explains it: {wrong}"
        );
        last = witnessed.unwrap_or_else(|| disturbance.to_string());
        weather.say(&format!("{what}: attempt {attempt} was disturbed: {last}: {wrong}"));
        if is_last {
            break;
        }
    }
    weather.say(&format!("NOT MEASURED: {what}: {last}"));
    None
}

/// This machine.
struct Machine;

impl Weather for Machine {
    fn wait_for_quiet(&mut self, what: &str) -> bool {
        let begun = Instant::now();
        loop {
            let ((), disturbance) = Disturbance::during(|| thread::sleep(LOOK));
            if !disturbance.counts() {
                return true;
            }
            let mut waited = WAITED.lock().unwrap_or_else(PoisonError::into_inner);
            *waited += LOOK;
            if *waited >= ALL_WAITS {
                return false;
            }
            drop(waited);
            if begun.elapsed() >= LONGEST_WAIT {
                self.say(&format!("{what}: no quiet moment in {LONGEST_WAIT:?}: {disturbance}"));
                return true;
            }
        }
    }

    fn during<T>(&mut self, work: impl FnOnce() -> T) -> (T, Disturbance) {
        Disturbance::during(work)
    }

    fn say(&mut self, line: &str) {
        // Not `eprintln!`, whose lines a test that passes does not show. Without a standard error there is no reader. The runner has begun a
        // line with the name of the test.
        let _ = writeln!(stderr(), "\n{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUSY: Disturbance = Disturbance { others: 0.3, stolen: 0.0, queued: 0.0 };
    const QUIET: Disturbance = Disturbance { others: 0.04, stolen: 0.0, queued: 0.4 };

    /// A machine that is disturbed as a test says.
    struct Made {
        disturbance: Disturbance,
        may_become_quiet: bool,
        said: Vec<String>,
    }

    impl Weather for Made {
        fn wait_for_quiet(&mut self, _what: &str) -> bool {
            self.may_become_quiet
        }

        fn during<T>(&mut self, work: impl FnOnce() -> T) -> (T, Disturbance) {
            (work(), self.disturbance)
        }

        fn say(&mut self, line: &str) {
            self.said.push(line.to_owned());
        }
    }

    /// Returns the number of attempts, the end of the test (`None` if it failed) and what was printed.
    fn made(
        disturbance: Disturbance,
        may_become_quiet: bool,
        measure: impl Fn(usize),
    ) -> (usize, Option<bool>, String) {
        let mut machine = Made { disturbance, may_become_quiet, said: Vec::new() };
        let mut count = 0;
        let ended = catch_unwind(AssertUnwindSafe(|| {
            attempts("a test", &mut machine, || {
                count += 1;
                measure(count);
            })
        }));
        (count, ended.ok().map(|done| done.is_some()), machine.said.join("\n"))
    }

    #[test]
    fn only_a_disturbed_measurement_is_made_again() {
        let third = |nth: usize| quiet!(nth == 3, "attempt {nth}");
        assert_eq!(made(QUIET, true, |_| ()), (1, Some(true), String::new()));
        let (count, ended, said) = made(BUSY, true, third);
        assert_eq!((count, ended), (3, Some(true)));
        assert!(said.contains("attempt 2 was disturbed: other programs used 30%") && !said.contains("NOT"), "{said}");
        assert_eq!(made(QUIET, true, third), (1, None, String::new()), "an undisturbed one is wrong");
        let witness = |nth| {
            if nth == 1 {
                explained("1 ms".to_owned(), "the echo took 2 ms more".to_owned())
            }
        };
        let always = |nth| {
            if nth > 0 {
                explained("1 ms".to_owned(), "the echo took 2 ms more".to_owned())
            }
        };
        let (count, ended, said) = made(QUIET, true, always);
        assert_eq!((count, ended), (WITNESSED_ATTEMPTS, None), "a witness alone excuses nothing: {said}");
        assert_eq!(made(BUSY, true, always).1, Some(false));
        let (count, ended, said) = made(QUIET, true, witness);
        assert_eq!((count, ended), (2, Some(true)));
        assert!(said.contains("disturbed: the echo took 2 ms more: 1 ms"), "{said}");
    }

    #[test]
    fn what_holds_in_any_weather_fails_at_once() {
        assert_eq!(made(BUSY, true, |nth| assert!(nth == 3, "a count is wrong")).0, 1);
        assert_eq!(made(BUSY, true, |nth| assert!(nth == 3, "a count is wrong")).1, None);
    }

    #[test]
    fn a_machine_that_stays_disturbed_is_printed_and_no_failure() {
        let (count, ended, said) = made(BUSY, true, |_| quiet!(false));
        assert_eq!((count, ended), (ATTEMPTS, Some(false)));
        assert!(said.lines().any(|line| line.starts_with("NOT MEASURED: a test: other programs used 30%")), "{said}");
        let (count, ended, _) = made(BUSY, false, |_| quiet!(false));
        assert_eq!((count, ended), (1, Some(false)), "each is tried once where quiet will not come");
    }
}
