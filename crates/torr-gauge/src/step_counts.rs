//! The response times of an interval in steps of at most 1%, and their encoding in few bytes.

use crate::Latency;

/// The number of microseconds below which each has a step of its own, apart from the decades.
const FIRST_DECADE: u64 = 100;
/// The number of steps in a decade.
const STEPS_A_DECADE: u64 = 350;

/// Response times in 350 steps a decade, each rounded down by at most 1%, with their counts. The ten steps a decade of results
/// begin with one of these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StepCounts(
    /// The numbers of steps and their counts, in ascending order.
    Vec<(u64, u64)>,
);

impl StepCounts {
    /// Returns the steps of a histogram.
    pub fn of(latency: &Latency) -> Self {
        let mut steps = Self(latency.counts().map(|(us, n)| (step_of(us), n)).collect());
        steps.merge_equal();
        steps
    }

    /// Adds the counts of another interval.
    pub fn add(&mut self, other: &Self) {
        self.0.extend(&other.0);
        self.0.sort_unstable();
        self.merge_equal();
    }

    fn merge_equal(&mut self) {
        self.0.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
    }

    /// Returns the least response time in microseconds of each step, and its count.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|&(step, n)| (least_of(step), n))
    }

    /// Returns the quantile of the given share in microseconds, `None` without responses.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let total: u64 = self.0.iter().map(|(_, n)| n).sum();
        let rank = ((total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        self.iter().find_map(|(us, n)| {
            seen += n;
            (seen >= rank).then_some(us)
        })
    }

    /// Appends the encoding, in variable-length integers: for each run of consecutive steps twice its distance from the step
    /// before, plus one and followed by its length where it has more than one step; then the counts. The encoding of a sum is
    /// never longer than those of its parts together.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let mut before = 0;
        for run in self.0.chunk_by(|(step, _), (next, _)| *next == step + 1) {
            // A run is never empty.
            let (first, length) = (run[0].0, run.len() as u64);
            encode_integer(2 * (first - before) + u64::from(length > 1), bytes);
            if length > 1 {
                encode_integer(length, bytes);
            }
            run.iter().for_each(|&(_, n)| encode_integer(n, bytes));
            before = first + length - 1;
        }
    }

    /// Returns the counts that [`Self::encode`] has written.
    pub fn decode(mut bytes: &[u8]) -> Self {
        let mut steps = Vec::new();
        let mut before = 0;
        while !bytes.is_empty() {
            let head = decode_integer(&mut bytes);
            let length = if head % 2 == 1 { decode_integer(&mut bytes) } else { 1 };
            let first = before + head / 2;
            steps.extend((first..first + length).map(|step| (step, decode_integer(&mut bytes))));
            before = first + length - 1;
        }
        Self(steps)
    }
}

/// Returns the number of the step of a response time in microseconds.
fn step_of(us: u64) -> u64 {
    let (mut decade, mut digits) = (0, us);
    while digits >= 1000 {
        digits /= 10;
        decade += 1;
    }
    let within = match digits {
        0..FIRST_DECADE => return digits,
        FIRST_DECADE..200 => digits - FIRST_DECADE,
        200..500 => 100 + (digits - 200) / 2,
        _ => 250 + (digits - 500) / 5,
    };
    FIRST_DECADE + decade * STEPS_A_DECADE + within
}

/// Returns the least response time in microseconds of a step.
fn least_of(step: u64) -> u64 {
    let Some(above) = step.checked_sub(FIRST_DECADE) else { return step };
    let digits = match above % STEPS_A_DECADE {
        within @ 0..100 => FIRST_DECADE + within,
        within @ 100..250 => 200 + 2 * (within - 100),
        within => 500 + 5 * (within - 250),
    };
    // Step numbers come from `step_of`, whose decades are those of 64 bits.
    digits * 10u64.pow((above / STEPS_A_DECADE) as u32)
}

/// Appends an integer in groups of seven bits, the lowest first, of which all but the last have the highest bit set (LEB128).
fn encode_integer(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes an integer off the beginning of `bytes`.
fn decode_integer(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let Some((&byte, rest)) = bytes.split_first() else { break };
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn steps_are_at_most_a_hundredth_of_the_time() {
        let mut all = Latency::default();
        for us in (1..5000).chain((5000..4_000_000).step_by(997)) {
            let mut latency = Latency::default();
            latency.record(us * 1000);
            all.record(us * 1000);
            let kept = latency.counts().next().map_or(0, |(us, _)| us);
            let [(least, 1)] = StepCounts::of(&latency).iter().collect::<Vec<_>>()[..] else {
                panic!("one response has one step")
            };
            assert!(least <= kept && (kept - least) * 100 <= kept, "{us} us: {least}");
        }
        let steps: Vec<_> = StepCounts::of(&all).iter().collect();
        assert!(steps.is_sorted() && steps.len() < 7 * 350, "{}", steps.len());
        for us in [
            0,
            1,
            99,
            100,
            199,
            200,
            498,
            500,
            995,
            1000,
            1010,
            9950,
            500_000,
            u64::MAX / 10_u64.pow(17) * 10_u64.pow(17),
        ] {
            assert_eq!(least_of(step_of(us)), us, "the first of its step is its own");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_counts() {
        assert_eq!(StepCounts::default().quantile(0.5), None);
        let mut latency = Latency::default();
        (1..=100).for_each(|us| latency.record(us * 1000));
        let steps = StepCounts::of(&latency);
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(|share| steps.quantile(share)), [Some(1), Some(50), Some(99), Some(100)]);
    }

    /// Returns times that are far apart, and times that fill steps in a row.
    fn nanoseconds() -> impl Strategy<Value = u64> {
        prop_oneof![1u64..4_000_000_000, 1_000_000u64..3_000_000]
    }

    proptest! {
        #[test]
        fn sums_survive_their_encoding_and_need_no_more_bytes_than_their_parts(
            one in vec((nanoseconds(), 1u64..1 << 40), 0..200),
            other in vec((nanoseconds(), 1u64..1 << 40), 0..200),
        ) {
            let steps = |counts: &[(u64, u64)]| {
                let mut latency = Latency::default();
                counts.iter().for_each(|&(us, n)| latency.record_many(us, n));
                StepCounts::of(&latency)
            };
            let encoded = |steps: &StepCounts| {
                let mut bytes = Vec::new();
                steps.encode(&mut bytes);
                bytes
            };
            let (first, second) = (steps(&one), steps(&other));
            let mut sum = first.clone();
            sum.add(&second);
            prop_assert_eq!(&sum, &steps(&[one, other].concat()));
            prop_assert_eq!(&StepCounts::decode(&encoded(&sum)), &sum);
            prop_assert!(encoded(&sum).len() <= encoded(&first).len() + encoded(&second).len());
        }
    }
}
