//! The offset between two monotonic clocks, from exchanges of a request and its reply.

use torr_net::Nanos;

/// One exchange: the local times of the request and of the reply, and the remote time in between.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchange {
    pub sent: Nanos,
    pub received: Nanos,
    pub remote: Nanos,
}

/// The offset of a remote clock, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offset {
    /// What the remote clock shows more than the local one.
    ahead: i128,
    /// The limit of the error: half of the shortest round trip.
    pub error: Nanos,
}

impl Offset {
    /// Estimates the offset from the exchange with the shortest round trip; `None` without exchanges.
    pub fn estimate(exchanges: &[Exchange]) -> Option<Self> {
        let best = exchanges.iter().min_by_key(|one| one.received.saturating_sub(one.sent))?;
        let half = best.received.saturating_sub(best.sent) / 2;
        let ahead = i128::from(best.remote) - i128::from(best.sent + half);
        Some(Self { ahead, error: half.max(1) })
    }

    /// Returns the remote time at a local time.
    pub fn to_remote(self, local: Nanos) -> Nanos {
        (i128::from(local) + self.ahead).clamp(0, u64::MAX.into()) as Nanos
    }

    /// Returns the nanoseconds by which a remote time is after a local time.
    pub fn after(self, remote: Nanos, local: Nanos) -> i64 {
        (i128::from(remote) - self.ahead - i128::from(local)).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_error_is_at_most_half_of_the_shortest_round_trip(
            ahead in -3_000_000_000_i64..3_000_000_000,
            ways in proptest::collection::vec((1_000_u64..50_000_000, 1_000_u64..50_000_000), 16..40),
        ) {
            let mut now = 10_000_000_000_u64;
            let mut exchanges = Vec::new();
            for (there, back) in &ways {
                let remote = (now + there) as i64 + ahead;
                exchanges.push(Exchange { sent: now, received: now + there + back, remote: remote as u64 });
                now += there + back + 1_000_000;
            }
            let offset = Offset::estimate(&exchanges).unwrap();
            let shortest = ways.iter().map(|(there, back)| there + back).min().unwrap();
            prop_assert!(offset.error <= shortest / 2 + 1);
            let off = offset.to_remote(now).abs_diff((now as i64 + ahead) as u64);
            prop_assert!(off <= offset.error + 1, "{off} > {}", offset.error);
            prop_assert_eq!(offset.after(offset.to_remote(now), now), 0);
        }
    }

    #[test]
    fn without_exchanges_nothing_is_known() {
        assert_eq!(Offset::estimate(&[]), None);
    }
}
