//! The fields that have been given an index on the way (RFC 7541, section 2.3.2), on the decoding side.

use super::statics::STATICS;
use super::{HpackError, OVERHEAD, TABLE};
use std::collections::VecDeque;
use std::ops::Range;

/// The bytes of all fields lie one after another, and those of a field that is being decoded behind them.
#[derive(Debug)]
pub struct Table {
    pub bytes: Vec<u8>,
    /// The number of bytes removed from the front of `bytes`.
    removed: usize,
    /// The oldest first.
    entries: VecDeque<Entry>,
    size: usize,
    most: usize,
}

/// The position of a field, counted from the first byte that was ever appended.
#[derive(Debug, Clone, Copy)]
struct Entry {
    start: usize,
    name: u16,
    value: u16,
}

impl Entry {
    fn len(self) -> usize {
        usize::from(self.name) + usize::from(self.value)
    }
}

impl Default for Table {
    fn default() -> Self {
        Self { bytes: Vec::new(), removed: 0, entries: VecDeque::new(), size: 0, most: TABLE }
    }
}

impl Table {
    /// Empties the table, and restores its size to that of a new connection.
    pub fn reset(&mut self) {
        self.clear();
        self.most = TABLE;
    }

    fn clear(&mut self) {
        self.entries.clear();
        (self.size, self.removed) = (0, 0);
        self.bytes.clear();
        self.bytes.shrink_to(2 * TABLE);
    }

    /// Name and value of an index.
    #[inline]
    pub fn field(&self, index: usize) -> Result<(&[u8], &[u8]), HpackError> {
        if let Some((name, value)) = index.checked_sub(1).and_then(|at| STATICS.get(at)) {
            return Ok((name.as_bytes(), value.as_bytes()));
        }
        let entry = self.entry(index)?;
        let start = entry.start - self.removed;
        Ok(self.bytes[start..start + entry.len()].split_at(entry.name.into()))
    }

    /// Appends the name of an index to the bytes.
    #[inline]
    pub fn copy_name(&mut self, index: usize) -> Result<(), HpackError> {
        if let Some((name, _)) = index.checked_sub(1).and_then(|at| STATICS.get(at)) {
            self.bytes.extend_from_slice(name.as_bytes());
            return Ok(());
        }
        let entry = self.entry(index)?;
        let start = entry.start - self.removed;
        self.bytes.extend_from_within(start..start + usize::from(entry.name));
        Ok(())
    }

    #[inline]
    fn entry(&self, index: usize) -> Result<Entry, HpackError> {
        let back = index.checked_sub(STATICS.len()).filter(|back| (1..=self.entries.len()).contains(back));
        let back = back.ok_or(HpackError::Index)?;
        Ok(self.entries[self.entries.len() - back])
    }

    /// Gives the field at the end of the bytes an index, and takes those away for which there is no room any more.
    #[inline]
    pub fn insert(&mut self, field: Range<usize>, name: usize) {
        let size = field.len() + OVERHEAD;
        if size > self.most {
            return self.clear();
        }
        self.make_room(self.most - size);
        // What is no larger than the table fits 16 bits.
        let (start, value) = (self.removed + field.start, (field.len() - name) as u16);
        self.entries.push_back(Entry { start, name: name as u16, value });
        self.size += size;
        if self.bytes.len() > TABLE + TABLE / 2 {
            self.remove_dead();
        }
    }

    fn make_room(&mut self, size: usize) {
        while self.size > size {
            let Some(entry) = self.entries.pop_front() else { return };
            self.size -= entry.len() + OVERHEAD;
        }
    }

    /// Removes the bytes in front of the first field.
    fn remove_dead(&mut self) {
        let Some(first) = self.entries.front() else { return };
        self.bytes.drain(..first.start - self.removed);
        self.removed = first.start;
    }

    /// Lets it hold so much and no more.
    ///
    /// # Errors
    /// [`HpackError::Resize`] if that is more than was agreed.
    pub fn resize(&mut self, most: usize) -> Result<(), HpackError> {
        if most > TABLE {
            return Err(HpackError::Resize);
        }
        self.most = most;
        self.make_room(most);
        if self.entries.is_empty() {
            self.clear();
        }
        Ok(())
    }
}
