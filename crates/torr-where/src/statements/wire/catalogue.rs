//! The texts of all statements of a capture, each with a number.

use super::event::StatementId;
use crate::statements::normalise::{Dialect, Text, redis, sql};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// The most statements that are distinguished. Further ones have no text.
const TEXTS: usize = 2000;

/// The most original texts whose numbers are remembered, so that they need not be normalised again.
const REMEMBERED: usize = 10_000;

/// The texts of statements.
#[derive(Debug)]
pub(crate) struct Catalogue {
    texts: Vec<Text>,
    numbers: HashMap<Text, StatementId>,
    /// Numbers by a keyed hash of the original text, which has values and is not kept.
    remembered: HashMap<u64, Arc<[StatementId]>>,
    hasher: RandomState,
}

impl Default for Catalogue {
    fn default() -> Self {
        Self {
            texts: vec![Text::unseen()],
            numbers: HashMap::from([(Text::unseen(), StatementId::UNSEEN)]),
            remembered: HashMap::new(),
            hasher: RandomState::new(),
        }
    }
}

impl Catalogue {
    /// Returns the text of a statement.
    pub(crate) fn text(&self, statement: StatementId) -> &Text {
        &self.texts[statement.index()]
    }

    fn number(&mut self, text: Text) -> StatementId {
        if let Some(&number) = self.numbers.get(&text) {
            return number;
        }
        let Some(number) = u32::try_from(self.texts.len()).ok().filter(|_| self.texts.len() < TEXTS) else {
            return StatementId::UNSEEN;
        };
        self.texts.push(text.clone());
        self.numbers.insert(text, StatementId(number));
        StatementId(number)
    }

    /// Returns the statements of a text of SQL. There is at least one.
    pub(crate) fn sql(&mut self, text: &[u8], dialect: Dialect, is_cut: bool) -> Arc<[StatementId]> {
        let key = self.hasher.hash_one((text, is_cut));
        if let Some(numbers) = self.remembered.get(&key) {
            return numbers.clone();
        }
        let texts = sql::statements(text, dialect, is_cut);
        let mut numbers: Vec<_> = texts.into_iter().map(|text| self.number(text)).collect();
        if numbers.is_empty() {
            numbers.push(StatementId::UNSEEN);
        }
        let numbers: Arc<[StatementId]> = numbers.into();
        if self.remembered.len() >= REMEMBERED {
            self.remembered.clear();
        }
        self.remembered.insert(key, numbers.clone());
        numbers
    }

    /// Returns the statement of a Redis command, of which the first arguments are given.
    pub(crate) fn command(&mut self, arguments: &[&[u8]], has_more: bool) -> StatementId {
        self.number(redis::command(arguments, has_more))
    }
}
