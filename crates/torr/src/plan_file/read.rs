//! A plan's file: each value with its position.

use super::settings::{Kind, Settings, TARGET, is_joined, is_many, is_table, key, kind, mistake};
use crate::exit::CliError;
use crate::flags::secret;
use crate::toml_value::{excerpt, plain};
use clap::Arg;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use torr_session::hurl::Position;

/// A plan as it was read.
#[derive(Debug)]
pub struct PlanFile {
    /// The file's name as it was given.
    pub name: String,
    /// The values in the order of the file.
    pub entries: Vec<Entry>,
}

/// One value of a setting.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The setting's id.
    pub id: String,
    /// The setting's key.
    pub key: String,
    /// The word of a command line that says the same.
    pub word: String,
    /// The value's position.
    pub at: Position,
}

impl Entry {
    /// Returns the value; nothing for a switch.
    pub fn value(&self) -> &str {
        self.word.split_once('=').map_or("", |(_, value)| value)
    }
}

/// What is wrong at a byte of the text.
struct Mistake(usize, String);

impl PlanFile {
    /// Reads a plan. Each value is one that its flag would take.
    ///
    /// # Errors
    /// With the position of the first mistake.
    pub fn read(path: &Path, settings: &Settings) -> Result<Self, CliError> {
        let name = path.to_string_lossy().into_owned();
        let read = std::fs::read_to_string(path);
        let text = read.map_err(|error| CliError::Usage(format!("cannot read the plan '{name}': {error}")))?;
        Self::parse(name, &text, settings)
    }

    /// Reads the text of a plan.
    pub fn parse(name: String, text: &str, settings: &Settings) -> Result<Self, CliError> {
        let reader = Reader { text, settings };
        let entries = reader.entries();
        let entries =
            entries.map_err(|Mistake(at, what)| CliError::Usage(format!("{name}:{}: {what}", reader.position(at))))?;
        Ok(Self { name, entries })
    }
}

struct Reader<'p> {
    text: &'p str,
    settings: &'p Settings,
}

impl Reader<'_> {
    fn position(&self, at: usize) -> Position {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        Position { line: 1 + before.matches('\n').count(), column: 1 + line.chars().count() }
    }

    fn entries(&self) -> Result<Vec<Entry>, Mistake> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let what = error.message().lines().next().unwrap_or_default().to_owned();
            Mistake(at, format!("{what} (text stands in quotes: key = \"value\")"))
        })?;
        let mut values: Vec<_> = table.get_ref().iter().collect();
        values.sort_by_key(|(key, _)| key.span().start);
        let mut entries = Vec::new();
        for (name, value) in values {
            let arg = self.setting(name.get_ref(), name.span(), value)?;
            self.values(arg, value, &mut entries)?;
        }
        Ok(entries)
    }

    fn setting(&self, name: &str, span: Range<usize>, value: &Spanned<DeValue<'_>>) -> Result<&Arg, Mistake> {
        if let Some(arg) = self.settings.with_key(name) {
            return Ok(arg);
        }
        // A key with a dot in it is a table of the part before the dot.
        let inner = value.get_ref().as_table().and_then(|table| table.keys().next());
        let dotted = inner
            .map(|inner| format!("{name}.{}", inner.get_ref()))
            .filter(|dotted| self.settings.with_key(dotted).is_some());
        let hint = match (dotted, self.settings.similar(name)) {
            (Some(dotted), _) => format!("in quotes it is one: \"{dotted}\" = ..."),
            (None, Some(known)) => format!("did you mean '{known}'?"),
            (None, None) => "'torr plan-schema' lists all keys, 'torr --help-all' explains them".into(),
        };
        Err(Mistake(span.start, format!("there is no setting '{}' ({hint})", excerpt(name))))
    }

    /// Adds the words for a setting's value, which can be several.
    fn values(&self, arg: &Arg, value: &Spanned<DeValue<'_>>, entries: &mut Vec<Entry>) -> Result<(), Mistake> {
        let name = key(arg).unwrap_or_default();
        let at = value.span().start;
        match value.get_ref() {
            DeValue::Array(values) if is_joined(arg) => {
                let parts = values.iter().map(|value| self.single(arg, value)).collect::<Result<Vec<_>, _>>()?;
                entries.push(self.entry(arg, at, &parts.join(","))?);
            }
            DeValue::Array(values) if is_many(arg) => {
                for value in values {
                    entries.push(self.entry(arg, value.span().start, &self.single(arg, value)?)?);
                }
            }
            DeValue::Table(values) if is_table(arg) => {
                let mut values: Vec<_> = values.iter().collect();
                values.sort_by_key(|(name, _)| name.span().start);
                for (name, value) in values {
                    let text = plain(value.get_ref()).ok_or_else(|| {
                        let name = excerpt(name.get_ref());
                        Mistake(value.span().start, format!("'{name}' must be text, a number, true or false"))
                    })?;
                    entries.push(self.entry(arg, value.span().start, &format!("{}={text}", name.get_ref()))?);
                }
            }
            DeValue::Array(_) => return Err(Mistake(at, format!("'{name}' has one value, not an array"))),
            DeValue::Boolean(on) if kind(arg) == Kind::Switch => {
                if *on {
                    entries.push(Entry {
                        id: arg.get_id().to_string(),
                        key: name.to_owned(),
                        word: format!("--{name}"),
                        at: self.position(at),
                    });
                }
            }
            _ => entries.push(self.entry(arg, at, &self.single(arg, value)?)?),
        }
        Ok(())
    }

    /// Returns the text of a value of the setting's kind.
    fn single(&self, arg: &Arg, value: &Spanned<DeValue<'_>>) -> Result<String, Mistake> {
        let is_right = matches!(
            (kind(arg), value.get_ref()),
            (Kind::Number | Kind::Text, DeValue::String(_)) | (Kind::Number, DeValue::Integer(_) | DeValue::Float(_))
        );
        let name = key(arg).unwrap_or_default();
        let must_be = match kind(arg) {
            Kind::Switch => "true or false",
            Kind::Number => "a number, or text such as \"10s\" or \"5k\"",
            Kind::Text => "text, in quotes",
        };
        plain(value.get_ref())
            .filter(|_| is_right)
            .ok_or_else(|| Mistake(value.span().start, format!("'{name}' must be {must_be}")))
    }

    /// Returns a value with its position, if its flag would take it.
    fn entry(&self, arg: &Arg, at: usize, value: &str) -> Result<Entry, Mistake> {
        let name = key(arg).unwrap_or_default();
        if let Some(why) = mistake(arg, value) {
            let shown = if secret::is_secret(arg.get_id().as_str(), value) {
                "this".into()
            } else {
                format!("'{}'", excerpt(value))
            };
            return Err(Mistake(at, format!("'{name}' cannot be {shown}: {why}")));
        }
        let word = if name == TARGET { value.to_owned() } else { format!("--{name}={value}") };
        Ok(Entry { id: arg.get_id().to_string(), key: name.to_owned(), word, at: self.position(at) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "target = \"http://h/\"\nconnections = 5 # é\nheader = [\"A: é\", \"B: 2\"]\nno-keepalive = true\n\
                        stages = [\"1s:5\", \"2s:0\"]\n\"tlsv1.2\" = true\n[variable]\na = 1.5\nb = {}\n";

    #[test]
    fn a_position_counts_characters_and_each_value_has_its_own() {
        let settings = Settings::new();
        let text = PLAN.replace("b = {}\n", "");
        let plan = PlanFile::parse("p.toml".into(), &text, &settings).expect("the plan is sound");
        let found: Vec<_> = plan.entries.iter().map(|entry| (entry.word.as_str(), entry.at.to_string())).collect();
        let expected = [
            ("http://h/", "1:10"),
            ("--connections=5", "2:15"),
            ("--header=A: é", "3:11"),
            ("--header=B: 2", "3:19"),
            ("--no-keepalive", "4:16"),
            ("--stages=1s:5,2s:0", "5:10"),
            ("--tlsv1.2", "6:13"),
            ("--variable=a=1.5", "8:5"),
        ];
        assert_eq!(found, expected.map(|(word, at)| (word, at.to_owned())));
    }

    #[test]
    fn no_text_makes_the_reader_panic() {
        let settings = Settings::new();
        let mut random = fastrand::Rng::with_seed(7);
        let pieces: Vec<char> = PLAN.chars().chain("[]{}=\"'\\\n.,#é0\u{0}".chars()).collect();
        let mut mistakes = 0;
        for _ in 0..300 {
            let mut text: Vec<char> = PLAN.chars().collect();
            for _ in 0..random.usize(1..6) {
                let (at, piece) = (random.usize(..text.len()), pieces[random.usize(..pieces.len())]);
                match random.u8(..3) {
                    0 => drop(text.remove(at)),
                    1 => text.insert(at, piece),
                    _ => text[at] = piece,
                }
            }
            let text: String = text.into_iter().collect();
            if let Err(stop) = PlanFile::parse("p.toml".into(), &text, &settings) {
                assert!(matches!(&stop, CliError::Usage(line) if line.starts_with("p.toml:")), "{text}: {stop:?}");
                mistakes += 1;
            }
        }
        assert!(mistakes > 200, "{mistakes}");
    }
}
