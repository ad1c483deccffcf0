//! The length of turns, and the number of rounds that fit the budget.

use crate::halt::Halt;
use std::time::Duration;

/// The numbers of rounds that are tried, the most first: more rounds are better than longer turns.
const ROUNDS: [usize; 5] = [MOST_ROUNDS, 6, 5, 4, LEAST_ROUNDS];
/// The number of rounds after which more are run only while intervals are wide.
pub const MOST_ROUNDS: usize = 8;
/// The least number of rounds: with fewer, the interval is too wide.
pub const LEAST_ROUNDS: usize = 3;
/// The length of a turn that is preferred to one more round.
const GOOD: Duration = Duration::from_millis(600);
/// The longest turn.
const LONGEST: Duration = Duration::from_secs(3);
/// The shortest turn.
const SHORTEST: Duration = Duration::from_millis(400);
/// The least length of a turn in response times: requests in flight at its ends are missing from the throughput.
const RESPONSES: u32 = 10;
/// The share of the budget that is planned for turns.
const PLANNED: f64 = 0.9;

/// The planned rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// The measured time of a turn.
    pub length: Duration,
    /// The number of rounds that certainly fit. More are run if turns are shorter than expected.
    pub rounds: usize,
}

impl Schedule {
    /// Returns the rounds that fit a time, of which `spent` is used up. Each turn takes `beside` longer than its measured time;
    /// `response` is the usual response time.
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

    /// Returns whether turns are too short for this response time.
    pub fn is_short_for(&self, response: Duration) -> bool {
        self.length < response * RESPONSES
    }

    /// Returns the number of variants that fit a time. Each turn takes `beside` longer than its measured time.
    pub fn most_ways(time: Duration, beside: Duration) -> usize {
        let turn = (SHORTEST + beside).as_secs_f64();
        (time.as_secs_f64() * PLANNED / turn) as usize / LEAST_ROUNDS
    }
}

/// Returns the number of variants that certainly fit a budget, whatever opening their connections takes.
pub fn most_variants(budget: Duration) -> usize {
    Schedule::most_ways(budget, SHORTEST)
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
        assert_eq!(error, "a budget of 5s is too short to measure 6 variants in turns; use at least 9s");
        assert!(Schedule::within(seconds(9.0), NONE, 6, NONE, NONE).is_ok());
        assert!(Schedule::within(seconds(9.0), NONE, Schedule::most_ways(seconds(9.0), NONE), NONE, NONE).is_ok());
    }
}
