//! Sets of tags: each distinct set exists once on a thread, with the selectors that it matches, so that a sample costs no
//! comparison of texts.

use super::plan::MetricsPlan;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// The number of sets that are kept for reuse. Where tags have more values than this, as with a URL for each request, memory
/// does not grow with the run: all sets are forgotten, and those in use are made again.
const MAX_KEPT: usize = 1 << 16;

/// The tags of a sample, and its metadata. Copies are cheap.
#[derive(Debug, Clone)]
pub struct TagSet {
    set: Arc<Pairs>,
    metadata: Option<Arc<Vec<(String, String)>>>,
}

#[derive(Debug, Default)]
struct Pairs {
    /// Names and values, sorted by name.
    pairs: Vec<(Arc<str>, Arc<str>)>,
    /// The numbers of the selectors that the tags match, sorted.
    matches: Vec<u32>,
}

impl Default for TagSet {
    fn default() -> Self {
        Self { set: Arc::new(Pairs::default()), metadata: None }
    }
}

impl TagSet {
    /// Returns the tags as names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.set.pairs.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Returns the value of a tag.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.shared(name).map(|value| &**value)
    }

    /// Returns the value of a tag as shared memory.
    pub(super) fn shared(&self, name: &str) -> Option<&Arc<str>> {
        let pairs = &self.set.pairs;
        pairs.binary_search_by(|(known, _)| (**known).cmp(name)).ok().map(|at| &pairs[at].1)
    }

    /// Returns the metadata as names and values: what samples carry, but no metric is divided by.
    #[must_use]
    pub fn metadata(&self) -> &[(String, String)] {
        self.metadata.as_deref().map_or(&[], Vec::as_slice)
    }

    /// Returns the set with this metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Option<Arc<Vec<(String, String)>>>) -> Self {
        self.metadata = metadata;
        self
    }

    /// Returns an address that is equal for equal sets of one thread, as long as one of them is in use.
    #[must_use]
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.set) as usize
    }

    /// Returns whether the tags match the selector of a number.
    #[inline]
    pub(super) fn is_matched(&self, selector: u32) -> bool {
        self.set.matches.contains(&selector)
    }
}

/// The sets of tags that a thread has used.
#[derive(Debug, Default)]
pub(super) struct TagSets {
    known: HashMap<u64, Vec<Arc<Pairs>>>,
    count: usize,
    hasher: RandomState,
}

impl TagSets {
    /// Returns the set of these tags, the later value where a name occurs twice.
    pub(super) fn of(&mut self, plan: &MetricsPlan, base: &TagSet, further: &[(&str, &str)]) -> TagSet {
        if further.is_empty() {
            return base.clone();
        }
        let mut tags: Vec<(&str, &str)> = Vec::with_capacity(base.set.pairs.len() + further.len());
        tags.extend(base.iter());
        tags.extend_from_slice(further);
        // The sort is stable, so the last of equal names is the latest.
        tags.sort_by_key(|(name, _)| *name);
        let mut kept: Vec<(&str, &str)> = Vec::with_capacity(tags.len());
        for tag in tags {
            match kept.last_mut() {
                Some(last) if last.0 == tag.0 => *last = tag,
                _ => kept.push(tag),
            }
        }
        let hash = self.hasher.hash_one(&kept);
        let is_equal = |set: &Arc<Pairs>| {
            set.pairs.len() == kept.len() && set.pairs.iter().zip(&kept).all(|(a, b)| *a.0 == *b.0 && *a.1 == *b.1)
        };
        let known = self.known.get(&hash).and_then(|sets| sets.iter().find(|set| is_equal(set)));
        let set = known.cloned().unwrap_or_else(|| self.add(hash, plan, base, &kept));
        TagSet { set, metadata: base.metadata.clone() }
    }

    fn add(&mut self, hash: u64, plan: &MetricsPlan, base: &TagSet, tags: &[(&str, &str)]) -> Arc<Pairs> {
        if self.count >= MAX_KEPT {
            self.known.clear();
            self.count = 0;
        }
        let shared = |text: &str, known: Option<&Arc<str>>| match known {
            Some(known) if **known == *text => known.clone(),
            _ => Arc::from(text),
        };
        let pairs = tags.iter().map(|(name, value)| (shared(name, None), shared(value, base.shared(name)))).collect();
        let set = Arc::new(Pairs { pairs, matches: plan.matches(tags) });
        self.known.entry(hash).or_default().push(set.clone());
        self.count += 1;
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tags_are_one_set_and_later_values_win() {
        let (plan, mut sets) = (MetricsPlan::default(), TagSets::default());
        let base = sets.of(&plan, &TagSet::default(), &[("group", ""), ("a", "1")]);
        let first = sets.of(&plan, &base, &[("z", "3"), ("a", "2")]);
        let second = sets.of(&plan, &base, &[("a", "x"), ("a", "2"), ("z", "3")]);
        assert_eq!(first.address(), second.address());
        assert_eq!(first.iter().collect::<Vec<_>>(), [("a", "2"), ("group", ""), ("z", "3")]);
        assert_eq!((first.get("a"), first.get("b")), (Some("2"), None));
        assert_ne!(base.address(), first.address());
    }

    #[test]
    fn memory_is_bounded_where_every_set_is_new() {
        let (plan, mut sets) = (MetricsPlan::default(), TagSets::default());
        for number in 0..MAX_KEPT + 10 {
            sets.of(&plan, &TagSet::default(), &[("url", &number.to_string())]);
        }
        assert_eq!((sets.count, sets.known.len()), (10, 10));
    }
}
