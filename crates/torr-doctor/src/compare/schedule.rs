//! How long each turn is, and how many rounds fit.

use crate::halt::Halt;
use std::time::Duration;

/// Rounds that are tried for, the most first: more tell more than longer turns do.
const ROUNDS: [usize; 5] = [MOST_ROUNDS, 6, 5, 4, LEAST_ROUNDS];
/// Rounds after which another is only made where the intervals are still wide.
pub const MOST_ROUNDS: usize = 8;
/// With fewer rounds the interval is too wide to say anything.
pub const LEAST_ROUNDS: usize = 3;
/// A turn of this length is worth a round less.
const GOOD: Duration = Duration::from_millis(600);
/// Longer turns tell nothing more.
const LONGEST: Duration = Duration::from_secs(3);
/// The shortest turn that means anything.
const SHORTEST: Duration = Duration::from_millis(400);
/// A turn is so many times as long as a response takes: what is under way at its ends is missing from the throughput.
const RESPONSES: u32 = 10;
/// The share of the time that turns may take; the rest is for what was not foreseen.
const PLANNED: f64 = 0.9;

/// The rounds that are planned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// How long a turn presses.
    pub length: Duration,
    /// How many rounds surely fit. More are made if turns turn out to be shorter than they seemed.
    pub rounds: usize,
}

impl Schedule {
    /// What fits into this time, of which `spent` is gone already. Each turn takes `beside` longer than it presses, and a
    /// response takes about so long.
    ///
    /// # Errors
    /// [`Halt::Budget`].
    pub fn within(
        budget: Duration,
        spent: Duration,
        ways: usize,
        beside: Duration,
        response: Duration,
    ) -> Result<Self, Halt> {
        let good = GOOD.max(response * RESPONSES);
        let time = budget.saturating_sub(spent).mul_f64(PLANNED);
        let length = |rounds: usize| (time / (ways * rounds) as u32).saturating_sub(beside);
        if let Some(&rounds) = ROUNDS.iter().find(|&&rounds| length(rounds) >= good) {
            return Ok(Self { length: length(rounds).min(LONGEST.max(good)), rounds });
        }
        match length(LEAST_ROUNDS) {
            length if length >= SHORTEST => Ok(Self { length, rounds: LEAST_ROUNDS }),
            _ => {
                let turns = (SHORTEST + beside) * (ways * LEAST_ROUNDS) as u32;
                let least = (spent + turns.div_f64(PLANNED)).as_secs_f64().ceil() + 1.0;
                Err(Halt::Budget { given: budget, least: Duration::from_secs_f64(least), ways })
            }
        }
    }

    /// Whether turns are too short for responses that take so long.
    pub fn is_short_for(&self, response: Duration) -> bool {
        self.length < response * RESPONSES
    }

    /// How many ways can have their turns within this time.
    pub fn most_ways(time: Duration, beside: Duration) -> usize {
        let turn = (SHORTEST + beside).as_secs_f64();
        (time.as_secs_f64() * PLANNED / turn) as usize / LEAST_ROUNDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Duration = Duration::ZERO;

    fn seconds(s: f64) -> Duration {
        Duration::from_secs_f64(s)
    }

    #[test]
    fn rounds_come_before_length() {
        assert_eq!(
            Schedule::within(seconds(60.0), NONE, 2, NONE, NONE).unwrap(),
            Schedule { length: seconds(3.0), rounds: 8 }
        );
        let seven = Schedule::within(seconds(60.0), NONE, 7, seconds(0.7), NONE).unwrap();
        assert_eq!(seven.rounds, 5);
        assert!(seven.length > GOOD);
    }

    #[test]
    fn a_turn_has_room_for_several_responses() {
        let slow = Schedule::within(seconds(60.0), NONE, 2, NONE, seconds(0.5)).unwrap();
        assert_eq!((slow.rounds, slow.length), (5, seconds(5.0)));
        assert!(!slow.is_short_for(seconds(0.5)) && slow.is_short_for(seconds(0.6)));
    }

    #[test]
    fn what_does_not_fit_says_what_would() {
        let error = Schedule::within(seconds(5.0), NONE, 6, NONE, NONE).unwrap_err().to_string();
        assert_eq!(error, "a budget of 5s is too short to measure 6 ways in turns: give at least 9s");
        assert!(Schedule::within(seconds(9.0), NONE, 6, NONE, NONE).is_ok());
        assert!(Schedule::within(seconds(9.0), NONE, Schedule::most_ways(seconds(9.0), NONE), NONE, NONE).is_ok());
    }
}
