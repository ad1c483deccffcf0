//! A place in the source text that moves forwards.

use super::{ParseError, Position};

/// Source text with a place in it.
#[derive(Clone)]
pub(super) struct Cursor<'s> {
    source: &'s str,
    at: usize,
    position: Position,
}

impl<'s> Cursor<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        // Editors of some systems begin a file with a byte order mark.
        let at = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { source, at, position: Position { line: 1, column: 1 } }
    }

    /// Returns the text that is left.
    pub(super) fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.source.len()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.skip(next.len_utf8());
        Some(next)
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Moves behind the text, if the text stands here.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        if found {
            self.skip(text.len());
        }
        found
    }

    /// Moves behind a word, if the word stands here and ends here.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
        self.rest().strip_prefix(word).is_some_and(ends) && self.eat(word)
    }

    pub(super) fn eat_while(&mut self, wanted: impl Fn(char) -> bool) -> &'s str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.skip(end);
        &rest[..end]
    }

    /// Moves by a number of bytes that end between two characters.
    pub(super) fn skip(&mut self, bytes: usize) {
        let passed = &self.rest()[..bytes];
        let last_line = passed.rfind('\n').map(|newline| &passed[newline + 1..]);
        if last_line.is_some() {
            self.position.line += passed.matches('\n').count();
            self.position.column = 1;
        }
        self.position.column += last_line.unwrap_or(passed).chars().count();
        self.at += bytes;
    }

    /// Moves behind spaces and tabs, and returns whether there were any.
    pub(super) fn spaces(&mut self) -> bool {
        !self.eat_while(|c| c == ' ' || c == '\t').is_empty()
    }

    /// Moves behind the end of a line, if one stands here.
    pub(super) fn newline(&mut self) -> bool {
        self.eat("\n") || self.eat("\r\n")
    }

    /// Moves behind spaces, a comment and the end of the line.
    ///
    /// # Errors
    /// If anything else stands before the line's end.
    pub(super) fn end_of_line(&mut self) -> Result<(), ParseError> {
        self.spaces();
        if self.starts_with("#") {
            self.eat_while(|c| c != '\n');
        }
        if self.newline() || self.is_at_end() { Ok(()) } else { Err(self.error("expected the end of the line")) }
    }

    /// Moves to the next line that is neither empty nor a comment, behind its leading spaces.
    pub(super) fn skip_empty_lines(&mut self) {
        loop {
            let mut ahead = self.clone();
            ahead.spaces();
            let empty = matches!(ahead.peek(), Some('#' | '\n')) || ahead.starts_with("\r\n");
            if !empty || ahead.end_of_line().is_err() {
                self.spaces();
                return;
            }
            *self = ahead;
        }
    }

    pub(super) fn position(&self) -> Position {
        self.position
    }

    /// Returns an error at this place.
    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError { at: self.position(), message: message.into() }
    }
}
