//! Values of Redis's protocol, cut out of segments of any size. Of texts only the first are kept, and those up to a bound.

use super::super::event::Fault;
use crate::statements::normalise::redis::{ARGUMENT, ARGUMENTS};

/// The most bytes of a line. Redis takes lines of 64 KiB.
const LINE: usize = 64 * 1024;

/// The bytes of a line that are kept: a number, or the words of a command.
const KEPT: usize = 128;

/// The most aggregates within each other.
const DEPTH: usize = 32;

/// The most elements of an aggregate, and bytes of a text (512 MiB).
const ELEMENTS: u64 = 1 << 31;
const TEXT: u64 = 1 << 29;

/// A value at the top level.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Value {
    /// The first byte, which says the type.
    pub(super) kind: u8,
    /// The elements of an aggregate.
    pub(super) elements: u64,
    /// Whether it is the absence of a value.
    pub(super) is_null: bool,
    /// The first texts of an aggregate.
    pub(super) texts: Vec<Vec<u8>>,
    /// The line of a value that is one.
    pub(super) line: Vec<u8>,
}

impl Value {
    /// Returns the number of values in a response.
    pub(super) fn rows(&self) -> u64 {
        match self.kind {
            _ if self.is_null => 0,
            b'*' | b'~' => self.elements,
            b'%' => self.elements / 2,
            b'-' | b'!' => 0,
            _ => 1,
        }
    }
}

/// Cuts one direction of a connection into values.
#[derive(Debug, Default)]
pub(super) struct Values {
    line: Vec<u8>,
    line_length: usize,
    /// The bytes of a text that are to come, with the end of its line.
    text: u64,
    is_kept: bool,
    /// Of each aggregate that is open, the elements to come.
    open: Vec<u64>,
    value: Value,
    is_begun: bool,
}

impl Values {
    /// Returns whether no value is begun.
    pub(super) fn is_at_start(&self) -> bool {
        !self.is_begun && self.line_length == 0
    }

    /// Returns the next whole value, and moves `bytes` behind it. `None` if all bytes were taken.
    pub(super) fn next(&mut self, bytes: &mut &[u8], is_client: bool) -> Result<Option<Value>, Fault> {
        loop {
            if self.text > 0 {
                if !self.take_text(bytes) {
                    return Ok(None);
                }
            } else {
                if !self.take_line(bytes)? {
                    return Ok(None);
                }
                let is_open = self.begin(is_client)?;
                if is_open {
                    continue;
                }
            }
            if self.end_element() {
                self.is_begun = false;
                return Ok(Some(std::mem::take(&mut self.value)));
            }
        }
    }

    /// Passes bytes of a text, and returns whether it is complete.
    fn take_text(&mut self, bytes: &mut &[u8]) -> bool {
        let taken = usize::try_from(self.text).unwrap_or(usize::MAX).min(bytes.len());
        if self.is_kept
            && let Some(text) = self.value.texts.last_mut()
        {
            // The end of its line is no part of it. A longer text is kept with one byte too many, so that it is no name.
            let left = usize::try_from(self.text.saturating_sub(2)).unwrap_or(usize::MAX);
            let kept = taken.min(left).min((ARGUMENT + 1).saturating_sub(text.len()));
            text.extend_from_slice(&bytes[..kept]);
        }
        self.text -= taken as u64;
        *bytes = &bytes[taken..];
        self.text == 0
    }

    /// Passes bytes of a line, and returns whether it is complete.
    fn take_line(&mut self, bytes: &mut &[u8]) -> Result<bool, Fault> {
        if self.line_length == 0 {
            self.line.clear();
        }
        let end = memchr::memchr(b'\n', bytes);
        let taken = end.map_or(bytes.len(), |end| end + 1);
        let kept = taken.min(KEPT - self.line.len().min(KEPT));
        self.line.extend_from_slice(&bytes[..kept]);
        self.line_length += taken;
        *bytes = &bytes[taken..];
        if self.line_length > LINE {
            return Err(Fault::Lost);
        }
        if end.is_some() {
            self.line_length = 0;
        }
        Ok(end.is_some())
    }

    /// Begins what a line announces, and returns whether bytes or elements of it follow.
    fn begin(&mut self, is_client: bool) -> Result<bool, Fault> {
        let line = self.line.trim_ascii_end();
        let (&kind, rest) = match line.split_first() {
            Some(parts) => parts,
            // An empty line of a client means nothing.
            None if is_client && !self.is_begun => (&b' ', line),
            None => return Err(Fault::Lost),
        };
        let is_top = !self.is_begun;
        if is_top {
            self.value = Value { kind, ..Value::default() };
            self.is_begun = true;
        }
        let is_line = is_top && is_client && kind != b'*';
        // Of a client's command, all elements are texts.
        if is_client && !is_top && kind != b'$' {
            return Err(Fault::Lost);
        }
        match kind {
            _ if is_line => self.value.line = line.to_vec(),
            b'$' | b'=' | b'!' => {
                let Some(length) = number(rest, TEXT)? else {
                    self.value.is_null |= is_top;
                    return Ok(false);
                };
                self.is_kept = is_client && self.value.texts.len() < ARGUMENTS;
                if self.is_kept {
                    self.value.texts.push(Vec::new());
                }
                self.text = length + 2;
                return Ok(true);
            }
            b'*' | b'~' | b'>' | b'%' | b'|' => {
                let Some(count) = number(rest, ELEMENTS)? else {
                    self.value.is_null |= is_top;
                    return Ok(false);
                };
                let elements = if kind == b'%' || kind == b'|' { 2 * count } else { count };
                if is_top {
                    self.value.elements = elements;
                }
                // The value that has the attributes follows them.
                let elements = if kind == b'|' { elements + 1 } else { elements };
                if elements > 0 {
                    if self.open.len() >= DEPTH {
                        return Err(Fault::Lost);
                    }
                    self.open.push(elements);
                    return Ok(true);
                }
            }
            b'_' => self.value.is_null |= is_top,
            b'+' | b'-' | b':' | b',' | b'(' | b'#' => {}
            _ => return Err(Fault::Lost),
        }
        Ok(false)
    }

    /// Counts an element that is complete, and returns whether the value at the top level is.
    fn end_element(&mut self) -> bool {
        while let Some(left) = self.open.last_mut() {
            *left -= 1;
            if *left > 0 {
                return false;
            }
            self.open.pop();
        }
        true
    }
}

/// Returns a length, or `None` for -1, which stands for no value.
fn number(text: &[u8], most: u64) -> Result<Option<u64>, Fault> {
    if text == b"-1" {
        return Ok(None);
    }
    let is_number = !text.is_empty() && text.len() <= 10 && text.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(text).ok().filter(|_| is_number).and_then(|text| text.parse().ok());
    number.filter(|number| *number <= most).map(Some).ok_or(Fault::Lost)
}
