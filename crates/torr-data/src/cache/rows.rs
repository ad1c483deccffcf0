//! Rows that were asked for, of which a cache has some and a database the rest.

use crate::model::World;

/// The ids of rows, and those rows that were found already.
pub(super) struct Asked<'i> {
    ids: &'i [i32],
    found: Vec<Option<World>>,
}

impl<'i> Asked<'i> {
    pub(super) fn new(ids: &'i [i32], found: Vec<Option<World>>) -> Self {
        Self { ids, found }
    }

    /// The ids of those that are missing, sorted, none of them twice.
    pub(super) fn missing(&self) -> Vec<i32> {
        let pairs = self.ids.iter().zip(&self.found);
        let mut missing: Vec<_> = pairs.filter(|(_, found)| found.is_none()).map(|(id, _)| *id).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// All of them as they were asked for, the missing ones from `read`, which is sorted by the ids.
    pub(super) fn all(self, read: &[World]) -> Vec<World> {
        let from_read = |id: i32| read.binary_search_by_key(&id, |world| world.id).ok().map(|place| read[place]);
        let rows = self.ids.iter().zip(self.found).map(|(id, found)| found.or_else(|| from_read(*id)));
        rows.map(|row| row.expect("what is missing was read, or there is an error instead")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(id: i32) -> World {
        World { id, random_number: id * 10 }
    }

    #[test]
    fn what_is_missing_is_asked_for_once_and_put_in_its_places() {
        let asked = Asked::new(&[5, 2, 9, 5, 1], vec![None, Some(world(2)), None, None, None]);
        assert_eq!(asked.missing(), [1, 5, 9]);
        let read = [1, 5, 9].map(world);
        assert_eq!(asked.all(&read), [5, 2, 9, 5, 1].map(world));
    }
}
