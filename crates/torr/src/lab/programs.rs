//! What a subject needs before it can be started: programs that are found, sources that are built once.

use super::call::{Ended, call};
use super::folder;
use sha2::{Digest, Sha256};
use std::env;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use torr_lab::subject::Subject;
use torr_net::errors::describe;
use torr_report::human::cut;

/// The longest time that building a subject may take.
const BUILD: Duration = Duration::from_secs(20 * 60);
/// The longest time of a command that prepares a start, or prints a version.
const PREPARE: Duration = Duration::from_secs(60);
/// The mark of a folder whose build has ended well.
const BUILT: &str = ".built";

/// A subject that can be started.
#[derive(Debug, Clone)]
pub struct Program {
    /// The subject.
    pub subject: Subject,
    /// The folder of what was built.
    pub source: PathBuf,
}

impl Program {
    /// Finds what the subject needs, and builds it unless that was done before.
    pub fn find(subject: &Subject, stop: &AtomicBool, tell: &dyn Fn(&str)) -> Result<Self, Ended> {
        missing(subject)?;
        let source = match subject.build.is_empty() {
            true => PathBuf::new(),
            false => built(subject, stop, tell)?,
        };
        Ok(Self { subject: subject.clone(), source })
    }

    /// Returns the first line of what the subject prints about its version.
    pub fn version(&self, stop: &AtomicBool) -> Option<String> {
        let torr = env::current_exe().ok()?;
        let values = [("{source}", &self.source), ("{here}", &self.subject.folder), ("{torr}", &torr)];
        let values = values.map(|(name, path)| (name, path.display().to_string()));
        let command = fill(self.subject.version.as_ref()?, &values);
        let folder = folder::temporary().ok()?;
        let said = to_end(&command, folder.path(), PREPARE, stop).ok()?;
        said.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    }
}

/// Returns an error if something is missing that the subject needs.
pub fn missing(subject: &Subject) -> Result<(), String> {
    let is_there = |need: &str| match need.strip_prefix('$') {
        Some(variable) => env::var_os(variable).is_some_and(|value| !value.is_empty()),
        None => is_here(need),
    };
    let missing: Vec<_> = subject.needs.iter().filter(|need| !is_there(need)).map(String::as_str).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let get = subject.get.as_ref().map_or_else(String::new, |get| format!("; {get}"));
    Err(format!("{} not found{get}", missing.join(" and ")))
}

/// Returns whether there is such a program, or a file by that path.
pub fn is_here(name: &str) -> bool {
    let is_program =
        |path: PathBuf| path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
    env::split_paths(&path()).any(|folder| is_program(folder.join(name)))
}

/// Returns PATH, with the folders of servers behind it: Debian keeps PostgreSQL's programs by version.
pub fn path() -> OsString {
    let own = env::var_os("PATH").unwrap_or_default();
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
    versions.sort();
    versions.reverse();
    let folders = env::split_paths(&own).chain(["/usr/sbin".into(), "/sbin".into()]).chain(versions);
    // Only a folder with a colon in its name cannot be joined, and these came from such a list.
    env::join_paths(folders).unwrap_or(own)
}

/// Replaces placeholders by their values, `{$NAME}` by a variable of the environment.
pub fn fill(text: &str, values: &[(&str, String)]) -> String {
    let mut filled = values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value));
    while let Some((start, end)) = filled.find("{$").and_then(|start| Some((start, start + filled[start..].find('}')?)))
    {
        let value = env::var(&filled[start + 2..end]).unwrap_or_default();
        filled.replace_range(start..=end, &value);
    }
    filled
}

/// Builds a subject in a folder that is kept, by the digest of all that its build consists of.
fn built(subject: &Subject, stop: &AtomicBool, tell: &dyn Fn(&str)) -> Result<PathBuf, Ended> {
    let folder = cache()?.join(format!("{}-{}", subject.name, digest(subject)));
    if folder.join(BUILT).exists() {
        return Ok(folder);
    }
    tell(&format!(
        "{}: compiling in {} (only before the first run; this can take minutes)",
        subject.name,
        folder.display()
    ));
    let begun = Instant::now();
    let failed = |error: std::io::Error| format!("cannot build in {}: {}", folder.display(), describe(&error));
    for (name, text) in &subject.sources {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap_or(&folder)).map_err(failed)?;
        fs::write(&file, text).map_err(failed)?;
    }
    for command in &subject.build {
        let values = [("{source}", &folder), ("{here}", &subject.folder)];
        let command = fill(command, &values.map(|(name, path)| (name, path.display().to_string())));
        to_end(&command, &folder, BUILD, stop).map_err(|ended| match ended {
            Ended::Failed(why) => format!("cannot build: {why}").into(),
            Ended::Interrupted => Ended::Interrupted,
        })?;
    }
    fs::write(folder.join(BUILT), "").map_err(failed)?;
    tell(&format!("{}: compiled in {:.0} s", subject.name, begun.elapsed().as_secs_f64()));
    Ok(folder)
}

/// Returns the folder of what is built.
fn cache() -> Result<PathBuf, String> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    base.map(|base| base.join("torr/lab")).ok_or_else(|| "cannot build: set XDG_CACHE_HOME or HOME".into())
}

fn digest(subject: &Subject) -> String {
    let mut hash = Sha256::new();
    let sources = subject.sources.iter().flat_map(|(name, text)| [name, text]);
    for part in sources.chain(&subject.build) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(6).fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to memory does not fail");
        text
    })
}

/// Runs a command in a folder to its end, and returns what it printed.
pub fn to_end(command: &str, folder: &Path, longest: Duration, stop: &AtomicBool) -> Result<String, Ended> {
    to_end_as(command, command, folder, longest, stop)
}

/// Runs a command, which may be wrapped into others, in a folder to its end. `own` is the command without these, which errors name.
pub fn to_end_as(
    own: &str,
    command: &str,
    folder: &Path,
    longest: Duration,
    stop: &AtomicBool,
) -> Result<String, Ended> {
    let split = |command: &str| shlex::split(command).filter(|words| !words.is_empty());
    let words = split(own).zip(split(command));
    let (own, words) = words.ok_or_else(|| format!("cannot split '{own}' into words: a quote is not closed"))?;
    let mut program = Command::new(&words[0]);
    let output = call(program.args(&words[1..]).current_dir(folder).env("PATH", path()), longest, stop)?;
    if output.success {
        return Ok(output.stdout + &output.stderr);
    }
    Err(format!("'{}' failed: {}", own[0], cut(output.last_line(), 200)).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(needs: &[&str]) -> Subject {
        let text = "about = 'x'\ncommand = 'a'\nget = 'apt-get install it'\n[paths]\nhello = '/'";
        let subject = Subject::parse("mine", "mine.toml", text).expect("it is sound");
        Subject { needs: needs.iter().map(|&need| need.to_owned()).collect(), ..subject }
    }

    #[test]
    fn what_is_missing_is_named_with_how_to_get_it() {
        assert_eq!(missing(&subject(&["sh"])), Ok(()));
        let why = missing(&subject(&["sh", "no-such-program", "$NO_SUCH_VARIABLE"])).unwrap_err();
        assert_eq!(why, "no-such-program and $NO_SUCH_VARIABLE not found; apt-get install it");
    }

    #[test]
    fn a_build_is_done_again_only_if_something_of_it_changed() {
        let one = Subject { build: vec!["make".into()], ..subject(&[]) };
        let other = Subject { sources: [("a".into(), "b".into())].into(), ..one.clone() };
        assert_eq!(digest(&one), digest(&Subject { about: "y".into(), ..one.clone() }));
        assert_ne!(digest(&one), digest(&other));
    }

    #[test]
    fn a_command_that_fails_says_its_last_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = |command: &str| to_end(command, folder.path(), PREPARE, &AtomicBool::new(false));
        assert_eq!(run("sh -c 'echo fine'").expect("it ends well"), "fine\n");
        let Err(Ended::Failed(why)) = run("sh -c 'echo first; echo last >&2; exit 3'") else { panic!("it fails") };
        assert_eq!(why, "'sh' failed: last");
        let wrapped = to_end_as("false", "sh -c false", folder.path(), PREPARE, &AtomicBool::new(false));
        assert_eq!(wrapped, Err(Ended::Failed("'false' failed: no output".into())));
    }
}
