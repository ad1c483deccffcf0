//! A plan's file: each value with its position.

use crate::exit::CliError;
use crate::toml_value::{excerpt, plain};
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use torr_load::{Given, Kind, SETTINGS, Setting, Times};
use torr_net::errors::describe;
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
    /// The setting with its value.
    pub given: Given,
    /// The value's position.
    pub at: Position,
}

/// What is wrong at a byte of the text.
struct Mistake(usize, String);

impl PlanFile {
    /// Reads a plan. Each value is one that its flag would take.
    ///
    /// # Errors
    /// With the position of the first mistake.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let name = path.to_string_lossy().into_owned();
        let read = std::fs::read_to_string(path);
        let text =
            read.map_err(|error| CliError::Usage(format!("cannot read the plan '{name}': {}", describe(&error))))?;
        Self::parse(name, &text)
    }

    /// Reads the text of a plan.
    pub fn parse(name: String, text: &str) -> Result<Self, CliError> {
        let reader = Reader { text };
        let entries = reader.entries();
        let entries =
            entries.map_err(|Mistake(at, what)| CliError::Usage(format!("{name}:{}: {what}", reader.position(at))))?;
        Ok(Self { name, entries })
    }
}

struct Reader<'p> {
    text: &'p str,
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
            Mistake(at, format!("{what} (text needs quotes: key = \"value\")"))
        })?;
        let mut values: Vec<_> = table.get_ref().iter().collect();
        values.sort_by_key(|(key, _)| key.span().start);
        let mut entries = Vec::new();
        for (name, value) in values {
            let setting = setting(name.get_ref(), name.span(), value)?;
            self.values(setting, value, &mut entries)?;
        }
        Ok(entries)
    }

    /// Adds a setting's value, which can be several.
    fn values(&self, setting: &Setting, value: &Spanned<DeValue<'_>>, entries: &mut Vec<Entry>) -> Result<(), Mistake> {
        let name = setting.name;
        let at = value.span().start;
        match value.get_ref() {
            DeValue::Array(values) if setting.times == Times::Joined => {
                let parts = values.iter().map(|value| single(setting, value)).collect::<Result<Vec<_>, _>>()?;
                entries.push(self.entry(setting, at, &parts.join(","))?);
            }
            DeValue::Array(values) if setting.times == Times::Many => {
                for value in values {
                    entries.push(self.entry(setting, value.span().start, &single(setting, value)?)?);
                }
            }
            DeValue::Table(values) if setting.is_table() => {
                let mut values: Vec<_> = values.iter().collect();
                values.sort_by_key(|(name, _)| name.span().start);
                for (name, value) in values {
                    let text = plain(value.get_ref()).ok_or_else(|| {
                        let name = excerpt(name.get_ref());
                        Mistake(value.span().start, format!("'{name}' must be text, a number, true or false"))
                    })?;
                    entries.push(self.entry(setting, value.span().start, &format!("{}={text}", name.get_ref()))?);
                }
            }
            DeValue::Array(_) => return Err(Mistake(at, format!("'{name}' must be one value, found an array"))),
            DeValue::Boolean(on) if setting.kind == Kind::Switch => {
                if *on {
                    entries.push(Entry { given: Given::of(setting, None), at: self.position(at) });
                }
            }
            _ => entries.push(self.entry(setting, at, &single(setting, value)?)?),
        }
        Ok(())
    }

    /// Returns a value with its position, if its setting takes it.
    fn entry(&self, setting: &Setting, at: usize, value: &str) -> Result<Entry, Mistake> {
        if let Err(why) = setting.check(value) {
            let shown = if setting.is_secret(value) { "this".into() } else { format!("'{}'", excerpt(value)) };
            return Err(Mistake(at, format!("invalid value {shown} of '{}': {why}", setting.name)));
        }
        Ok(Entry { given: Given::of(setting, Some(value.to_owned())), at: self.position(at) })
    }
}

/// Returns the settings that plans have.
fn known() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(|setting| setting.is_of_plans())
}

/// Returns the setting of a key, which stands there in the text.
fn setting(name: &str, span: Range<usize>, value: &Spanned<DeValue<'_>>) -> Result<&'static Setting, Mistake> {
    let with_key = |key: &str| known().find(|setting| setting.name == key);
    if let Some(setting) = with_key(name) {
        return Ok(setting);
    }
    // A key with a dot in it is a table of the part before the dot.
    let inner = value.get_ref().as_table().and_then(|table| table.keys().next());
    let dotted = inner.map(|inner| format!("{name}.{}", inner.get_ref())).filter(|dotted| with_key(dotted).is_some());
    let hint = match (dotted, similar(name)) {
        (Some(dotted), _) => format!("use quotes: \"{dotted}\" = ..."),
        (None, Some(known)) => format!("did you mean '{known}'?"),
        (None, None) => "'torr plan-schema' lists all keys, 'torr --help-all' explains them".into(),
    };
    Err(Mistake(span.start, format!("unknown setting '{}' ({hint})", excerpt(name))))
}

/// Returns the key that was probably meant by a mistyped one.
fn similar(typed: &str) -> Option<&'static str> {
    let typed = typed.to_lowercase().replace('_', "-");
    let is_other_name = |setting: &&Setting| {
        setting.alias == Some(&*typed) || setting.short.is_some_and(|letter| letter.to_string() == typed)
    };
    if let Some(setting) = known().find(is_other_name) {
        return Some(setting.name);
    }
    let rated = known().map(|setting| (strsim::jaro_winkler(&typed, setting.name), setting.name));
    rated.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|best| best.0 > 0.8).map(|best| best.1)
}

/// Returns the text of a value of the setting's kind.
fn single(setting: &Setting, value: &Spanned<DeValue<'_>>) -> Result<String, Mistake> {
    let is_number = matches!(setting.kind, Kind::Number(_));
    let is_right = match value.get_ref() {
        DeValue::String(_) => setting.kind != Kind::Switch,
        DeValue::Integer(_) | DeValue::Float(_) => is_number,
        _ => false,
    };
    let must_be = match setting.kind {
        Kind::Switch => "true or false",
        Kind::Number(_) => "a number, or text such as \"10s\" or \"5k\"",
        _ => "text, in quotes",
    };
    plain(value.get_ref())
        .filter(|_| is_right)
        .ok_or_else(|| Mistake(value.span().start, format!("'{}' must be {must_be}", setting.name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "target = \"http://h/\"\nconnections = 5 # é\nheader = [\"A: é\", \"B: 2\"]\nno-keepalive = true\n\
                        stages = [\"1s:5\", \"2s:0\"]\n\"tlsv1.2\" = true\n[variable]\na = 1.5\nb = {}\n";

    #[test]
    fn a_position_counts_characters_and_each_value_has_its_own() {
        let text = PLAN.replace("b = {}\n", "");
        let plan = PlanFile::parse("p.toml".into(), &text).expect("the plan is sound");
        let found: Vec<_> = plan.entries.iter().map(|entry| (entry.given.word(), entry.at.to_string())).collect();
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
        assert_eq!(found, expected.map(|(word, at)| (word.to_owned(), at.to_owned())));
    }

    #[test]
    fn no_text_makes_the_reader_panic() {
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
            if let Err(stop) = PlanFile::parse("p.toml".into(), &text) {
                assert!(matches!(&stop, CliError::Usage(line) if line.starts_with("p.toml:")), "{text}: {stop:?}");
                mistakes += 1;
            }
        }
        assert!(mistakes > 200, "{mistakes}");
    }
}
