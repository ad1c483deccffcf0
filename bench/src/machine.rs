//! What a run was made on: the machine, its compiler, the tools' versions and this tree's revision. Nothing that names a host.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::process::{Command, Stdio};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::sched_getaffinity;
use serde::Serialize;

use crate::built::workspace;
use crate::candidates::{FLOOR, Origin, TORR};
use crate::child::{LOAD_CPU, SERVER_CPU};
use crate::roster::Roster;
use torr_test_support::error::Error;

/// Open files that a program needs beside its connections.
const SPARE_FILES: u64 = 100;

/// Makes sure that the run can be done here: two CPUs, and enough open files for the most connections.
pub fn check(connections: u32) -> Result<(), Error> {
    let cpus = sched_getaffinity(None)?;
    if !(cpus.is_set(SERVER_CPU) && cpus.is_set(LOAD_CPU)) {
        return Err(Error::failed(format!("CPUs {SERVER_CPU} and {LOAD_CPU} are needed, one for each side")));
    }
    let needed = u64::from(connections) + SPARE_FILES;
    let limit = getrlimit(Resource::Nofile);
    if limit.maximum.is_some_and(|maximum| maximum < needed) {
        return Err(Error::failed(format!(
            "{needed} open files are needed, the hard limit is {}: raise it (ulimit -Hn), or ask for fewer --connections",
            limit.maximum.unwrap_or_default()
        )));
    }
    // All that is started inherits it.
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    Ok(())
}

/// The machine and what runs on it.
#[derive(Serialize)]
pub struct Machine {
    /// Short git revision, with `-dirty` if anything but archived runs differs from it.
    pub revision: String,
    /// The CPU's model name.
    pub cpu: String,
    /// CPUs this process may run on.
    pub cores: usize,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// The kernel's release.
    pub kernel: String,
    /// Load averages of 1, 5 and 15 minutes before the run: what else went on.
    pub load_average: String,
    /// The Rust compiler's version.
    pub rustc: String,
    /// Each tool's version in its own words.
    pub tools: BTreeMap<&'static str, String>,
    /// Whether `torr` is the build of this revision, not a program given by `--torr`.
    pub torr_is_this_revision: bool,
    /// Tools that were not here.
    pub left_out: Vec<&'static str>,
}

impl Machine {
    /// Describes this machine, before the run.
    pub fn describe(roster: &Roster) -> Self {
        let own = |name: &'static str| (name, format!("torr-bench {}", env!("CARGO_PKG_VERSION")));
        let tools = roster.tools().map(|(tool, program)| match tool.origin {
            Origin::Built(build) if !build.tells.is_empty() => (tool.name, build.version().unwrap_or_default()),
            _ => (tool.name, version(program, tool.version).replace(program, tool.name)), // some name their folder
        });
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        Machine {
            revision: revision(),
            cpu: field("/proc/cpuinfo", "model name").unwrap_or_else(|| env::consts::ARCH.into()),
            cores: std::thread::available_parallelism().map_or(0, |n| n.get()),
            memory_mib: field("/proc/meminfo", "MemTotal")
                .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok())
                .map_or(0, |kib| kib / 1024),
            kernel: read("/proc/sys/kernel/osrelease"),
            load_average: read("/proc/loadavg").split_whitespace().take(3).collect::<Vec<_>>().join(" "),
            rustc: version(rustc, &["--version"]),
            tools: [own(FLOOR)].into_iter().chain(tools).collect(),
            torr_is_this_revision: roster.torr_is_ours && roster.has(TORR),
            left_out: roster.left_out.clone(),
        }
    }
}

fn read(file: &str) -> String {
    fs::read_to_string(file).unwrap_or_default().trim().to_owned()
}

/// The value of the first line `NAME: VALUE`.
fn field(file: &str, name: &str) -> Option<String> {
    let text = read(file);
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The first line of a program's version, on either stream.
fn version(program: impl AsRef<OsStr>, args: &[&str]) -> String {
    let said = match args {
        [] => None, // it has no such option
        _ => Command::new(program).args(args).stdin(Stdio::null()).output().ok(),
    };
    said.and_then(|out| {
        let first = |text: &[u8]| {
            String::from_utf8_lossy(text).lines().map(str::trim).find(|l| !l.is_empty()).map(str::to_owned)
        };
        first(&out.stdout).or_else(|| first(&out.stderr))
    })
    .unwrap_or_else(|| "unknown".into())
}

/// Short git revision of the tree. Archived runs do not make it dirty: else only the first run of a revision could be clean.
fn revision() -> String {
    let git = |args: &[&str]| {
        let out = Command::new("git").args(args).current_dir(workspace()).stderr(Stdio::null()).output().ok()?;
        out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
    };
    let Some(revision) = git(&["rev-parse", "--short", "HEAD"]) else { return "norev".into() };
    match git(&["status", "--porcelain", "--", ".", ":(exclude)bench/runs"]) {
        Some(changes) if changes.is_empty() => revision,
        _ => format!("{revision}-dirty"),
    }
}
