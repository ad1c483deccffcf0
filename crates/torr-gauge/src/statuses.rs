//! Counts of responses by status code.

use crate::GrpcStatus;
use crate::bounds::{Bounded, OutOfBounds, at_most};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// The number of responses by status code.
#[derive(Debug, Clone)]
pub struct Statuses(Box<[u64; 1000]>);

impl Default for Statuses {
    fn default() -> Self {
        Self(Box::new([0; 1000]))
    }
}

impl Statuses {
    /// Counts a response.
    #[inline]
    pub fn count(&mut self, status: u16) {
        self.0[usize::from(status).min(999)] += 1;
    }

    /// Returns the codes that occurred with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> {
        (0..).zip(self.0.iter().copied()).filter(|&(_, count)| count > 0)
    }

    /// Returns the responses by status of HTTP, and the calls of gRPC by the name of their status: all of them if all are such, otherwise
    /// those whose status is not OK.
    pub(crate) fn by_name(&self, is_grpc: bool) -> (BTreeMap<u16, u64>, BTreeMap<String, u64>) {
        let (mut http, mut grpc) = (BTreeMap::new(), BTreeMap::new());
        for (number, count) in self.iter() {
            *http.entry(GrpcStatus::http(number)).or_default() += count;
            // Without that, the other responses with this status are among them.
            let is_ok = is_grpc && number == GrpcStatus::OK.counted_as();
            if let Some(status) = if is_ok { Some(GrpcStatus::OK) } else { GrpcStatus::of_count(number) } {
                grpc.insert(status.name().to_owned(), count);
            }
        }
        (http, grpc)
    }

    /// Returns the number of responses with a status of 400 or more.
    pub fn errors(&self) -> u64 {
        self.0[400..].iter().sum()
    }

    /// Returns the number of all responses.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Removes all counts, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.0.fill(0);
    }

    /// Adds the responses of another thread or interval.
    pub(crate) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0.iter()).for_each(|(mine, theirs)| *mine += theirs);
    }
}

impl Bounded for Statuses {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        at_most("status", self.0.iter().copied(), most)
    }
}

impl Serialize for Statuses {
    /// Serialises the counts as pairs of a code and its count.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Statuses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut all = Self::default();
        for (code, count) in Vec::<(u16, u64)>::deserialize(deserializer)? {
            let all_of_code = &mut all.0[usize::from(code).min(999)];
            *all_of_code = all_of_code.saturating_add(count);
        }
        Ok(all)
    }
}
