//! The lines of a run's log: those of the script's console, and what the run itself has to say.

use crate::error::{ErrorKind, ScriptError};
use chrono::{Local, SecondsFormat};
use serde_json::{Map, Value};
use std::fmt::{self, Debug, Formatter};
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// How important a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A line that is shown with `--verbose` only.
    Debug,
    /// A line of usual importance.
    Info,
    /// Something that may be wrong.
    Warning,
    /// Something that is wrong.
    Error,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// The name in four letters, and its colour.
    fn short(self) -> (&'static str, u8) {
        match self {
            Self::Debug => ("DEBU", 37),
            Self::Info => ("INFO", 36),
            Self::Warning => ("WARN", 33),
            Self::Error => ("ERRO", 31),
        }
    }
}

/// The form of lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Names and values, or a form for people on a terminal.
    #[default]
    Text,
    /// An object of JSON in each line.
    Json,
    /// The message alone.
    Raw,
}

/// Where lines go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LogOutput {
    /// Standard error.
    #[default]
    Stderr,
    /// Standard output.
    Stdout,
    /// Nowhere.
    None,
    /// The end of the file at this path.
    File(String),
}

/// What the log of a run is to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogSettings {
    /// The form of lines.
    pub format: LogFormat,
    /// Where lines go.
    pub output: LogOutput,
    /// The file that lines of the script's console go to, if they are to go elsewhere.
    pub console_output: Option<String>,
    /// Whether lines for [`Level::Debug`] are shown.
    pub verbose: bool,
    /// Whether a terminal shows no colours.
    pub no_color: bool,
}

/// The log of a run, which all threads write to.
pub struct Log {
    settings: LogSettings,
    begun: Instant,
    is_terminal: bool,
    lines: Mutex<Option<Box<dyn Write + Send>>>,
    console: Option<Mutex<File>>,
    is_muted: AtomicBool,
}

impl Default for Log {
    fn default() -> Self {
        Self::to(LogSettings::default(), Some(Box::new(io::stderr())), io::stderr().is_terminal())
    }
}

impl Debug for Log {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.settings.fmt(out)
    }
}

impl Log {
    /// Opens the log.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn open(settings: LogSettings) -> Result<Self, ScriptError> {
        let open = |path: &str| {
            let opened = OpenOptions::new().create(true).append(true).open(path);
            opened
                .map_err(|error| ScriptError::new(ErrorKind::Other, format!("cannot write the log '{path}': {error}")))
        };
        let console = settings.console_output.as_deref().map(open).transpose()?;
        let (lines, is_terminal): (Option<Box<dyn Write + Send>>, _) = match &settings.output {
            LogOutput::Stderr => (Some(Box::new(io::stderr())), io::stderr().is_terminal()),
            LogOutput::Stdout => (Some(Box::new(io::stdout())), io::stdout().is_terminal()),
            LogOutput::None => (None, false),
            LogOutput::File(path) => (Some(Box::new(open(path)?)), false),
        };
        let log = Self::to(settings, lines, is_terminal);
        Ok(Self { console: console.map(Mutex::new), ..log })
    }

    /// Returns a log whose lines go to a writer.
    pub fn to(settings: LogSettings, lines: Option<Box<dyn Write + Send>>, is_terminal: bool) -> Self {
        Self {
            settings,
            begun: Instant::now(),
            is_terminal,
            lines: Mutex::new(lines),
            console: None,
            is_muted: AtomicBool::new(false),
        }
    }

    /// Writes a line of the script's console.
    pub fn console(&self, level: Level, message: &str) {
        let fields = [("source", "console")];
        match &self.console {
            Some(file) if self.shows(level) => {
                let line = self.line(level, message, &fields, false);
                // There is nowhere to say that a line of the log is lost.
                let _ = file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
            }
            _ => self.write(level, message, &fields),
        }
    }

    /// Writes a line with further fields, each a name and a value.
    pub fn write(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        if !self.shows(level) {
            return;
        }
        let line = self.line(level, message, fields, self.is_terminal);
        if let Some(lines) = &mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = lines.write_all(line.as_bytes()).and_then(|()| lines.flush());
        }
    }

    /// Writes all further lines of the log to a writer, but for those that have a file.
    pub fn divert(&self, to: Box<dyn Write + Send>) {
        if self.settings.output != LogOutput::None {
            *self.lines.lock().unwrap_or_else(PoisonError::into_inner) = Some(to);
        }
    }

    /// Drops all further lines, or writes them again.
    pub fn mute(&self, is_muted: bool) {
        self.is_muted.store(is_muted, Ordering::Relaxed);
    }

    /// Returns whether lines of a level are written at all.
    pub fn shows(&self, level: Level) -> bool {
        !self.is_muted.load(Ordering::Relaxed) && (level > Level::Debug || self.settings.verbose)
    }

    fn line(&self, level: Level, message: &str, fields: &[(&str, &str)], is_terminal: bool) -> String {
        let mut fields = fields.to_vec();
        fields.sort_unstable();
        let now = || Local::now().to_rfc3339_opts(SecondsFormat::Secs, true);
        match self.settings.format {
            LogFormat::Raw => format!("{message}\n"),
            LogFormat::Json => {
                let all = [("level", level.name()), ("msg", message), ("time", &now())];
                let all = all.into_iter().chain(fields);
                let object: Map<_, _> = all.map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
                format!("{}\n", Value::Object(object))
            }
            LogFormat::Text if is_terminal => {
                let ((short, colour), seconds) = (level.short(), self.begun.elapsed().as_secs());
                let paint = |text: &str| match self.settings.no_color {
                    true => text.to_owned(),
                    false => format!("\x1b[{colour}m{text}\x1b[0m"),
                };
                let fields = fields.iter().map(|(name, value)| format!(" {}={}", paint(name), value_text(value)));
                let message = message.strip_suffix('\n').unwrap_or(message);
                format!("{}[{seconds:04}] {message:<44}{}\n", paint(short), fields.collect::<String>())
            }
            LogFormat::Text => {
                let shown = if message.is_empty() { String::new() } else { format!(" msg={}", value_text(message)) };
                let fields = fields.iter().map(|(name, value)| format!(" {name}={}", value_text(value)));
                format!("time=\"{}\" level={}{shown}{}\n", now(), level.name(), fields.collect::<String>())
            }
        }
    }
}

/// Returns a value as it stands behind its name: in quotes unless it is a plain word.
fn value_text(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/@^+".contains(&byte);
    if value.is_empty() || value.bytes().all(is_plain) {
        return value.to_owned();
    }
    let mut text = String::with_capacity(value.len() + 2);
    text.push('"');
    for character in value.chars() {
        match character {
            '"' => text += "\\\"",
            '\\' => text += "\\\\",
            '\n' => text += "\\n",
            '\r' => text += "\\r",
            '\t' => text += "\\t",
            control if control.is_ascii_control() => text += &format!("\\x{:02x}", u32::from(control)),
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(settings: LogSettings, is_terminal: bool) -> String {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("log");
        let file = File::create(&path).expect("the folder can be written");
        let log = Log::to(settings, Some(Box::new(file)), is_terminal);
        log.console(Level::Info, "two\nlines \"here\"");
        log.console(Level::Info, "word");
        log.console(Level::Debug, "hidden");
        log.console(Level::Info, "");
        log.write(Level::Error, "no luck", &[("scenario", "default"), ("executor", "a b")]);
        std::fs::read_to_string(path).expect("the log was written")
    }

    #[test]
    fn lines_have_the_form_of_the_settings() {
        let text = lines(LogSettings::default(), false);
        let ends: Vec<_> = text.lines().map(|line| line.split_once("Z\" ").map_or(line, |(_, rest)| rest)).collect();
        let utc = text.contains("Z\" ");
        if utc {
            let expected = [
                r#"level=info msg="two\nlines \"here\"" source=console"#,
                "level=info msg=word source=console",
                "level=info source=console",
                r#"level=error msg="no luck" executor="a b" scenario=default"#,
            ];
            assert_eq!(ends, expected);
        }
        let terminal = lines(LogSettings { no_color: true, ..LogSettings::default() }, true);
        let word = format!("INFO[0000] {:<44} source=console", "word");
        assert!(terminal.lines().any(|line| line == word), "{terminal}");
        assert!(lines(LogSettings::default(), true).contains("\x1b[31mERRO\x1b[0m[0000] no luck"));
        let json = lines(LogSettings { format: LogFormat::Json, verbose: true, ..LogSettings::default() }, false);
        let parsed: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
        assert_eq!((parsed.len(), &parsed[0]["msg"]), (5, &"two\nlines \"here\"".into()));
        let raw = lines(LogSettings { format: LogFormat::Raw, ..LogSettings::default() }, false);
        assert_eq!(raw, "two\nlines \"here\"\nword\n\nno luck\n");
    }

    #[test]
    fn the_console_may_have_a_file_of_its_own() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let settings = LogSettings {
            output: LogOutput::File(path("log")),
            console_output: Some(path("console")),
            ..LogSettings::default()
        };
        let log = Log::open(settings).expect("the folder can be written");
        log.console(Level::Info, "from the script");
        log.write(Level::Warning, "from the run", &[]);
        let read = |name: &str| std::fs::read_to_string(path(name)).expect("the file is there");
        assert!(read("console").contains("from the script") && !read("console").contains("from the run"));
        assert!(read("log").contains("from the run") && !read("log").contains("from the script"));
        let wrong = LogSettings { output: LogOutput::File("/nowhere/log".to_owned()), ..LogSettings::default() };
        assert!(Log::open(wrong).is_err());
    }
}
