//! Files of records (`payload`), which a run reads as a feeder.

use super::value;
use crate::draft::LeftOut;
use crate::node::Node;

/// The lines of a file that are looked at to know the types of its fields.
const LINES: usize = 10_000;

/// The type of a value, as far as a script shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// A number, a truth value or null.
    Literal,
    Unknown,
}

/// A file of records.
#[derive(Debug, Clone)]
pub(super) struct Records {
    pub(super) file: String,
    /// What to change in the file for a run.
    pub(super) how: String,
    /// The names, and the types of their values.
    pub(super) fields: Vec<(String, Kind)>,
    /// Whether each user takes a record at random.
    pub(super) is_random: bool,
}

/// Returns what a script says about its files of records.
pub(super) fn read(
    payload: &Node,
    left_out: &mut Vec<LeftOut>,
    read: &dyn Fn(&str) -> Result<Vec<u8>, String>,
) -> Vec<Records> {
    let mut made = Vec::new();
    for (at, one) in value::list(payload).iter().enumerate() {
        let file = one.get("path").plain();
        if one.get("loadAll").is_true() {
            let reason = "a list of all records is not supported: use --feeder, one record per session";
            left_out.push(LeftOut::new("records", file, reason));
            continue;
        }
        let names: Vec<String> = one.get("fields").items().iter().map(Node::plain).collect();
        if at > 0 {
            left_out.push(LeftOut::new("records", file.clone(), "a run has one file of records: join them"));
        }
        let bytes = if file.contains("{{") { Err(String::new()) } else { read(&file) };
        let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let delimiter = one.get("delimiter").text().unwrap_or(",");
        let lines = text.as_deref().unwrap_or_default().lines().filter(|line| !line.trim().is_empty());
        let rows: Vec<Vec<&str>> =
            lines.take(LINES).map(|line| line.split(delimiter).map(str::trim).collect()).collect();
        let has_names = one.get("skipHeader").is_true() && rows.first().is_some_and(|first| *first == names);
        let values = rows.get(usize::from(one.get("skipHeader").is_true())..).unwrap_or_default();
        let casts = *one.get("cast") != Node::Boolean(false);
        let kind = |at: usize| {
            let is_number = |row: &Vec<&str>| row.get(at).is_some_and(|field| field.parse::<f64>().is_ok());
            match (text.is_some(), casts) {
                (_, false) => Kind::Text,
                (true, _) if values.iter().all(is_number) && !values.is_empty() => Kind::Literal,
                (true, _) if !values.iter().any(is_number) => Kind::Text,
                _ => Kind::Unknown,
            }
        };
        let fields = names.iter().enumerate().map(|(at, name)| (name.clone(), kind(at))).collect();
        let how = match (has_names, delimiter) {
            (true, ",") => String::new(),
            (_, ",") => ", with these names in its first line".to_owned(),
            (_, other) => format!(", with these names in its first line and commas instead of '{other}'"),
        };
        let is_random = one.get("order").text() != Some("sequence");
        made.push(Records { file, how, fields, is_random });
    }
    made
}
