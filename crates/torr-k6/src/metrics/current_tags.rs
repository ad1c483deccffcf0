//! The tags that a virtual user's samples carry now: those of the run and the scenario, the group's path, and what the
//! script has set.

use super::recorder::Recorder;
use super::tag_set::TagSet;
use crate::options::{SystemTag, SystemTags};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tags and metadata of a virtual user.
#[derive(Debug, Default)]
pub struct CurrentTags {
    system: SystemTags,
    tags: BTreeMap<String, String>,
    metadata: BTreeMap<String, String>,
    group: String,
    /// Whether the tag of the group is its path: a script may have given it another value.
    is_group_tagged: bool,
    /// The set of all tags, until one of them changes.
    set: Option<TagSet>,
}

impl CurrentTags {
    /// Returns the tags of a virtual user without a scenario: those of the run.
    #[must_use]
    pub fn new(system: SystemTags, run: &BTreeMap<String, String>) -> Self {
        let mut tags = Self { system, tags: run.clone(), ..Self::default() };
        tags.set_group("");
        tags
    }

    /// Begins a scenario: its tags replace those of the run, and what the script had set in another scenario is gone.
    pub fn begin_scenario(&mut self, run: &BTreeMap<String, String>, name: &str, scenario: &BTreeMap<String, String>) {
        self.tags.clone_from(run);
        self.is_group_tagged = false;
        self.tags.extend(scenario.iter().map(|(name, value)| (name.clone(), value.clone())));
        self.metadata.clear();
        if self.system.has(SystemTag::Scenario) {
            self.tags.insert("scenario".to_owned(), name.to_owned());
        }
        self.set_group("");
    }

    /// Notes the numbers of virtual user and iteration, where they are wanted as metadata.
    pub fn begin_iteration(&mut self, vu: u64, iteration: u64) {
        for (tag, value) in [(SystemTag::Vu, vu), (SystemTag::Iter, iteration)] {
            if self.system.has(tag) {
                self.metadata.insert(tag.name().to_owned(), value.to_string());
                self.set = None;
            }
        }
        if !self.group.is_empty() {
            self.set_group("");
        }
    }

    /// Returns the system tags that are on.
    #[must_use]
    pub fn system(&self) -> SystemTags {
        self.system
    }

    /// Returns the path of the groups, empty for none.
    #[must_use]
    pub fn group(&self) -> &str {
        &self.group
    }

    /// Sets the path of the groups.
    pub fn set_group(&mut self, path: &str) {
        if self.is_group_tagged && self.group == path {
            return;
        }
        self.is_group_tagged = true;
        path.clone_into(&mut self.group);
        if self.system.has(SystemTag::Group) {
            self.tags.insert("group".to_owned(), path.to_owned());
        }
        self.set = None;
    }

    /// Returns the tags with their values.
    #[must_use]
    pub fn tags(&self) -> &BTreeMap<String, String> {
        &self.tags
    }

    /// Sets a tag, or removes it.
    pub fn set_tag(&mut self, name: &str, value: Option<String>) {
        self.is_group_tagged &= name != "group";
        match value {
            Some(value) => self.tags.insert(name.to_owned(), value),
            None => self.tags.remove(name),
        };
        self.set = None;
    }

    /// Returns the metadata with its values.
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Sets an entry of the metadata, or removes it.
    pub fn set_metadata(&mut self, name: &str, value: Option<String>) {
        match value {
            Some(value) => self.metadata.insert(name.to_owned(), value),
            None => self.metadata.remove(name),
        };
        self.set = None;
    }

    /// Returns the set of all tags.
    pub fn set(&mut self, recorder: &mut Recorder) -> TagSet {
        if let Some(set) = &self.set {
            return set.clone();
        }
        let tags: Vec<_> = self.tags.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let set = recorder.tag_set(&TagSet::default(), &tags);
        let metadata: Vec<_> = self.metadata.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let set = set.with_metadata((!metadata.is_empty()).then(|| Arc::new(metadata)));
        self.set = Some(set.clone());
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(tags: &[(&str, &str)]) -> BTreeMap<String, String> {
        tags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn scenarios_and_scripts_replace_tags_of_the_run() {
        let mut recorder = Recorder::default();
        let run = map(&[("a", "run"), ("b", "run")]);
        let mut tags = CurrentTags::new(SystemTags::default(), &run);
        assert_eq!(tags.tags(), &map(&[("a", "run"), ("b", "run"), ("group", "")]));
        tags.begin_scenario(&run, "s", &map(&[("a", "scenario")]));
        tags.set_group("::x");
        tags.set_tag("c", Some("script".into()));
        let set = tags.set(&mut recorder);
        let expected = [("a", "scenario"), ("b", "run"), ("c", "script"), ("group", "::x"), ("scenario", "s")];
        assert_eq!(set.iter().collect::<Vec<_>>(), expected);
        assert_eq!(set.address(), tags.set(&mut recorder).address());
        tags.begin_scenario(&run, "t", &BTreeMap::new());
        assert_eq!(tags.tags(), &map(&[("a", "run"), ("b", "run"), ("group", ""), ("scenario", "t")]));
    }

    #[test]
    fn the_path_of_the_groups_takes_the_place_of_what_a_script_has_set() {
        let mut recorder = Recorder::default();
        let mut tags = CurrentTags::new(SystemTags::default(), &BTreeMap::new());
        tags.set_group("::x");
        let grouped = tags.set(&mut recorder);
        tags.set_group("::x");
        assert_eq!(tags.set(&mut recorder).address(), grouped.address());
        for own in [Some("own".to_owned()), None] {
            tags.set_tag("group", own.clone());
            assert_eq!(tags.set(&mut recorder).get("group"), own.as_deref());
            tags.set_group("::x");
            assert_eq!(tags.set(&mut recorder).address(), grouped.address());
        }
    }

    #[test]
    fn system_tags_that_are_off_are_left_out_and_numbers_are_metadata() {
        let mut recorder = Recorder::default();
        let system = SystemTags::of(&[SystemTag::Vu, SystemTag::Iter]);
        let mut tags = CurrentTags::new(system, &BTreeMap::new());
        tags.begin_scenario(&BTreeMap::new(), "s", &BTreeMap::new());
        tags.begin_iteration(3, 4);
        let set = tags.set(&mut recorder);
        assert_eq!(set.iter().count(), 0);
        assert_eq!(set.metadata(), [("iter".to_owned(), "4".to_owned()), ("vu".to_owned(), "3".to_owned())]);
    }
}
