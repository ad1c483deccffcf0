//! What one thread fills placeholders with.

use super::column::Column;
use super::numbers::Block;
use super::template::Value;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fastrand::Rng;
use std::time::{SystemTime, UNIX_EPOCH};
use uuid::fmt::Hyphenated;

/// Whether values come one after another or at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// One after another, and again from the first after the last.
    Sequence,
    /// Any at any time.
    Random,
}

/// What requests ask for that is the same all over one request.
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

    /// Appends a value.
    #[inline]
    pub fn write(&mut self, value: &Value, out: &mut Vec<u8>) {
        match value {
            Value::Number => decimal(out, self.number),
            Value::Random { low, high } => decimal(out, self.rng.i64(low..=high)),
            Value::Field(column) => out.extend_from_slice(self.columns[*column].get(self.record)),
            Value::Letters(length) => {
                out.extend((0..*length).map(|_| self.rng.alphanumeric() as u8));
            }
            Value::Uuid => {
                let uuid = uuid::Builder::from_random_bytes(self.rng.u128(..).to_ne_bytes()).into_uuid();
                out.extend_from_slice(uuid.hyphenated().encode_lower(&mut [0; Hyphenated::LENGTH]).as_bytes());
            }
            Value::Now => {
                // A clock before 1970 is no clock.
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                decimal(out, now.as_millis() as u64);
            }
            Value::Base64(template) => {
                let mut plain = Vec::new();
                template.write(self, &mut plain);
                out.extend_from_slice(BASE64_STANDARD.encode(plain).as_bytes());
            }
        }
    }
}

#[inline]
pub(super) fn decimal(out: &mut Vec<u8>, number: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
