//! The values of one field over all records, in one piece of memory.

use super::RequestError;
use super::escape::Escape;

/// One field of all records.
#[derive(Debug, Clone, Default)]
pub(super) struct Column {
    bytes: Vec<u8>,
    /// The end of each record's value in `bytes`.
    ends: Vec<usize>,
    longest: usize,
}

impl Column {
    /// Adds the next record's value.
    pub fn push(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
        self.longest = self.longest.max(value.len());
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of the longest value.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The value in a record of this number, which there must be.
    #[inline]
    pub fn get(&self, record: usize) -> &[u8] {
        let start = if record == 0 { 0 } else { self.ends[record - 1] };
        &self.bytes[start..self.ends[record]]
    }

    /// Returns the values, escaped for where they stand in a request.
    pub fn escaped(&self, name: &str, escape: Escape) -> Result<Self, RequestError> {
        let mut escaped = Self::default();
        for record in 0..self.len() {
            let bad =
                |why: &str| RequestError::Field { name: name.to_owned(), record: record + 1, why: why.to_owned() };
            let text = std::str::from_utf8(self.get(record)).map_err(|_| bad("not UTF-8 text"))?;
            escaped.push(&escape.write(text).map_err(bad)?);
        }
        Ok(escaped)
    }
}
