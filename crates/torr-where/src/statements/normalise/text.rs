//! Statements without values, which only this folder makes.

use std::sync::Arc;

/// The rules by which SQL is split into tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// PostgreSQL: double quotation marks are names, comments nest.
    Postgres,
    /// MySQL and MariaDB: double quotation marks are literals, a backslash escapes.
    MySql,
}

/// A statement without values. Only this folder makes one, so that no value leaves it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Text(Arc<str>);

impl Text {
    pub(super) fn new(text: String) -> Self {
        Self(text.into())
    }

    /// Returns the placeholder of a statement whose text was not seen: it was prepared before the capture began, or it is too
    /// unusual to be read.
    pub(crate) fn unseen() -> Self {
        Self::new("?".into())
    }

    /// Returns whether the statement has no text.
    pub(crate) fn is_unseen(&self) -> bool {
        &*self.0 == "?"
    }

    /// Returns the text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether both are the same but for quotation marks of names, blanks and case.
    pub(crate) fn is_like(&self, other: &str) -> bool {
        let plain = |text: &str| {
            let kept = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '`' | '"'));
            kept.flat_map(char::to_lowercase).collect::<String>()
        };
        plain(&self.0) == plain(other)
    }

    /// Returns whether the text is the other one, or the other one with more words behind it.
    pub(crate) fn begins_with(&self, other: &Self) -> bool {
        self.0.strip_prefix(&*other.0).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    }
}
