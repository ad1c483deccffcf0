//! The requests of an iteration as entries of a session. Those of the first iteration have names; later iterations may send others.

use crate::user::exchange::Outgoing;
use std::borrow::Cow;
use torr_gauge::sessions::EntryName;

/// The largest number of requests of the first iteration that are entries of their own.
const MOST_ENTRIES: usize = 1_000;
/// The longest name in bytes.
const LONGEST_NAME: usize = 256;

/// The entries of a session.
#[derive(Debug, Clone, Default)]
pub(super) struct Entries(Vec<String>);

impl Entries {
    /// Returns the entries with these names.
    pub fn named(names: Vec<String>) -> Self {
        Self(names)
    }

    /// Returns the names.
    pub fn as_names(&self) -> &[String] {
        &self.0
    }

    /// Adds a request of the first iteration.
    pub fn add(&mut self, outgoing: &Outgoing) {
        if self.0.len() < MOST_ENTRIES {
            self.0.push(name(outgoing).into_owned());
        }
    }

    /// Returns whether the first iteration had no request.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the entry of a request that is the one with this number, from 0, in its iteration: the one at the same place if that has
    /// the same name, or else the first one with this name, or else the one at the same place.
    pub fn entry_of(&self, outgoing: &Outgoing, number: usize) -> u32 {
        let here = number.min(self.0.len().saturating_sub(1));
        let name = name(outgoing);
        let found = match self.0.get(here) {
            Some(entry) if *entry == *name => here,
            _ => self.0.iter().position(|entry| *entry == *name).unwrap_or(here),
        };
        found as u32
    }

    /// Returns the names of the entries for results. `file` is that of the script.
    pub fn names(&self, file: &str) -> Vec<EntryName> {
        let named =
            |name: &String| EntryName { name: name.clone(), file: file.to_owned(), line: 1, asserts: Vec::new() };
        match self.0.is_empty() {
            true => vec![named(&"request".to_owned())],
            false => self.0.iter().map(named).collect(),
        }
    }
}

/// Returns the name of a request: that of the script, or method and path without the query.
fn name(outgoing: &Outgoing) -> Cow<'_, str> {
    if let Some(name) = &outgoing.name {
        let end = (0..=LONGEST_NAME.min(name.len())).rev().find(|end| name.is_char_boundary(*end));
        return name[..end.unwrap_or(0)].into();
    }
    let line = outgoing.bytes.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let after_method = line.iter().position(|byte| *byte == b' ').map_or(0, |at| at + 1);
    let length = line[after_method..].iter().position(|byte| matches!(byte, b' ' | b'?')).unwrap_or(0);
    String::from_utf8_lossy(&line[..(after_method + length).min(LONGEST_NAME)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn request(line: &str, name: Option<&str>) -> Outgoing {
        Outgoing {
            id: 1,
            origin: "http://h:80".into(),
            bytes: format!("{line} HTTP/1.1\r\nHost: h\r\n\r\n").into_bytes(),
            head: 0,
            is_first: true,
            is_head: false,
            keeps_content: true,
            repeats: true,
            timeout: Duration::from_secs(1),
            expects: Default::default(),
            name: name.map(Into::into),
        }
    }

    #[test]
    fn requests_belong_to_the_entries_of_the_first_iteration() {
        let mut entries = Entries::default();
        assert_eq!((entries.is_empty(), entries.entry_of(&request("GET /x", None), 3)), (true, 0));
        let first = [("GET /a?n=1", None), ("POST /b", None), ("GET /item/7", Some("item")), ("GET /a?n=2", None)];
        first.iter().for_each(|(line, name)| entries.add(&request(line, *name)));
        let names: Vec<_> = entries.names("x.js").into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["GET /a", "POST /b", "item", "GET /a"]);
        let of = |line: &str, name: Option<&str>, number: usize| entries.entry_of(&request(line, name), number);
        assert_eq!([of("GET /a?n=9", None, 0), of("POST /b", None, 1), of("GET /a", None, 3)], [0, 1, 3]);
        // One that comes elsewhere in the iteration, one that the first iteration had not, and one after its end.
        assert_eq!([of("GET /item/1", Some("item"), 1), of("GET /new", None, 1), of("GET /new", None, 9)], [2, 1, 3]);
    }

    #[test]
    fn names_have_a_bound() {
        let mut entries = Entries::default();
        let long = request(&format!("GET /{}", "é".repeat(400)), None);
        entries.add(&request("GET /", None));
        entries.add(&long);
        assert!(entries.names("x.js")[1].name.chars().count() <= LONGEST_NAME);
        assert_eq!(entries.entry_of(&long, 1), 1);
    }
}
