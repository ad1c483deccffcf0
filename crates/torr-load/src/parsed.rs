//! A value with the text that it was read from.

use std::fmt;
use std::ops::Deref;

/// A value with the text that it was read from, which is how it is printed and sent. Two are equal if their texts are.
#[derive(Clone)]
pub struct Parsed<T> {
    text: String,
    value: T,
}

impl<T> Parsed<T> {
    /// Reads a text.
    ///
    /// # Errors
    /// That of `parse`.
    pub fn read(text: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<Self, String> {
        parse(text).map(|value| Self { text: text.to_owned(), value })
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl<T> Deref for Parsed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> PartialEq for Parsed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl<T> fmt::Debug for Parsed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}
