//! What `torr TARGET` loads: a URL, hurl files, a Lua file, a k6 script or a plan.

use crate::error::PlanError;
use std::path::{Path, PathBuf};
use torr_gauge::number;
use torr_load::Work;

/// What the targets of a command line are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetKind {
    /// A URL, or none where `--urls` lists them.
    Url(Option<String>),
    /// Hurl files, at least one.
    Sessions(Vec<RunFile>),
    /// A Lua file.
    Script(PathBuf),
    /// A script of k6.
    K6(PathBuf),
    /// A plan, which has its targets in it. The command line replaces a plan by its settings before anything runs.
    Plan(PathBuf),
}

/// A file of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    /// The path as it was given.
    pub path: String,
    /// How many of all sessions are of this file, in proportion to the others' weights; more than 0.
    pub weight: u32,
}

impl RunFile {
    /// Returns a file that stands alone.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_string_lossy().into_owned(), weight: 1 }
    }

    /// Returns the file as a word of a command line.
    pub fn word(&self) -> String {
        format!("{}={}", self.path, self.weight)
    }

    /// Returns the file of such a word.
    pub fn of_word(word: &str) -> Option<Self> {
        let (path, weight) = word.rsplit_once('=')?;
        let weight = weight.parse().ok().filter(|&weight| weight > 0)?;
        Some(Self { path: path.to_owned(), weight })
    }
}

/// What files hold, by their ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Hurl,
    Lua,
    K6,
    Plan,
}

/// Endings of access logs.
const LOGS: [&str; 3] = ["log", "gz", "gor"];
/// Endings of what `torr import` reads.
const IMPORTED: [&str; 6] = ["har", "json", "yaml", "yml", "jmx", "curl"];

impl TargetKind {
    /// Returns what these targets are. Files are looked for, and not read.
    ///
    /// # Errors
    /// If a target can be a host as well as a file, if there is no such file, or if the targets do not go together.
    pub fn of(targets: &[String]) -> Result<Self, PlanError> {
        let words = targets.iter().map(|text| Word::of(text)).collect::<Result<Vec<_>, _>>()?;
        match &words[..] {
            [] => Ok(Self::Url(None)),
            [Word::Url(url)] => Ok(Self::Url(Some((*url).to_owned()))),
            [Word::File(Ending::Plan, file)] => Ok(Self::Plan(file.path.clone().into())),
            [Word::File(Ending::Lua, file)] => Ok(Self::Script(file.path.clone().into())),
            [Word::File(Ending::K6, file)] => Ok(Self::K6(file.path.clone().into())),
            _ => sessions(words).map(Self::Sessions),
        }
    }

    /// Returns what makes the requests of a load of these targets; `None` for a plan.
    pub fn work(&self, has_script: bool) -> Option<Work> {
        match self {
            Self::Url(_) if !has_script => Some(Work::Requests),
            Self::Url(_) | Self::Script(_) | Self::K6(_) => Some(Work::Script),
            Self::Sessions(_) => Some(Work::Sessions),
            Self::Plan(_) => None,
        }
    }

    /// Returns the files that are the targets.
    pub fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::Url(_) => Vec::new(),
            Self::Sessions(files) => files.iter().map(|file| file.path.clone().into()).collect(),
            Self::Script(path) | Self::K6(path) | Self::Plan(path) => vec![path.clone()],
        }
    }
}

/// Whether a target is spelled like a hurl file or a script.
pub fn is_file(text: &str) -> bool {
    !text.contains("://") && matches!(ending(text), Some(Ending::Hurl | Ending::Lua | Ending::K6))
}

/// Whether a target is spelled like a script.
pub fn is_script(text: &str) -> bool {
    !text.contains("://") && ending(text) == Some(Ending::Lua)
}

/// Whether a target is spelled like a script of k6.
pub fn is_k6(text: &str) -> bool {
    !text.contains("://") && ending(text) == Some(Ending::K6)
}

/// Whether a target is spelled like the file of a plan.
pub fn is_plan(text: &str) -> bool {
    !text.contains("://") && ending(text) == Some(Ending::Plan)
}

/// Returns the mistake of giving a plan as the target of a plan.
pub fn plan_as_target(path: &Path) -> PlanError {
    PlanError::Usage(format!("'{}' is a plan: the target of a plan must not be a plan", path.display()))
}

fn sessions(words: Vec<Word<'_>>) -> Result<Vec<RunFile>, PlanError> {
    let urls: Vec<_> = words.iter().filter_map(Word::url).collect();
    let mut files = Vec::new();
    for word in words {
        match word {
            Word::File(Ending::Hurl, file) => files.push(file),
            Word::Url(_) => {}
            Word::File(_, file) => {
                let path = file.path;
                return Err(PlanError::Usage(format!(
                    "'{path}' must be the only target: only hurl files can be several targets"
                )));
            }
        }
    }
    match (&urls[..], files.first()) {
        ([], _) => Ok(files),
        ([url, ..], Some(file)) => Err(PlanError::Usage(format!(
            "cannot load the URL '{url}' beside the file '{}': a hurl file has its own URLs",
            file.path
        ))),
        ([.., last], None) => Err(PlanError::Usage(format!(
            "expected one URL, found a second one '{last}': load several URLs of one server with '--urls FILE'"
        ))),
    }
}

/// One target.
enum Word<'t> {
    Url(&'t str),
    File(Ending, RunFile),
}

impl<'t> Word<'t> {
    fn of(text: &'t str) -> Result<Self, PlanError> {
        if text.contains("://") {
            return Ok(Self::Url(text));
        }
        let (path, weight) = match text.rsplit_once('=') {
            Some((path, weight)) if ending(path).is_some() && !Path::new(text).is_file() => (path, Some(weight)),
            _ => (text, None),
        };
        let Some(ending) = ending(path) else { return without_ending(text) };
        if !Path::new(path).is_file() {
            // A port tells that a host is meant.
            return match path.split('/').next() {
                Some(front) if front.contains(':') => Ok(Self::Url(text)),
                _ => Err(missing(path)),
            };
        }
        let wrong =
            || PlanError::Usage(format!("the weight of '{path}' must be a whole number from 1, as in '{path}=7'"));
        let weight = match weight {
            Some(weight) => {
                let weight = number::count(weight).and_then(|weight| u32::try_from(weight).ok());
                weight.filter(|&weight| weight > 0).ok_or_else(wrong)?
            }
            None => 1,
        };
        Ok(Self::File(ending, RunFile { path: path.into(), weight }))
    }

    fn url(&self) -> Option<&'t str> {
        match self {
            Self::Url(url) => Some(url),
            Self::File(..) => None,
        }
    }
}

/// Returns the URL that a word without a known ending is, unless it can be a file.
fn without_ending(text: &str) -> Result<Word<'_>, PlanError> {
    let is_path = ["/", "./", "../", "~"].iter().any(|start| text.starts_with(start));
    match (Path::new(text).is_file(), is_path) {
        (true, _) => {
            let lower = text.to_ascii_lowercase();
            let is_of = |endings: &[&str]| endings.iter().any(|ending| lower.ends_with(&format!(".{ending}")));
            let hint = match (is_of(&IMPORTED), is_of(&LOGS)) {
                (true, _) => "convert it to a hurl file with 'torr import'".to_owned(),
                (_, true) => format!("for the requests of a log use 'URL --log {text}', or 'torr replay'"),
                _ => "use .hurl for a hurl file, .lua, .js or .ts for a script, .toml for a plan".to_owned(),
            };
            let host = if is_path { String::new() } else { format!("; for a host of that name use 'http://{text}/'") };
            Err(PlanError::Usage(format!("unknown file extension of '{text}' ({hint}{host})")))
        }
        (false, true) if Path::new(text).is_dir() => {
            Err(PlanError::Usage(format!("expected a file, found the directory '{text}'")))
        }
        (false, true) => Err(PlanError::Usage(format!("no such file: '{text}'"))),
        (false, false) if Path::new(text).is_dir() => Err(missing(text)),
        (false, false) => Ok(Word::Url(text)),
    }
}

fn missing(path: &str) -> PlanError {
    let what = if Path::new(path).is_dir() { "expected a file, found the directory" } else { "no such file:" };
    let host = path.trim_end_matches('/');
    PlanError::Usage(format!("{what} '{path}' (for a host of that name use 'http://{host}/')"))
}

fn ending(path: &str) -> Option<Ending> {
    match Path::new(path).extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "hurl" => Some(Ending::Hurl),
        "lua" => Some(Ending::Lua),
        "js" | "mjs" | "ts" => Some(Ending::K6),
        "toml" => Some(Ending::Plan),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(targets: &[&str]) -> Result<TargetKind, PlanError> {
        TargetKind::of(&targets.iter().map(|&target| target.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn targets_are_what_they_are_spelled_like() {
        let folder = tempfile::tempdir().expect("there is room");
        let file = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").expect("there is room");
            path.to_str().expect("it is text").to_owned()
        };
        let [hurl, other, lua, plan] = ["a.hurl", "b=2.HURL", "c.lua", "d.toml"].map(file);
        let weighted = |path: &str, weight| RunFile { path: path.into(), weight };
        for (targets, kind) in [
            (&[][..], TargetKind::Url(None)),
            (&["localhost:8080"], TargetKind::Url(Some("localhost:8080".into()))),
            (&["http://a/plan.toml"], TargetKind::Url(Some("http://a/plan.toml".into()))),
            (&["a:80/plan.toml"], TargetKind::Url(Some("a:80/plan.toml".into()))),
            (&[&*hurl], TargetKind::Sessions(vec![weighted(&hurl, 1)])),
            (&[&*other], TargetKind::Sessions(vec![weighted(&other, 1)])),
            (
                &[&*format!("{hurl}=7"), &*format!("{other}=1k")],
                TargetKind::Sessions(vec![weighted(&hurl, 7), weighted(&other, 1000)]),
            ),
            (&[&*lua], TargetKind::Script(lua.clone().into())),
            (&[&*plan], TargetKind::Plan(plan.clone().into())),
        ] {
            assert_eq!(of(targets), Ok(kind), "{targets:?}");
        }
        let (unknown, import, log) = (file("checkout"), file("visit.har"), file("access.log"));
        for (targets, words) in [
            (&["none.hurl"][..], "no such file: 'none.hurl' (for a host of that name use 'http://none.hurl/')"),
            (&["example.org/none.toml"], "http://example.org/none.toml/"),
            (&["./none"], "no such file: './none'"),
            (&["/"], "expected a file, found the directory '/'"),
            (&["src"], "expected a file, found the directory 'src' (for a host of that name use 'http://src/')"),
            (&[&*unknown], "use .hurl for a hurl file"),
            (&[&*import], "torr import"),
            (&[&*log], "use 'URL --log"),
            (&[&*format!("{hurl}=0")], "the weight of"),
            (&[&*format!("{hurl}=")], "the weight of"),
            (&[&*hurl, "http://a/"], "cannot load the URL 'http://a/'"),
            (&["a", "http://b/"], "expected one URL, found a second one 'http://b/'"),
            (&[&*hurl, &*lua], "must be the only target"),
            (&[&*plan, &*hurl], "must be the only target"),
        ] {
            let mistake = of(targets).expect_err(words);
            assert!(matches!(&mistake, PlanError::Usage(line) if line.contains(words)), "{targets:?}: {mistake:?}");
        }
    }
}
