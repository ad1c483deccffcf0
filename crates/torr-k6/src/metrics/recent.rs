//! What was found lately: most samples are tagged as one before was, and find its tags without work on texts.

use super::tag_set::TagSet;

/// The number of places.
const PLACES: usize = 64;

/// What was found lately, each with what it was found by. What comes later to a place replaces what was there.
#[derive(Debug)]
pub(super) struct Recent<K, V>(Vec<Option<(K, V)>>);

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self((0..PLACES).map(|_| None).collect())
    }
}

impl<K, V> Recent<K, V> {
    /// Returns what was found by a key, whose place a number says.
    #[inline]
    pub fn get(&self, place: usize, is_key: impl FnOnce(&K) -> bool) -> Option<&V> {
        self.0[place % PLACES].as_ref().filter(|(key, _)| is_key(key)).map(|(_, value)| value)
    }

    /// Keeps what was found by a key.
    pub fn put(&mut self, place: usize, key: K, value: V) {
        self.0[place % PLACES] = Some((key, value));
    }
}

/// Returns a number for a text of samples with these tags. Texts that differ in the middle only may have the same one.
#[inline]
pub(super) fn place(base: &TagSet, text: &str) -> usize {
    let bytes = text.as_bytes();
    let ends = bytes.iter().take(4).chain(bytes.iter().rev().take(8));
    let text = ends.fold(bytes.len(), |number, byte| number.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    text.wrapping_add(base.address() >> 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_the_same_place_replaces_what_was_there() {
        let mut recent = Recent::default();
        recent.put(1, "a", 1);
        assert_eq!(recent.get(1, |key| *key == "a"), Some(&1));
        assert_eq!(recent.get(1, |key| *key == "b"), None);
        recent.put(1 + PLACES, "b", 2);
        assert_eq!((recent.get(1, |key| *key == "a"), recent.get(1, |key| *key == "b")), (None, Some(&2)));
    }

    #[test]
    fn texts_have_places_of_their_own() {
        let base = TagSet::default();
        assert_eq!(place(&base, "status is 200"), place(&base, "status is 200"));
        assert_ne!(place(&base, "status is 200"), place(&base, "status is 201"));
        assert_ne!(place(&base, ""), place(&base, "a"));
    }
}
