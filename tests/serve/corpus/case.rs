//! The corpus as data: reading its files, the notation of bytes, and what each server is expected to do.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What a client sends, and what must come of it.
pub struct Case {
    /// `file.toml: name`, once in the whole corpus.
    pub name: String,
    /// The RFCs and sections that decide.
    pub rfc: String,
    /// One write each.
    pub send: Vec<Vec<u8>>,
    torr: Outcome,
    nginx: Option<Outcome>,
    hyper: Option<Outcome>,
}

/// The servers that a case has an outcome for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    Torr,
    Nginx,
    Hyper,
}

/// The responses on a connection, in their order, and what becomes of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Outcome {
    pub responses: Vec<Expected>,
    pub end: End,
}

/// One response.
#[derive(Clone, PartialEq, Eq)]
pub struct Expected {
    /// Any of these.
    pub statuses: Vec<String>,
    /// It depends on how the bytes arrive whether this one comes.
    pub optional: bool,
    /// Method, target and length of the body, as the handler saw them.
    pub saw: Option<String>,
}

/// What becomes of the connection after the last of the responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It takes another request.
    Open,
    /// The server ends it without a further response.
    Close,
    /// The client ends its side here, with or without the rest of a message.
    Cut,
}

impl Case {
    /// What this server is to do: the same as ours, unless the case says otherwise.
    pub fn expected(&self, subject: Subject) -> &Outcome {
        let own = match subject {
            Subject::Torr => None,
            Subject::Nginx => self.nginx.as_ref(),
            Subject::Hyper => self.hyper.as_ref(),
        };
        own.unwrap_or(&self.torr)
    }

    fn read(file: &str, table: &Table) -> Result<Self, String> {
        if let Some(key) =
            table.keys().find(|key| !["name", "rfc", "send", "torr", "nginx", "hyper"].contains(&&***key))
        {
            return Err(format!("unknown key {key}"));
        }
        let text = |key: &str| table.get(key).and_then(Value::as_str).ok_or(format!("{key} is missing"));
        let outcome = |key: &str| table.get(key).map(Outcome::read).transpose();
        let rfc = text("rfc")?.to_owned();
        if !rfc.split(", ").all(is_reference) {
            return Err(format!("{rfc:?} is not like \"9112 3.2, 9110 7.2\""));
        }
        let torr = outcome("torr")?.ok_or("torr is missing")?;
        if torr.responses.iter().any(|response| response.saw.as_ref().is_some_and(|saw| saw.contains(SMUGGLED))) {
            return Err(format!("{SMUGGLED} is what must never be answered"));
        }
        let differing = |other: Option<Outcome>| match other {
            Some(other) if other == torr => Err("a control that does the same needs no entry".to_owned()),
            other => Ok(other),
        };
        Ok(Self {
            name: format!("{file}: {}", text("name")?),
            rfc,
            send: decode(text("send")?)?,
            nginx: differing(outcome("nginx")?)?,
            hyper: differing(outcome("hyper")?)?,
            torr,
        })
    }
}

/// The path of requests that only exist if bytes are misread.
pub const SMUGGLED: &str = "/smuggled";

/// Whether this is the number of an RFC and one of its sections.
fn is_reference(text: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.split_once(' ').is_some_and(|(rfc, section)| number(rfc) && section.split('.').all(number))
}

impl Outcome {
    fn read(value: &Value) -> Result<Self, String> {
        let items: Option<Vec<&str>> = value.as_array().and_then(|items| items.iter().map(Value::as_str).collect());
        let items = items.ok_or("an outcome is a list of texts")?;
        let (end, responses) = items.split_last().ok_or("an outcome is not empty")?;
        let end = match *end {
            "open" => End::Open,
            "close" => End::Close,
            "cut" => End::Cut,
            other => return Err(format!("{other:?} is not open, close or cut")),
        };
        Ok(Self { responses: responses.iter().map(|text| Expected::read(text)).collect::<Result<_, _>>()?, end })
    }

    /// Whether these responses, as [`super::exchange`] writes them, are the expected ones.
    pub fn fits(&self, observed: &[String]) -> bool {
        let Some((end, mut responses)) = observed.split_last() else { return false };
        for expected in &self.responses {
            match responses.split_first() {
                Some((response, rest)) if expected.fits(response) => responses = rest,
                _ if expected.optional => {}
                _ => return false,
            }
        }
        responses.is_empty() && *end == self.end.to_string()
    }
}

impl Expected {
    fn read(text: &str) -> Result<Self, String> {
        let (statuses, saw) = match text.split_once(' ') {
            Some((statuses, saw)) => (statuses, Some(saw.to_owned())),
            None => (text, None),
        };
        let (statuses, optional) = statuses.strip_suffix('?').map_or((statuses, false), |statuses| (statuses, true));
        let statuses: Vec<_> = statuses.split('|').map(str::to_owned).collect();
        match statuses.iter().all(|status| status.len() == 3) {
            true => Ok(Self { statuses, optional, saw }),
            false => Err(format!("{text:?} does not begin with status codes")),
        }
    }

    fn fits(&self, response: &str) -> bool {
        let (status, saw) = response.split_once(' ').unwrap_or((response, ""));
        self.statuses.iter().any(|expected| expected == status) && self.saw.as_deref().unwrap_or_default() == saw
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Close => "close",
            Self::Cut => "cut",
        })
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let responses = self.responses.iter().map(|response| {
            let saw = response.saw.as_ref().map(|saw| format!(" {saw}")).unwrap_or_default();
            format!("{}{}{saw}", response.statuses.join("|"), if response.optional { "?" } else { "" })
        });
        f.debug_list().entries(responses.chain([self.end.to_string()])).finish()
    }
}

/// All cases of all files.
///
/// # Panics
/// If a file is not what `README.md` says, or two cases are the same.
pub fn corpus() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/serve/corpus");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the corpus is in the repository")
        .map(|entry| entry.expect("a folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let cases: Vec<Case> = files.iter().flat_map(|path| read_file(path)).collect();
    let (mut names, mut bytes) = (HashSet::new(), HashSet::new());
    for case in &cases {
        assert!(names.insert(&case.name), "two cases are called {:?}", case.name);
        assert!(bytes.insert(&case.send), "{:?} sends what another case sends", case.name);
    }
    cases
}

fn read_file(path: &Path) -> Vec<Case> {
    let file = path.file_stem().unwrap_or_default().to_string_lossy();
    let text = std::fs::read_to_string(path).expect("a file can be read");
    let table: Table = text.parse().unwrap_or_else(|error| panic!("{file}.toml: {error}"));
    let cases = table.get("case").and_then(Value::as_array).unwrap_or_else(|| panic!("{file}.toml has no cases"));
    let read = |case: &Value| {
        let table = case.as_table().ok_or("it is no table".to_owned());
        table.and_then(|table| Case::read(&file, table)).unwrap_or_else(|why| panic!("{file}.toml: {why}: {case}"))
    };
    cases.iter().map(read).collect()
}

/// The bytes that a notation stands for, one item for each write.
pub fn decode(text: &str) -> Result<Vec<Vec<u8>>, String> {
    let mut writes = vec![Vec::new()];
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let write = writes.last_mut().expect("there is always one");
        let Some(escape) = rest.strip_prefix('\\') else {
            if !(' '..='~').contains(&first) {
                return Err(format!("{first:?} is to be written as an escape"));
            }
            write.push(first as u8);
            rest = &rest[1..];
            continue;
        };
        let kind = escape.chars().next().ok_or("a backslash stands at the end")?;
        rest = &escape[kind.len_utf8()..];
        match kind {
            'r' => write.push(b'\r'),
            'n' => write.push(b'\n'),
            't' => write.push(b'\t'),
            '0' => write.push(0),
            '\\' => write.push(b'\\'),
            'x' => {
                let digits = rest.get(..2).ok_or("\\x needs two digits")?;
                write.push(u8::from_str_radix(digits, 16).map_err(|_| format!("\\x{digits}"))?);
                rest = &rest[2..];
            }
            '|' => writes.push(Vec::new()),
            '(' => {
                let (repeated, after) = rest.split_once(')').ok_or("\\( has no end")?;
                let (unit, times) = repeated.rsplit_once('*').ok_or("\\( has no number of times")?;
                let times = times.parse().map_err(|_| format!("{times:?} times"))?;
                write.extend(decode(unit)?.concat().repeat(times));
                rest = after;
            }
            other => return Err(format!("\\{other} is unknown")),
        }
    }
    Ok(writes)
}
