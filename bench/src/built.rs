//! The programs that are built for a run: this tree's release builds, and peers that are crates.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::error::Error;
use crate::interrupt;

/// How a program is built.
#[derive(Clone, Copy)]
pub struct Build {
    /// Folder of its cargo workspace, in this one.
    pub folder: &'static str,
    /// Its package, and the program's name.
    pub package: &'static str,
    /// The crate whose version is the program's, where it does not tell one itself.
    pub tells: Option<&'static str>,
}

/// The workspace's folder.
pub fn workspace() -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&package).join("..")
}

impl Build {
    /// Builds it in release mode, and returns where cargo put it.
    pub fn run(&self) -> Result<PathBuf, Error> {
        let package = self.package;
        eprintln!("building {package}");
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--release", "--locked", "-p", package, "--message-format=json-render-diagnostics"])
            .current_dir(workspace().join(self.folder))
            .stderr(Stdio::inherit())
            .output()
            .map_err(Error::at(format!("cannot run cargo to build {package}")))?;
        interrupt::check()?;
        if !built.status.success() {
            return Err(Error::failed(format!(
                "{package} does not build; leave it out with --only, or measure another torr with --torr PATH"
            )));
        }
        String::from_utf8_lossy(&built.stdout)
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|message| message["target"]["name"] == package)
            .find_map(|message| message["executable"].as_str().map(PathBuf::from))
            .ok_or_else(|| Error::failed(format!("cargo built {package} but named no program")))
    }

    /// The version of the crate that it is about.
    pub fn version(&self) -> Option<String> {
        let name = self.tells?;
        let lock = fs::read_to_string(workspace().join(self.folder).join("Cargo.lock")).ok()?;
        Some(format!("{name} {}", locked(&lock, name)?))
    }
}

/// The version that a lock file has of a crate.
fn locked<'a>(lock: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = lock.lines().skip_while(|line| *line != format!("name = \"{name}\""));
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::locked;

    #[test]
    fn versions_are_as_locked() {
        let lock = "[[package]]\nname = \"axum-core\"\nversion = \"0.5\"\n\n[[package]]\nname = \"axum\"\nversion = \"0.8.9\"\n";
        assert_eq!(locked(lock, "axum"), Some("0.8.9"));
        assert_eq!(locked(lock, "actix-web"), None);
    }
}
