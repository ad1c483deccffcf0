//! The arguments of the loads of a suite, with the files that they name.

use super::call::Ended;
use super::folder;
use super::load::torr;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tempfile::TempDir;
use torr_lab::suite::{Level, Suite};
use torr_net::errors::describe;

/// The requests of a suite at a scale.
pub struct Requests<'s> {
    suite: &'s Suite,
    scale: f64,
    /// Lists of URLs and bodies.
    folder: TempDir,
}

impl<'s> Requests<'s> {
    /// Prepares the requests.
    ///
    /// # Errors
    /// If there is no temporary folder.
    pub fn new(suite: &'s Suite, scale: f64) -> Result<Self, String> {
        Ok(Self { suite, scale, folder: folder::temporary()? })
    }

    /// Returns the first mistake in the rows, in one line. Nothing is sent.
    pub fn mistake(&self, stop: &AtomicBool) -> Option<String> {
        let levels = self.suite.levels();
        levels.iter().find_map(|level| {
            let row = &self.suite.rows[level.row];
            let url = format!("{}://127.0.0.1:1/", if row.tls { "https" } else { "http" });
            let called = self.arguments(level, url, None).map_err(Ended::from).and_then(|arguments| {
                let arguments: Vec<_> =
                    arguments.into_iter().chain(["--print-plan".into()]).map(OsString::from).collect();
                torr(&arguments, stop)
            });
            let mistake = match called {
                Err(Ended::Failed(mistake)) => mistake,
                Ok(output) if !output.success => {
                    let line = output.stderr.lines().next().unwrap_or("no output");
                    line.trim_start_matches("torr: ").to_owned()
                }
                // What was interrupted ends with the first run.
                Err(Ended::Interrupted) | Ok(_) => return None,
            };
            Some(format!("row '{}' of {}: {mistake}", level.name, self.suite.name))
        })
    }

    /// Returns the arguments of a load.
    ///
    /// # Errors
    /// In one line.
    pub fn arguments(&self, level: &Level, url: String, certificate: Option<&Path>) -> Result<Vec<String>, String> {
        let row = &self.suite.rows[level.row];
        let milliseconds = |length: Duration| format!("{}ms", length.as_millis());
        let mut arguments = vec![url];
        let mut put = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
        if let Some(connections) = level.connections {
            put("--connections", connections.to_string());
        }
        match row.requests {
            Some(requests) => put("--requests", ((requests as f64 * self.scale).ceil() as u64).max(1).to_string()),
            None => {
                put("--duration", milliseconds(self.suite.length(self.scale)));
                let warmup = self.suite.warmup(self.scale);
                if !warmup.is_zero() {
                    put("--warmup", milliseconds(warmup));
                }
            }
        }
        if let Some(certificate) = certificate {
            put("--cacert", certificate.display().to_string());
        }
        if let Some(urls) = &row.urls {
            put("--urls", self.written(level, "urls", urls.as_bytes())?);
        }
        if let Some(length) = row.body_bytes {
            put("--request", "POST".into());
            put("--data-binary", format!("@{}", self.written(level, "body", &vec![b'x'; length])?));
        }
        let flags = shlex::split(&row.flags);
        arguments.extend(
            flags.ok_or_else(|| format!("cannot split the flags '{}' into words: a quote is not closed", row.flags))?,
        );
        Ok(arguments)
    }

    /// Writes a file of a row, once, and returns its path.
    fn written(&self, level: &Level, name: &str, bytes: &[u8]) -> Result<String, String> {
        let path = self.folder.path().join(format!("{}-{name}", level.row));
        if !path.exists() {
            let written = fs::write(&path, bytes);
            written.map_err(|error| format!("cannot write {}: {}", path.display(), describe(&error)))?;
        }
        Ok(path.display().to_string())
    }
}
