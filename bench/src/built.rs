//! The programs that are built for a run: this tree's release builds, and peers that are crates.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use torr_test_support::error::Error;
use torr_test_support::interrupt;

/// How a program is built.
#[derive(Clone, Copy)]
pub struct Build {
    /// What builds it.
    pub by: By,
    /// Folder of its cargo workspace or Go module, in this one.
    pub folder: &'static str,
    /// Its package, and the program's name.
    pub package: &'static str,
    /// The crates or modules whose versions are the program's, where it does not tell one itself.
    pub tells: &'static [&'static str],
}

/// What builds a program.
#[derive(Clone, Copy)]
pub enum By {
    /// cargo, in release mode.
    Cargo,
    /// cargo, in release mode: this example of the package.
    CargoExample(&'static str),
    /// go.
    Go,
}

/// The workspace's folder.
pub fn workspace() -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&package).join("..")
}

impl Build {
    /// Builds it, and returns where its program is.
    pub fn run(&self) -> Result<PathBuf, Error> {
        eprintln!("building {}", self.package);
        self.name_manifest()?;
        let built = match self.by {
            By::Cargo => self.by_cargo(self.package, &[]),
            By::CargoExample(name) => self.by_cargo(name, &["--example", name]),
            By::Go => self.by_go(),
        };
        interrupt::check()?;
        built
    }

    /// Gives cargo the manifest of a subject of `torr lab`, which has another name there.
    fn name_manifest(&self) -> Result<(), Error> {
        let folder = workspace().join(self.folder);
        if !folder.join("manifest.toml").exists() {
            return Ok(());
        }
        match symlink("manifest.toml", folder.join("Cargo.toml")) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(Error::at(format!("cannot write to {}", folder.display()))(error))
            }
            _ => Ok(()),
        }
    }

    /// Returns the program of a target, which further words may name.
    fn by_cargo(&self, target: &str, more: &[&str]) -> Result<PathBuf, Error> {
        let package = self.package;
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command
            .args(["build", "--release", "--locked", "-p", package, "--message-format=json-render-diagnostics"])
            .args(more);
        let stdout = self.output(command)?;
        stdout
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|message| message["target"]["name"] == target)
            .find_map(|message| message["executable"].as_str().map(PathBuf::from))
            .ok_or_else(|| Error::failed(format!("cargo built {package} but named no program")))
    }

    /// Into a folder `target` of its own.
    fn by_go(&self) -> Result<PathBuf, Error> {
        let go = on_path("go").unwrap_or_else(|| "/usr/local/go/bin/go".into());
        let program = fs::canonicalize(workspace().join(self.folder))?.join("target").join(self.package);
        let mut command = Command::new(go);
        command.args(["build", "-mod=readonly", "-buildvcs=false", "-o"]).arg(&program).arg(".");
        self.output(command).map(|_| program)
    }

    /// What a command writes on stdout, run in the folder; an error if it fails.
    fn output(&self, mut command: Command) -> Result<String, Error> {
        let name = self.package;
        let with = command.get_program().to_string_lossy().into_owned();
        let out = command.current_dir(workspace().join(self.folder)).stderr(Stdio::inherit()).output();
        let out = out.map_err(Error::at(format!("cannot run {with} to build {name}")))?;
        match out.status.success() {
            true => Ok(String::from_utf8_lossy(&out.stdout).into_owned()),
            false => Err(Error::failed(format!(
                "{name} does not build; leave it out with --only, or measure another torr with --torr PATH"
            ))),
        }
    }

    /// The versions of the crates or modules that it is about.
    pub fn version(&self) -> Option<String> {
        let (file, read): (_, fn(&str, &str) -> Option<String>) = match self.by {
            By::Cargo | By::CargoExample(_) => ("Cargo.lock", locked),
            By::Go => ("go.mod", required),
        };
        let text = fs::read_to_string(workspace().join(self.folder).join(file)).ok()?;
        let versions = self.tells.iter().map(|name| {
            let short = name.rsplit('/').find(|part| !is_major(part)).unwrap_or(name);
            Some(format!("{short} {}", read(&text, name)?))
        });
        Some(versions.collect::<Option<Vec<_>>>()?.join(", "))
    }
}

/// A program on the PATH, or where Debian keeps those that are not for everybody: nginx, PostgreSQL's.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let postgres = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let postgres = postgres.map(|version| version.path().join("bin"));
    env::split_paths(&path)
        .chain([PathBuf::from("/usr/sbin")])
        .chain(postgres)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// The version that a lock file has of a crate.
fn locked(lock: &str, name: &str) -> Option<String> {
    let mut lines = lock.lines().skip_while(|line| *line != format!("name = \"{name}\""));
    Some(lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')?.to_owned())
}

/// The version of a module in a `go.mod`.
fn required(go_mod: &str, name: &str) -> Option<String> {
    let of_one = |line: &str| line.trim().trim_start_matches("require ").to_owned();
    let line = |line: &str| Some(of_one(line).strip_prefix(name)?.strip_prefix(" v")?.to_owned());
    go_mod.lines().find_map(line)
}

/// The part of a Go module's name that says its major version, such as `v5`.
fn is_major(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|rest| rest.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::{Build, By, locked, required};

    #[test]
    fn versions_are_as_locked() {
        let lock = "[[package]]\nname = \"axum-core\"\nversion = \"0.5\"\n\n[[package]]\nname = \"axum\"\nversion = \"0.8.9\"\n";
        assert_eq!(locked(lock, "axum"), Some("0.8.9".into()));
        assert_eq!(locked(lock, "actix-web"), None);
    }

    #[test]
    fn versions_are_as_required() {
        let go_mod =
            "module m\n\nrequire (\n\tgithub.com/gin-gonic/gin v1.12.0\n\tgithub.com/jackc/pgx/v5 v5.12.0\n)\n";
        assert_eq!(required(go_mod, "github.com/gin-gonic/gin"), Some("1.12.0".into()));
        assert_eq!(required(go_mod, "github.com/gin-gonic"), None);
        assert_eq!(required("module m\n\nrequire a.test/one v0.2.0\n", "a.test/one"), Some("0.2.0".into()));
    }

    #[test]
    fn peers_tell_the_versions_of_what_they_show() {
        let tells = &["github.com/gin-gonic/gin", "github.com/jackc/pgx/v5"];
        let version =
            Build { by: By::Go, folder: "crates/torr-lab/shipped/subjects/gin", package: "gin-peer", tells }.version();
        let version = version.expect("both are in its go.mod");
        assert!(version.starts_with("gin 1.") && version.contains(", pgx 5."), "{version}");
    }
}
