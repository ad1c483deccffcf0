//! A lookup of rows of which a cache has some and the database the rest.

use crate::model::World;

/// The ids of a lookup, and the rows that the cache has.
pub(super) struct RowLookup<'i> {
    ids: &'i [i32],
    found: Vec<Option<World>>,
}

impl<'i> RowLookup<'i> {
    pub(super) fn new(ids: &'i [i32], found: Vec<Option<World>>) -> Self {
        Self { ids, found }
    }

    /// Returns the ids that are missing, sorted and without duplicates.
    pub(super) fn missing(&self) -> Vec<i32> {
        let pairs = self.ids.iter().zip(&self.found);
        let mut missing: Vec<_> = pairs.filter(|(_, found)| found.is_none()).map(|(id, _)| *id).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// Returns all rows in the order of the ids, the missing ones from `read`, which is sorted by id.
    pub(super) fn all(self, read: &[World]) -> Vec<World> {
        let from_read = |id: i32| read.binary_search_by_key(&id, |world| world.id).ok().map(|index| read[index]);
        let rows = self.ids.iter().zip(self.found).map(|(id, found)| found.or_else(|| from_read(*id)));
        rows.map(|row| row.expect("a read of the missing rows returns all of them or an error")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(id: i32) -> World {
        World { id, random_number: id * 10 }
    }

    #[test]
    fn missing_rows_are_read_once_and_returned_in_order() {
        let lookup = RowLookup::new(&[5, 2, 9, 5, 1], vec![None, Some(world(2)), None, None, None]);
        assert_eq!(lookup.missing(), [1, 5, 9]);
        let read = [1, 5, 9].map(world);
        assert_eq!(lookup.all(&read), [5, 2, 9, 5, 1].map(world));
    }
}
