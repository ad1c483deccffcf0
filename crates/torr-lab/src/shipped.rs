//! The suites and subjects that come with the program, and those of the user's own files.

use crate::subject::Subject;
use crate::suite::Suite;
use std::fs;
use std::path::Path;

/// The files below `shipped/`: their paths there, and their texts.
static FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// The name of the file of a subject that has a folder with its sources.
const SUBJECT: &str = "subject.toml";

/// Returns the names of the suites that come with the program.
pub fn suites() -> Vec<&'static str> {
    FILES.iter().filter_map(|(path, _)| path.strip_prefix("suites/")?.strip_suffix(".toml")).collect()
}

/// Returns the names of the subjects that come with the program.
pub fn subjects() -> Vec<&'static str> {
    let name = |path: &'static str| {
        let name = path.strip_prefix("subjects/")?;
        name.strip_suffix(".toml").filter(|name| !name.contains('/')).or_else(|| name.strip_suffix("/subject.toml"))
    };
    FILES.iter().filter_map(|(path, _)| name(path)).collect()
}

/// Returns a suite by its name, or by the path of a file of the user's.
///
/// # Errors
/// One line: what is wrong with the file, or which suites there are.
pub fn suite(name: &str) -> Result<Suite, String> {
    if let Some((stem, text)) = own(name)? {
        return Suite::parse(&stem, name, &text);
    }
    let path = format!("suites/{name}.toml");
    match text(&path) {
        Some(text) => Suite::parse(name, &path, text),
        None => Err(format!("unknown suite '{name}': use {}, or a file NAME.toml", suites().join(", "))),
    }
}

/// Returns a subject by its name, or by the path of a file of the user's.
///
/// # Errors
/// One line: what is wrong with the file, or which subjects there are.
pub fn subject(name: &str) -> Result<Subject, String> {
    if let Some((stem, text)) = own(name)? {
        let path = fs::canonicalize(name).map_err(|error| format!("cannot read {name}: {error}"))?;
        let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
        return Ok(Subject { folder, ..Subject::parse(&stem, name, &text)? });
    }
    let (single, folder) = (format!("subjects/{name}.toml"), format!("subjects/{name}/"));
    if let Some(text) = text(&single) {
        return Subject::parse(name, &single, text);
    }
    let path = format!("{folder}{SUBJECT}");
    let Some(text) = text(&path) else {
        return Err(format!("unknown subject '{name}': use {}, or a file NAME.toml", subjects().join(", ")));
    };
    let mut subject = Subject::parse(name, &path, text)?;
    let beside = FILES.iter().filter_map(|(path, text)| Some((path.strip_prefix(&folder)?, *text)));
    subject.sources.extend(beside.filter(|(name, _)| *name != SUBJECT).map(|(name, text)| (name.into(), text.into())));
    Ok(subject)
}

/// Returns the stem and the text of a file of the user's, if the name is the path of one.
fn own(name: &str) -> Result<Option<(String, String)>, String> {
    let path = Path::new(name);
    if path.extension().is_none_or(|extension| extension != "toml") {
        return Ok(None);
    }
    let text = fs::read_to_string(path).map_err(|error| format!("cannot read {name}: {error}"))?;
    let stem = path.file_stem().map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned());
    Ok(Some((stem, text)))
}

fn text(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_shipped_is_sound_and_fits() {
        for name in suites() {
            let suite = suite(name).unwrap_or_else(|error| panic!("{error}"));
            for subject in &suite.subjects {
                let subject = super::subject(subject).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(!subject.is_database(), "{name} loads {}, which is a database", subject.name);
                let paths = suite.rows.iter().filter(|row| subject.paths.contains_key(&row.path));
                assert!(paths.count() > 0, "{} has no path of {name}", subject.name);
            }
            for database in suite.rows.iter().flat_map(|row| &row.databases) {
                assert!(super::subject(database).is_ok_and(|subject| subject.is_database()), "{name}: {database}");
            }
        }
        for name in subjects() {
            let subject = subject(name).unwrap_or_else(|error| panic!("{error}"));
            let others = subject.databases.iter().chain(&subject.upstream);
            for other in others {
                assert!(super::subject(other).is_ok(), "{name} names {other}");
            }
            let says_how = subject.needs.is_empty() || subject.get.is_some();
            assert!(says_how, "{name} does not say how to get what it needs");
        }
    }

    #[test]
    fn what_is_not_there_says_how_with_what_is() {
        assert!(suite("webmann").unwrap_err().contains("webman-reference"));
        assert!(subject("./none.toml").unwrap_err().contains("cannot read ./none.toml"));
    }
}
