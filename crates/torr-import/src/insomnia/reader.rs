//! What reading a collection has made so far.

use super::item::{Item, Level};
use super::scope::Scope;
use crate::node::LARGEST;
use crate::parts::variable_name;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use torr_session::hurl::ast::{Capture, EntryOption, Piece};

/// The number of requests that tags may need one after the other.
const DEEPEST: usize = 16;

/// A request, and the folders around it, from outside in.
pub(super) type Placed<'c> = (Vec<&'c Level>, &'c Item);

/// Adds the entry of a request.
pub(super) type Add<'c> = fn(&mut Reader<'c>, &[&'c Level], &'c Item);

/// Reads a collection.
pub(super) struct Reader<'c> {
    pub(super) inner: crate::reader::Reader,
    pub(super) scope: Scope<'c>,
    /// All requests by their ids, and how one becomes an entry: a tag may need the response to one that comes later.
    pub(super) items: HashMap<&'c str, Placed<'c>>,
    pub(super) add: Add<'c>,
    /// The ids of the requests whose entries are being made.
    pub(super) open: Vec<&'c str>,
    /// The numbers of entries by the ids of their requests.
    pub(super) entries: BTreeMap<String, usize>,
    /// What the entries of a request capture for tags, by its id: it may have several.
    pub(super) captures: BTreeMap<String, Vec<Capture>>,
    /// Definitions for the next entry, of the scripts before requests that become none.
    pub(super) pending: Vec<EntryOption>,
    /// Tokens that entries capture: the level whose authentication it is, and the variable.
    pub(super) tokens: Vec<(&'c Level, String)>,
    /// Variables that stand for tags, by the tags.
    pub(super) tags: BTreeMap<String, String>,
    /// The names of the request that is read and of the folders around it, from inside out.
    pub(super) around: Vec<String>,
    /// Variables of the URL whose values need no encoding.
    pub(super) plain: BTreeSet<String>,
    /// The bytes that values of variables may still take in all requests together.
    pub(super) left: usize,
}

impl<'c> Reader<'c> {
    /// Returns a reader that has read nothing yet.
    pub(super) fn new(inner: crate::reader::Reader, scope: Scope<'c>, items: &[Placed<'c>], add: Add<'c>) -> Self {
        let by_id = items.iter().rev().map(|placed| (placed.1.id.as_str(), placed.clone()));
        Self {
            inner,
            scope,
            items: by_id.filter(|(id, _)| !id.is_empty()).collect(),
            add,
            open: Vec::new(),
            entries: BTreeMap::new(),
            captures: BTreeMap::new(),
            pending: Vec::new(),
            tokens: Vec::new(),
            tags: BTreeMap::new(),
            around: Vec::new(),
            plain: BTreeSet::new(),
            left: LARGEST,
        }
    }

    /// Makes the entry of a request now, whatever entry is being made; `false` for one that is being made already.
    pub(super) fn add_first(&mut self, id: &str) -> bool {
        let Some((levels, item)) =
            self.items.get(id).filter(|_| !self.open.contains(&id) && self.open.len() < DEEPEST).cloned()
        else {
            return false;
        };
        let (around, plain) = (std::mem::take(&mut self.around), std::mem::take(&mut self.plain));
        let folders = self.scope.enter(&levels);
        (self.add)(self, &levels, item);
        self.scope.leave(folders);
        (self.around, self.plain) = (around, plain);
        self.entries.contains_key(id)
    }

    /// Returns the name of a variable that stands for what a tag gives: the same for the same tag, and that of nothing else.
    pub(super) fn name_of(&mut self, tag: &str, base: &str) -> String {
        if let Some(known) = self.tags.get(tag) {
            return known.clone();
        }
        let name = variable_name(base, |name| self.scope.has(name) || self.inner.secrets.has(name));
        let variable = self.inner.variables.name(&name);
        self.inner.secrets.reserve(&name);
        self.inner.secrets.reserve(&variable);
        self.tags.insert(tag.to_owned(), name.clone());
        name
    }

    /// Returns a variable that stands for what a tag gives, with a value if that is known.
    pub(super) fn variable(&mut self, name: &str, value: Option<&str>, is_secret: bool) -> Piece {
        let crate::reader::Reader { variables, secrets, .. } = &mut self.inner;
        if value.is_some() || is_secret {
            variables.know(name, value.unwrap_or_default(), is_secret);
        }
        Piece::Placeholder(variables.used(name, secrets, &mut |_, _, value| value.into()))
    }
}
