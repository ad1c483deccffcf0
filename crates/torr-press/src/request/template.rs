//! Text with placeholders: `{{rand 1 6}}`.

use super::RequestError;
use super::column::Column;
use super::draw::{Draw, Needs, decimal};
use super::escape::Escape;
use super::feeder::Feeder;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use std::ops::AddAssign;
use std::time::{SystemTime, UNIX_EPOCH};
use uuid::fmt::Hyphenated;

/// The longest random text.
const LONGEST_LETTERS: usize = 1 << 20;
/// Fields that a hint names.
const FIELDS_NAMED: usize = 12;

/// The kind of value that replaces a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// The number of the request.
    Number,
    /// A whole number, both ends included.
    Random { low: i64, high: i64 },
    /// So many random letters and digits.
    Letters(usize),
    /// A random UUID.
    Uuid,
    /// Milliseconds since 1970.
    Now,
    /// The record's value in the column of this number.
    Field(usize),
    /// The bytes of a template in base64.
    Base64(Template),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Bytes(Vec<u8>),
    Value(Value),
}

/// Bytes and placeholders in turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Template {
    pieces: Vec<Piece>,
}

/// A part of a template.
#[derive(Debug)]
pub(super) enum TemplatePart {
    /// A large text between placeholders.
    Large(Bytes),
    /// Placeholders, and the small texts between them.
    Other(Template),
}

impl Value {
    /// Appends the value for the request that is being written.
    #[inline]
    fn write(&self, draw: &mut Draw<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Number => decimal(out, draw.number),
            Self::Random { low, high } => decimal(out, draw.rng.i64(low..=high)),
            Self::Field(column) => out.extend_from_slice(draw.columns[*column].get(draw.record)),
            Self::Letters(length) => out.extend((0..*length).map(|_| draw.rng.alphanumeric() as u8)),
            Self::Uuid => {
                let uuid = uuid::Builder::from_random_bytes(draw.rng.u128(..).to_ne_bytes()).into_uuid();
                out.extend_from_slice(uuid.hyphenated().encode_lower(&mut [0; Hyphenated::LENGTH]).as_bytes());
            }
            Self::Now => {
                // A clock before 1970 is no clock.
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                decimal(out, now.as_millis() as u64);
            }
            Self::Base64(template) => {
                let mut plain = Vec::new();
                template.write(draw, &mut plain);
                out.extend_from_slice(BASE64_STANDARD.encode(plain).as_bytes());
            }
        }
    }
}

impl Template {
    /// Appends the bytes with new values.
    #[inline]
    pub fn write(&self, draw: &mut Draw<'_>, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Bytes(bytes) => out.extend_from_slice(bytes),
                Piece::Value(value) => value.write(draw, out),
            }
        }
    }

    /// Returns the bytes, if there are no placeholders.
    pub fn constant(&self) -> Option<&[u8]> {
        match self.pieces.as_slice() {
            [] => Some(&[]),
            [Piece::Bytes(bytes)] => Some(bytes),
            _ => None,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The bytes between the placeholders.
    pub fn literals(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Bytes(bytes) => Some(bytes.as_slice()),
            Piece::Value(_) => None,
        })
    }

    /// Replaces the bytes between the placeholders.
    pub fn map_literals(mut self, with: impl Fn(&[u8]) -> Vec<u8>) -> Self {
        for piece in &mut self.pieces {
            if let Piece::Bytes(bytes) = piece {
                *bytes = with(bytes);
            }
        }
        self
    }

    /// Returns the bytes with one text instead of every placeholder.
    pub fn sample(&self, value: &[u8]) -> Vec<u8> {
        let bytes = self.pieces.iter().flat_map(|piece| match piece {
            Piece::Bytes(bytes) => bytes.as_slice(),
            Piece::Value(_) => value,
        });
        bytes.copied().collect()
    }

    /// Returns the bytes with the fields of a record, and with the smallest or the largest values that are drawn.
    pub fn extreme(&self, columns: &[Column], record: usize, is_largest: bool) -> Vec<u8> {
        let mut out = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Bytes(bytes) => out.extend_from_slice(bytes),
                Piece::Value(value) => value.write_extreme(columns, record, is_largest, &mut out),
            }
        }
        out
    }

    /// Appends the bytes with the number of the column between marks instead of a field of a record, without base64, and without
    /// values that are drawn.
    pub fn write_marked(&self, marks: [&str; 2], out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Bytes(bytes) => out.extend_from_slice(bytes),
                Piece::Value(Value::Base64(inner)) => inner.write_marked(marks, out),
                Piece::Value(Value::Field(column)) => {
                    out.extend_from_slice(format!("{}{column}{}", marks[0], marks[1]).as_bytes());
                }
                Piece::Value(_) => {}
            }
        }
    }

    /// Returns the largest size, in bytes.
    pub fn longest(&self, columns: &[Column]) -> usize {
        let piece = |piece: &Piece| match piece {
            Piece::Bytes(bytes) => bytes.len(),
            Piece::Value(value) => value.longest(columns),
        };
        self.pieces.iter().map(piece).sum()
    }

    pub fn needs(&self) -> Needs {
        let mut needs = Needs::default();
        for piece in &self.pieces {
            match piece {
                Piece::Value(Value::Number) => needs.number = true,
                Piece::Value(Value::Field(_)) => needs.record = true,
                Piece::Value(Value::Base64(inner)) => needs += inner.needs(),
                Piece::Bytes(_) | Piece::Value(_) => {}
            }
        }
        needs
    }

    /// Returns the parts: texts between placeholders of at least `least` bytes, and what is between those.
    pub fn into_parts(self, least: usize) -> Vec<TemplatePart> {
        let mut parts = Vec::new();
        for piece in self.pieces {
            match (piece, parts.last_mut()) {
                (Piece::Bytes(bytes), _) if bytes.len() >= least => parts.push(TemplatePart::Large(bytes.into())),
                (piece, Some(TemplatePart::Other(other))) => other.pieces.push(piece),
                (piece, _) => parts.push(TemplatePart::Other(Self { pieces: vec![piece] })),
            }
        }
        parts
    }

    pub fn push_value(&mut self, value: Value) {
        self.pieces.push(Piece::Value(value));
    }

    pub fn push_bytes(&mut self, bytes: &[u8]) {
        match self.pieces.last_mut() {
            _ if bytes.is_empty() => {}
            Some(Piece::Bytes(last)) => last.extend_from_slice(bytes),
            _ => self.pieces.push(Piece::Bytes(bytes.to_vec())),
        }
    }

    pub fn push(&mut self, more: &Self) {
        for piece in &more.pieces {
            match piece {
                Piece::Bytes(bytes) => self.push_bytes(bytes),
                Piece::Value(value) => self.push_value(value.clone()),
            }
        }
    }
}

impl From<&[u8]> for Template {
    fn from(bytes: &[u8]) -> Self {
        let mut template = Self::default();
        template.push_bytes(bytes);
        template
    }
}

impl From<&str> for Template {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

impl AddAssign for Needs {
    fn add_assign(&mut self, other: Self) {
        self.number |= other.number;
        self.record |= other.record;
    }
}

impl Value {
    /// Appends the smallest or the largest value; of the number of a request, that of a long run.
    fn write_extreme(&self, columns: &[Column], record: usize, is_largest: bool, out: &mut Vec<u8>) {
        match self {
            Self::Number => decimal(out, if is_largest { i32::MAX } else { 1 }),
            Self::Random { low, high } => decimal(out, if is_largest { *high } else { *low }),
            Self::Letters(length) => out.extend(std::iter::repeat_n(b'a', *length)),
            Self::Uuid => out.extend_from_slice(uuid::Uuid::nil().hyphenated().to_string().as_bytes()),
            Self::Now => decimal(out, i64::from(u32::MAX) * 1000),
            Self::Field(column) => out.extend_from_slice(columns[*column].get(record)),
            Self::Base64(template) => {
                out.extend_from_slice(BASE64_STANDARD.encode(template.extreme(columns, record, is_largest)).as_bytes());
            }
        }
    }

    fn longest(&self, columns: &[Column]) -> usize {
        let digits = |n: i64| itoa::Buffer::new().format(n).len();
        match self {
            Self::Number | Self::Now => 20,
            Self::Random { low, high } => digits(*low).max(digits(*high)),
            Self::Letters(length) => *length,
            Self::Uuid => 36,
            Self::Field(column) => columns[*column].longest(),
            Self::Base64(inner) => inner.longest(columns).div_ceil(3) * 4,
        }
    }
}

/// Reads templates, and gathers the columns that they take their fields from.
#[derive(Debug)]
pub(super) struct Parser<'f> {
    feeder: Option<&'f Feeder>,
    enabled: bool,
    /// Whether placeholders may be of one machine.
    of_one_machine: bool,
    pub columns: Vec<Column>,
    /// The values of the environment that were filled in.
    pub environment: Vec<String>,
    /// The field of each column, and how its values are written.
    keys: Vec<(usize, Escape)>,
}

impl<'f> Parser<'f> {
    /// Creates a parser whose placeholders may take fields from `feeder`. Unless `enabled`, texts are taken as they stand.
    pub fn new(feeder: Option<&'f Feeder>, enabled: bool) -> Self {
        Self { feeder, enabled, of_one_machine: true, columns: vec![], environment: vec![], keys: vec![] }
    }

    /// Refuses placeholders that would be something else on each of several machines.
    pub fn for_several_machines(mut self) -> Self {
        self.of_one_machine = false;
        self
    }

    /// Parses a text whose values are escaped.
    pub fn parse(&mut self, text: &str, values: Escape) -> Result<Template, RequestError> {
        self.parse_with(text, values, |literal| Ok(literal.as_bytes().to_vec()))
    }

    /// Parses a text which is escaped as its values are.
    pub fn parse_escaped(&mut self, text: &str, escape: Escape) -> Result<Template, RequestError> {
        self.parse_with(text, escape, |literal| {
            let bad =
                |why: &str| RequestError::Template { text: literal.to_owned(), why: format!("is invalid: {why}") };
            Ok(escape.write(literal).map_err(bad)?.into_owned())
        })
    }

    /// Parses bytes whose values are escaped. Bytes that are no text have no placeholders.
    pub fn parse_bytes(&mut self, bytes: &[u8], values: Escape) -> Result<Template, RequestError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.parse(text, values),
            Err(_) => Ok(bytes.into()),
        }
    }

    fn parse_with(
        &mut self,
        text: &str,
        values: Escape,
        literal: impl Fn(&str) -> Result<Vec<u8>, RequestError>,
    ) -> Result<Template, RequestError> {
        let mut template = Template::default();
        if !self.enabled {
            template.push_bytes(&literal(text)?);
            return Ok(template);
        }
        let mut rest = text;
        while let Some(at) = rest.find("{{") {
            template.push_bytes(&literal(&rest[..at])?);
            let from = &rest[at..];
            if let Some(after) = from.strip_prefix("{{{{") {
                template.push_bytes(&literal("{{")?);
                rest = after;
                continue;
            }
            let Some(end) = from.find("}}") else {
                let shown: String = from.chars().take(40).collect();
                return Err(bad(shown, "has no closing '}}': write a literal '{{' as '{{{{', or add --no-template"));
            };
            self.placeholder(&from[..end + 2], values, &mut template)?;
            rest = &from[end + 2..];
        }
        template.push_bytes(&literal(rest)?);
        Ok(template)
    }

    /// One placeholder with its braces.
    fn placeholder(&mut self, whole: &str, values: Escape, out: &mut Template) -> Result<(), RequestError> {
        let name = whole[2..whole.len() - 2].trim();
        // A file's own names go first: it may well have a field with the name of something here.
        if let Some((feeder, field)) = self.feeder.and_then(|feeder| Some((feeder, feeder.find(name)?))) {
            out.push_value(Value::Field(self.column(feeder, field, name, values)?));
            return Ok(());
        }
        let words: Vec<_> = name.split_whitespace().collect();
        match words.as_slice() {
            ["seq"] if !self.of_one_machine => {
                return Err(bad(
                    whole,
                    "is not supported in a fleet, where each agent would count from the start: use {{uuid}} instead",
                ));
            }
            ["env", ..] if !self.of_one_machine => {
                return Err(bad(
                    whole,
                    "is not supported in a fleet, whose agents have other environments: let the shell fill it in",
                ));
            }
            ["seq"] => out.push_value(Value::Number),
            ["uuid"] => out.push_value(Value::Uuid),
            ["now"] => out.push_value(Value::Now),
            ["rand", low, high] => match (low.parse(), high.parse()) {
                (Ok(low), Ok(high)) if low <= high => out.push_value(Value::Random { low, high }),
                _ => return Err(bad(whole, "needs two whole numbers, the smaller first, such as {{rand 1 100}}")),
            },
            ["rand", ..] => return Err(bad(whole, "needs two whole numbers, such as {{rand 1 100}}")),
            ["randstr", length] => match length.parse() {
                Ok(length) if (1..=LONGEST_LETTERS).contains(&length) => out.push_value(Value::Letters(length)),
                _ => return Err(bad(whole, "needs a length from 1 to 1048576, such as {{randstr 8}}")),
            },
            ["randstr", ..] => return Err(bad(whole, "needs a length, such as {{randstr 8}}")),
            ["env", variable] => {
                let Ok(value) = std::env::var(variable) else {
                    return Err(bad(whole, "is not set in the environment, or is not UTF-8 text"));
                };
                out.push_bytes(&values.write(&value).map_err(|why| bad(whole, why))?);
                self.environment.push(value);
            }
            ["env", ..] => return Err(bad(whole, "needs the name of a variable, such as {{env HOME}}")),
            _ => return Err(bad(whole, self.unknown())),
        }
        Ok(())
    }

    /// Returns the column of a field and an escape.
    fn column(&mut self, feeder: &Feeder, field: usize, name: &str, escape: Escape) -> Result<usize, RequestError> {
        let key = (field, escape);
        if let Some(at) = self.keys.iter().position(|&known| known == key) {
            return Ok(at);
        }
        self.columns.push(feeder.column(field)?.escaped(name, escape)?);
        self.keys.push(key);
        Ok(self.columns.len() - 1)
    }

    /// Returns the names of the fields that exist, for the hint of an error.
    fn unknown(&self) -> String {
        let fields = self.feeder.map_or(String::new(), |feeder| {
            let mut names: Vec<_> = feeder.names().take(FIELDS_NAMED).collect();
            if feeder.names().count() > FIELDS_NAMED {
                names.push("...");
            }
            format!(", and the fields {}", names.join(", "))
        });
        format!(
            "is unknown: use seq, uuid, now, rand LOW HIGH, randstr LENGTH, env NAME{fields}; write a literal '{{{{' \
             as '{{{{{{{{', or add --no-template"
        )
    }
}

fn bad(text: impl Into<String>, why: impl Into<String>) -> RequestError {
    RequestError::Template { text: text.into(), why: why.into() }
}

#[cfg(test)]
mod tests {
    use super::super::draw::Order;
    use super::super::numbers::Numbers;
    use super::*;
    use fastrand::Rng;
    use proptest::prelude::*;

    /// Writes a template so many times.
    fn render(template: &Template, columns: &[Column], times: usize) -> Vec<String> {
        let (numbers, records) = (Numbers::default(), Numbers::default());
        let mut draw = Draw {
            rng: Rng::with_seed(1),
            columns,
            records: columns.first().map_or(1, Column::len),
            record_order: Order::Sequence,
            numbers: numbers.block(1),
            record_numbers: records.block(1),
            number: 0,
            record: 0,
        };
        let mut write = || {
            let mut out = Vec::new();
            draw.begin(template.needs());
            template.write(&mut draw, &mut out);
            assert!(out.len() <= template.longest(columns), "{} bytes: {template:?}", out.len());
            String::from_utf8(out).expect("templates here are text")
        };
        (0..times).map(|_| write()).collect()
    }

    fn parse(text: &str) -> Result<Template, RequestError> {
        Parser::new(None, true).parse(text, Escape::Nothing)
    }

    fn one(text: &str) -> String {
        render(&parse(text).unwrap_or_else(|error| panic!("{text}: {error}")), &[], 1).remove(0)
    }

    #[test]
    fn each_placeholder_has_its_values() {
        assert_eq!(render(&parse("<{{seq}},{{ seq }}>").unwrap(), &[], 3), ["<1,1>", "<2,2>", "<3,3>"]);
        let dice: Vec<i64> =
            render(&parse("{{rand -1 4}}").unwrap(), &[], 600).iter().map(|text| text.parse().unwrap()).collect();
        assert_eq!((dice.iter().min(), dice.iter().max()), (Some(&-1), Some(&4)));
        assert_eq!(one("{{rand 7 7}}"), "7");
        let letters = render(&parse("{{randstr 8}}").unwrap(), &[], 100);
        assert!(letters.iter().all(|text| text.len() == 8 && text.bytes().all(|b| b.is_ascii_alphanumeric())));
        assert!(letters.iter().any(|text| *text != letters[0]));
        let uuid = one("{{uuid}}");
        let form: String = uuid.chars().map(|c| if c.is_ascii_hexdigit() { 'x' } else { c }).collect();
        assert_eq!(form, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
        assert!(&uuid[14..15] == "4" && "89ab".contains(&uuid[19..20]), "{uuid}");
        let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
        let before = now();
        let said: u128 = one("{{now}}").parse().unwrap();
        assert!((before..=now()).contains(&said));
        assert_eq!(one("{{env CARGO_PKG_NAME}}"), "torr-press");
    }

    #[test]
    fn braces_can_be_meant() {
        for (text, meant) in [
            ("{{{{x}}", "{{x}}"),
            ("a}}b{c}", "a}}b{c}"),
            ("{{{{{{rand 1 1}}}}", "{{1}}"),
            ("{\"a\":{\"b\":{{rand 1 1}}}}", "{\"a\":{\"b\":1}}"),
        ] {
            assert_eq!(one(text), meant, "{text}");
        }
        let off = Parser::new(None, false).parse("{{seq}} {{", Escape::Nothing).unwrap();
        assert_eq!(off.constant(), Some(&b"{{seq}} {{"[..]));
    }

    #[test]
    fn a_record_is_the_same_all_over_a_request() {
        let file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
        std::fs::write(file.path(), "id,first name,seq\n1,A b,x\n2,C&d,y\n").unwrap();
        let feeder = Feeder::read(file.path()).unwrap();
        let mut parser = Parser::new(Some(&feeder), true);
        let mut template = parser.parse("{{id}}/{{first name}}", Escape::Path).unwrap();
        template.push(&parser.parse("?{{first name}}{{id}}{{seq}}", Escape::Component).unwrap());
        let got = render(&template, &parser.columns, 3);
        assert_eq!(got, ["1/A%20b?A%20b1x", "2/C&d?C%26d2y", "1/A%20b?A%20b1x"]);
        let error = parser.parse("{{name}}", Escape::Path).unwrap_err().to_string();
        assert!(error.contains("the fields id, first name, seq"), "{error}");
    }

    #[test]
    fn what_means_nothing_says_what_does() {
        for (text, why) in [
            ("{{sequence}}", "seq, uuid, now, rand LOW HIGH, randstr LENGTH, env NAME"),
            ("{{sequence}}", "write a literal '{{' as '{{{{'"),
            ("{{}}", "unknown"),
            ("a {{seq", "has no closing '}}'"),
            ("{{rand 5 1}}", "the smaller first"),
            ("{{rand 5}}", "two whole numbers"),
            ("{{rand a b}}", "two whole numbers"),
            ("{{randstr 0}}", "length"),
            ("{{randstr}}", "length"),
            ("{{env TORR_HAS_NO_SUCH_VARIABLE}}", "not set"),
            ("{{env}}", "name of a variable"),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn without_placeholders_bytes_stay_as_they_are(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assume!(!bytes.windows(2).any(|two| two == b"{{"));
            let template = Parser::new(None, true).parse_bytes(&bytes, Escape::Json).unwrap();
            prop_assert_eq!(template.constant(), Some(bytes.as_slice()));
        }

        #[test]
        fn doubled_braces_come_back_as_they_were(text in "[{}a ö]{0,40}") {
            let template = parse(&text.replace("{{", "{{{{")).unwrap();
            prop_assert_eq!(template.constant(), Some(text.as_bytes()));
        }
    }
}
