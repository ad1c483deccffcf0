//! The exponential back-off of connection attempts.

use crate::Nanos;

/// The delay after the first failure: 10 ms.
const FIRST: Nanos = 10_000_000;
/// The longest delay: half a second, so that a server that recovers is found within a second.
const LONGEST: Nanos = 500_000_000;

/// Returns the delay after this number of failures in a row: 0 after none, 10 ms after one, doubling up to half a second.
pub fn delay_after(failures: u32) -> Nanos {
    match failures {
        0 => 0,
        n => (FIRST << (n - 1).min(6)).min(LONGEST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_half_a_second() {
        let waits: Vec<_> = [0, 1, 2, 6, 7, u32::MAX].map(|n| delay_after(n) / 1_000_000).into();
        assert_eq!(waits, [0, 10, 20, 320, 500, 500]);
    }
}
