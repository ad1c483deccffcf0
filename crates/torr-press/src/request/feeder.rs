//! Records from a file, whose fields stand in for placeholders: CSV with a header line, or an object of JSON on each line.

use super::RequestError;
use super::column::Column;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Display;
use std::path::Path;

/// All records of a file.
#[derive(Debug, Clone, Default)]
pub struct Feeder {
    records: usize,
    fields: Vec<Field>,
    /// The position of each field in `fields`, by its name.
    index: HashMap<String, usize>,
}

#[derive(Debug, Clone)]
struct Field {
    name: String,
    column: Column,
    /// The first record that has no such field.
    missing: Option<usize>,
}

impl Feeder {
    /// Reads a file, of the kind that its extension names: `csv` or `tsv`, or `jsonl`, `ndjson` or `json` for an object
    /// on each line.
    ///
    /// # Errors
    /// [`RequestError::Feeder`].
    pub fn read(path: &Path) -> Result<Self, RequestError> {
        let kind = Kind::of(path)?;
        let bytes = std::fs::read(path).map_err(|error| bad(path, error.to_string()))?;
        Self::of_kind(kind, path, &bytes)
    }

    /// Reads the content of a file, of the kind that its name's extension says.
    ///
    /// # Errors
    /// Returns the errors of [`Feeder::read`].
    pub fn parse(name: &Path, content: &[u8]) -> Result<Self, RequestError> {
        Self::of_kind(Kind::of(name)?, name, content)
    }

    fn of_kind(kind: Kind, path: &Path, bytes: &[u8]) -> Result<Self, RequestError> {
        let feeder = match kind {
            Kind::Separated(by) => Self::csv(bytes, by),
            Kind::JsonLines => Self::json_lines(bytes),
        };
        let feeder = feeder.map_err(|why| bad(path, why))?;
        if feeder.records == 0 { Err(bad(path, "the file has no records".into())) } else { Ok(feeder) }
    }

    fn csv(bytes: &[u8], delimiter: u8) -> Result<Self, String> {
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).trim(csv::Trim::Headers).from_reader(bytes);
        let mut feeder = Self::default();
        for name in reader.headers().map_err(no_csv)? {
            if feeder.field(name).1 {
                return Err(format!("duplicate field '{name}' in the first line"));
            }
        }
        for record in reader.into_records() {
            let record = record.map_err(no_csv)?;
            for (field, value) in feeder.fields.iter_mut().zip(&record) {
                field.column.push(value.as_bytes());
            }
            feeder.records += 1;
        }
        Ok(feeder)
    }

    fn json_lines(bytes: &[u8]) -> Result<Self, String> {
        let lines = std::str::from_utf8(bytes).map_err(text)?.trim_start_matches('\u{feff}').lines().enumerate();
        let mut feeder = Self::default();
        for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let object = serde_json::from_str::<Map<String, Value>>(line);
            let object = object.map_err(|error| format!("line {}: expected a JSON object: {error}", at + 1))?;
            feeder.object("", &object);
            feeder.records += 1;
            for field in feeder.fields.iter_mut().filter(|field| field.column.len() < feeder.records) {
                field.missing.get_or_insert(feeder.records);
                field.column.push(b"");
            }
        }
        Ok(feeder)
    }

    /// Takes the fields of one record, and those of objects within it under names with dots.
    fn object(&mut self, prefix: &str, object: &Map<String, Value>) {
        for (name, value) in object {
            let name = format!("{prefix}{name}");
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                other => other.to_string(),
            };
            let at = self.field(&name).0;
            let (records, field) = (self.records, &mut self.fields[at]);
            // Two spellings of one name, as in {"a.b": 1, "a": {"b": 2}}: the first one stays.
            if field.column.len() == records {
                field.column.push(text.as_bytes());
            }
            if let Value::Object(inner) = value {
                self.object(&format!("{name}."), inner);
            }
        }
    }

    /// The field of this name, and whether there was one before.
    fn field(&mut self, name: &str) -> (usize, bool) {
        if let Some(&at) = self.index.get(name) {
            return (at, true);
        }
        let mut column = Column::default();
        (0..self.records).for_each(|_| column.push(b""));
        let missing = (self.records > 0).then_some(1);
        self.fields.push(Field { name: name.to_owned(), column, missing });
        self.index.insert(name.to_owned(), self.fields.len() - 1);
        (self.fields.len() - 1, false)
    }

    /// Returns the number of records, at least one.
    pub fn records(&self) -> usize {
        self.records
    }

    /// Returns the value of a field in a record, both counted from 0; nothing for a record that has no such field.
    pub fn value(&self, record: usize, field: usize) -> &[u8] {
        self.fields[field].column.get(record)
    }

    /// Returns the names of the fields, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// A field that every record must have.
    pub(super) fn column(&self, at: usize) -> Result<&Column, RequestError> {
        let field = &self.fields[at];
        match field.missing {
            None => Ok(&field.column),
            Some(record) => {
                Err(RequestError::Field { name: field.name.clone(), record, why: "missing in this record".into() })
            }
        }
    }
}

/// The kind of a file of records.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// A header line, then records whose values this byte separates.
    Separated(u8),
    /// An object of JSON on each line.
    JsonLines,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, RequestError> {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match extension.as_str() {
            "csv" => Ok(Self::Separated(b',')),
            "tsv" => Ok(Self::Separated(b'\t')),
            "jsonl" | "ndjson" | "json" => Ok(Self::JsonLines),
            _ => Err(bad(path, "the name must end in .csv, .tsv, .jsonl, .ndjson or .json".into())),
        }
    }
}

/// Returns the records of a file that one of several machines takes: those whose number, counted from 0, leaves the remainder
/// `machine` when divided by `machines`. The header line of CSV stays.
///
/// # Errors
/// Returns the errors of [`Feeder::read`], and an error if no record is left.
pub fn part_of_records(name: &Path, content: &[u8], machine: usize, machines: usize) -> Result<Vec<u8>, RequestError> {
    let is_its_own = |record: usize| record % machines == machine;
    let (part, records) = match Kind::of(name)? {
        Kind::JsonLines => {
            let lines = content.split_inclusive(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
            let own = lines.enumerate().filter(|(record, _)| is_its_own(*record)).map(|(_, line)| line);
            let own: Vec<_> = own.collect();
            (own.concat(), own.len())
        }
        Kind::Separated(by) => {
            let mut reader = csv::ReaderBuilder::new().delimiter(by).from_reader(content);
            let mut writer = csv::WriterBuilder::new().delimiter(by).from_writer(Vec::new());
            let wrong = |error: csv::Error| bad(name, no_csv(error));
            writer.write_byte_record(reader.byte_headers().map_err(wrong)?).map_err(wrong)?;
            let mut records = 0;
            for (at, record) in reader.byte_records().enumerate() {
                let record = record.map_err(wrong)?;
                if is_its_own(at) {
                    writer.write_byte_record(&record).map_err(wrong)?;
                    records += 1;
                }
            }
            (writer.into_inner().map_err(|error| bad(name, error.to_string()))?, records)
        }
    };
    match records {
        0 => Err(bad(name, format!("fewer records than the {machines} agents: use fewer agents or more records"))),
        _ => Ok(part),
    }
}

fn bad(path: &Path, why: String) -> RequestError {
    RequestError::Feeder { file: path.display().to_string(), why }
}

/// Returns what is wrong with a file of CSV.
fn no_csv(error: csv::Error) -> String {
    let line = |at: Option<&csv::Position>| at.map_or("a line".to_owned(), |at| format!("line {}", at.line()));
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let fields = if *len == 1 { "field" } else { "fields" };
            format!("{} has {len} {fields}, expected {expected_len} as in the first line", line(pos.as_ref()))
        }
        csv::ErrorKind::Utf8 { pos, .. } => format!("{} is not UTF-8 text", line(pos.as_ref())),
        _ => text(error),
    }
}

fn text(error: impl Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(feeder: &Feeder, name: &str) -> Vec<String> {
        let column = feeder.column(feeder.find(name).expect(name)).expect(name);
        (0..column.len()).map(|record| String::from_utf8_lossy(column.get(record)).into_owned()).collect()
    }

    #[test]
    fn csv_has_quotes_line_breaks_and_a_byte_order_mark() {
        let feeder = Feeder::csv("\u{feff}name, note\nAda,\"a, \"\"b\"\"\nc\"\nBob,\n".as_bytes(), b',').unwrap();
        assert_eq!(feeder.records(), 2);
        assert_eq!(feeder.names().collect::<Vec<_>>(), ["name", "note"]);
        assert_eq!(values(&feeder, "name"), ["Ada", "Bob"]);
        assert_eq!(values(&feeder, "note"), ["a, \"b\"\nc", ""]);
    }

    #[test]
    fn machines_share_the_records_of_a_file() {
        let csv = "\u{feff}name,note\nAda,\"a,\nb\"\nBob,\nCleo,c\n".as_bytes();
        let lines = b"{\"name\": \"Ada\"}\n\n{\"name\": \"Bob\"}\n{\"name\": \"Cleo\"}";
        for (file, content) in [("a.csv", csv), ("a.jsonl", &lines[..])] {
            let names = |machine, machines| {
                let part = part_of_records(Path::new(file), content, machine, machines)?;
                Feeder::parse(Path::new(file), &part).map(|feeder| values(&feeder, "name"))
            };
            assert_eq!(names(0, 1).unwrap(), ["Ada", "Bob", "Cleo"]);
            assert_eq!([names(0, 2).unwrap(), names(1, 2).unwrap()].concat(), ["Ada", "Cleo", "Bob"]);
            let refused = names(3, 4).unwrap_err().to_string();
            assert!(refused.contains(file) && refused.contains("4 agents"), "{refused}");
        }
        let part = part_of_records(Path::new("a.csv"), csv, 0, 2).unwrap();
        assert_eq!(values(&Feeder::parse(Path::new("a.csv"), &part).unwrap(), "note"), ["a,\nb", "c"]);
    }

    #[test]
    fn csv_that_is_none() {
        let why = Feeder::csv(b"a,b\n1\n", b',').unwrap_err();
        assert_eq!(why, "line 2 has 1 field, expected 2 as in the first line");
        assert!(Feeder::csv(b"a,a\n1,2\n", b',').unwrap_err().contains("duplicate"));
        assert_eq!(Feeder::csv(b"a\n\xff\n", b',').unwrap_err(), "line 2 is not UTF-8 text");
    }

    #[test]
    fn json_lines_have_values_of_every_kind() {
        let lines = b"{\"a\": \"x y\", \"b\": {\"c\": 1.5, \"d\": null}, \"e\": [1, true]}\n\n\
                      {\"a\": 7, \"b\": {\"c\": false, \"d\": \"\"}, \"e\": 3, \"f\": 1}\n";
        let feeder = Feeder::json_lines(lines).unwrap();
        assert_eq!(feeder.records(), 2);
        assert_eq!(values(&feeder, "a"), ["x y", "7"]);
        assert_eq!(values(&feeder, "b.c"), ["1.5", "false"]);
        assert_eq!(values(&feeder, "b.d"), ["", ""]);
        assert_eq!(values(&feeder, "e"), ["[1,true]", "3"]);
        assert_eq!(values(&feeder, "b")[0], r#"{"c":1.5,"d":null}"#);
    }

    #[test]
    fn a_field_that_a_record_lacks_cannot_be_used() {
        let feeder = Feeder::json_lines(b"{\"a\": 1}\n{\"b\": 2}\n{\"b\": 3}\n").unwrap();
        for (name, record) in [("a", "record 2"), ("b", "record 1")] {
            let error = feeder.column(feeder.find(name).unwrap()).unwrap_err().to_string();
            assert!(error.contains(record), "{error}");
        }
    }

    #[test]
    fn json_lines_that_are_none() {
        for (lines, why) in [("{\"a\": 1}\n[2]\n", "line 2"), ("{\"a\": 1\n", "line 1")] {
            let error = Feeder::json_lines(lines.as_bytes()).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
