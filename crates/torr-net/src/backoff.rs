//! How long to wait before a connection is tried again.

use crate::Nanos;

const FIRST: Nanos = 10_000_000;
const LONGEST: Nanos = 500_000_000;

/// The wait after so many failures in a row: none without one, 10 ms after the first, doubling up to half a second, so
/// that a server which comes back is found again within a second.
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
