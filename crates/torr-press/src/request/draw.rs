//! The values of placeholders, for one thread.

use super::column::Column;
use super::numbers::Block;
use fastrand::Rng;

/// Whether values come one after another or at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// One after another, and again from the first after the last.
    #[default]
    Sequence,
    /// Any at any time.
    Random,
}

/// The values that are drawn once for all placeholders of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Needs {
    pub number: bool,
    pub record: bool,
}

/// The values of one thread.
#[derive(Debug)]
pub(super) struct Draw<'r> {
    pub rng: Rng,
    pub columns: &'r [Column],
    pub records: usize,
    pub record_order: Order,
    pub numbers: Block<'r>,
    pub record_numbers: Block<'r>,
    /// The number of the request that is being written.
    pub number: u64,
    /// The record that it takes its fields from.
    pub record: usize,
}

impl Draw<'_> {
    /// Begins another request.
    #[inline]
    pub fn begin(&mut self, needs: Needs) {
        if needs.number {
            self.number = self.numbers.take() + 1;
        }
        if needs.record {
            self.record = match self.record_order {
                Order::Random => self.rng.usize(..self.records),
                Order::Sequence => (self.record_numbers.take() % self.records as u64) as usize,
            };
        }
    }
}

#[inline]
pub(super) fn decimal(out: &mut Vec<u8>, number: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
