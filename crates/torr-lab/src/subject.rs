//! Subjects: programs that suites load, described by TOML files.

use crate::toml_file;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The placeholders of commands, files and variables, each with its meaning.
pub const PLACEHOLDERS: [(&str, &str); 10] = [
    ("{port}", "the port to listen on, on 127.0.0.1"),
    ("{workers}", "the number of workers, mostly one per CPU"),
    ("{here}", "the folder of the subject's own file"),
    ("{dir}", "a folder of this start alone, with the files of [files]"),
    ("{source}", "the folder of what 'build' has made, which is kept"),
    ("{torr}", "this program"),
    ("{database}", "the URL of the database, where the row of the suite has one"),
    ("{upstream}", "the port of the subject that 'upstream' names"),
    ("{cert}", "a certificate for 127.0.0.1 (PEM), where the row speaks TLS"),
    ("{key}", "its key (PEM)"),
];

/// A program that suites load: how it is got, built and started, and where it has what is requested.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The name, which is that of the file.
    #[serde(skip)]
    pub name: String,
    /// The folder of the file, if it is the user's.
    #[serde(skip)]
    pub folder: PathBuf,
    /// What it is, in one line.
    pub about: String,
    /// Programs that must be here; `$NAME` is an environment variable that must be set.
    #[serde(default)]
    pub needs: Vec<String>,
    /// How to get what is not here.
    pub get: Option<String>,
    /// The command that prints the version.
    pub version: Option<String>,
    /// Commands that build it, which run once in `{source}`, in this order.
    #[serde(default)]
    pub build: Vec<String>,
    /// Files that the build needs, by their names.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
    /// Files that are written into `{dir}` before each start, with placeholders.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Commands that run before the start, in `{dir}`.
    #[serde(default)]
    pub prepare: Vec<String>,
    /// The command that starts it in the foreground.
    pub command: String,
    /// The command that starts it with TLS.
    pub tls: Option<String>,
    /// Arguments that follow the command where there is a database.
    pub database: Option<String>,
    /// The databases that it can use, by the names of their subjects.
    #[serde(default)]
    pub databases: Vec<String>,
    /// Variables of its environment. `PORT`, `WORKERS` and `DATABASE_URL` are set in any case.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The subject that it is a proxy of, which is started before.
    pub upstream: Option<String>,
    /// The user to run as where Torr is root, for programs that refuse to be root.
    pub user: Option<String>,
    /// The URL of the database, where it is one.
    pub url: Option<String>,
    /// The paths of what suites request, by the suites' names of it.
    #[serde(default)]
    pub paths: BTreeMap<String, String>,
}

impl Subject {
    /// Reads a subject from the text of its file.
    ///
    /// # Errors
    /// One line: the file, the line, the column and what is wrong.
    pub fn parse(name: &str, file: &str, text: &str) -> Result<Self, String> {
        let subject: Self = toml_file::parse(file, text)?;
        let subject = Self { name: name.to_owned(), ..subject };
        let commands = [Some(&subject.command), subject.tls.as_ref(), subject.database.as_ref()];
        for text in commands.into_iter().flatten().chain(&subject.build).chain(&subject.prepare) {
            if let Some(unknown) = unknown_placeholder(text) {
                let known: Vec<_> = PLACEHOLDERS.iter().map(|(name, _)| *name).collect();
                return Err(format!("{file}: unknown placeholder {unknown}: use {}", known.join(", ")));
            }
        }
        if subject.url.is_none() && subject.paths.is_empty() {
            return Err(format!("{file}: missing [paths]: add the paths that suites request, such as hello = \"/\""));
        }
        Ok(subject)
    }

    /// Returns whether it is a database, which suites do not load themselves.
    pub fn is_database(&self) -> bool {
        self.url.is_some()
    }
}

/// Returns the first word in braces that is no placeholder. `{$NAME}` is an environment variable's value.
fn unknown_placeholder(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let end = rest[start..].find('}').map_or(rest.len(), |end| start + end + 1);
        let word = &rest[start..end];
        if !word.starts_with("{$") && PLACEHOLDERS.iter().all(|(name, _)| *name != word) {
            return Some(word);
        }
        rest = &rest[end..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_name_the_file_and_what_to_do() {
        let parse = |text: &str| Subject::parse("mine", "mine.toml", text).unwrap_err();
        assert!(
            parse("about = 'x'\ncommand = 'a {prot}'\n[paths]\nhello = '/'").contains("unknown placeholder {prot}")
        );
        assert!(parse("about = 'x'\ncommand = 'a'").contains("missing [paths]"));
        assert!(parse("about = 'x'\ncomand = 'a'").starts_with("mine.toml:2:1: unknown field `comand`"));
    }

    #[test]
    fn variables_are_placeholders_of_any_name() {
        assert_eq!(unknown_placeholder("php {$WEBMAN}/start.php {port}"), None);
        assert_eq!(unknown_placeholder("{port} {ports"), Some("{ports"));
    }
}
