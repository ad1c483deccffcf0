//! The folder of a server, and programs that run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Removed when this is dropped.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("torr-data-").tempdir().expect("there is a temporary folder");
        fs::create_dir(folder.path().join("data")).expect("the folder is ours");
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path().join("socket")
    }

    /// What its programs have said.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path().join("log")).unwrap_or_default()
    }

    /// A program of the server, which dies with this thread; `whose` are settings of `setpriv`.
    pub(crate) fn command(&self, program: &Path, whose: &[&str]) -> Command {
        let log = fs::File::options().append(true).create(true).open(self.path().join("log"));
        let log = log.expect("the folder is ours");
        let mut command = Command::new("setpriv");
        command.arg("--pdeathsig=KILL").args(whose);
        // MariaDB's, too, is not to be shared: an instance that starts clears what it finds there.
        command.env("TMPDIR", self.path());
        command.arg(program).current_dir(self.path()).stdin(Stdio::null());
        command.stdout(log.try_clone().expect("a file can be cloned")).stderr(log);
        command
    }

    /// Runs a program that sets the server up.
    pub(crate) fn set_up(&self, mut command: Command) {
        let ended = command.status().expect("setpriv comes with util-linux");
        assert!(ended.success(), "the server cannot be set up: {}", self.log());
    }

    /// Has it removed once this process has ended in any way: what is shared is never dropped.
    pub(crate) fn leave_to_janitor(&self) {
        let script = "cat; for n in $(seq 100); do rm -rf \"$0\" && exit; sleep 0.1; done";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(self.path());
        // Its input ends with this process.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        std::mem::forget(command.spawn().expect("there is a shell"));
    }
}

/// A program from PATH, or from where Debian keeps those that are not for everybody.
pub(crate) fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = debian.map(|version| version.path().join("bin"));
    let mut folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/bin".into()]).chain(debian);
    let found = folders.find_map(|folder| Some(folder.join(name)).filter(|file| file.is_file()));
    found.unwrap_or_else(|| panic!("{name} is missing: ./test installs it"))
}
