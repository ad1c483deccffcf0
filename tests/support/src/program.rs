//! Running the program under test, and others beside it.

use crate::{PATIENCE, wait_until};
use serde_json::Value;
use std::env;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::thread;

/// What a program said before it ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `torr` to its end.
pub fn torr(args: &[&str]) -> Ended {
    Running::start(torr_command(args)).wait()
}

/// Runs `torr` with its result as JSON on standard output. The exit code is 0, or 1 with a line where no request got a response.
pub fn torr_json(args: &[&str]) -> Value {
    let ended = torr(&[args, &["--json", "-"]].concat());
    let result: Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}: {ended:?}"));
    let has_events = result["streams"]["events"].as_u64().is_some_and(|events| events > 0);
    let is_unanswered = result["requests"] == 0 && result["asked"] != 0 && !has_events;
    assert_eq!(ended.code, Some(i32::from(is_unanswered)), "{args:?}: {ended:?}");
    assert_eq!(ended.stderr.contains("torr: no request got a response: "), is_unanswered, "{args:?}: {ended:?}");
    result
}

/// Returns the path of `torr` as cargo has built the program for this test: in the folder above that of the test program.
pub fn torr_path() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| {
        let test = env::current_exe().expect("/proc is there");
        let folder =
            test.parent().and_then(Path::parent).expect("cargo builds test programs in a folder of a profile's");
        folder.join("torr").into_os_string().into_string().expect("the path is UTF-8")
    });
    &PATH
}

/// Returns the path of what `./test full` has built or installed: in the folder of all that is built.
///
/// # Panics
/// If it is not there.
pub fn built_by_full(path: &str) -> PathBuf {
    let folder = Path::new(torr_path()).ancestors().nth(2);
    let built = folder.expect("cargo builds into a folder of the profile's name").join(path);
    assert!(built.exists(), "there is no {}: ./test full builds it", built.display());
    built
}

/// `torr` as built for this test.
pub fn torr_command(args: &[&str]) -> Command {
    let mut command = Command::new(torr_path());
    command.args(args);
    command
}

/// A shell that runs a line in which `torr` is the program of [`torr_path`].
pub fn torr_shell(line: &str) -> Command {
    let folder = torr_path().strip_suffix("/torr").expect("the program is in a folder");
    let path = env::var("PATH").expect("there is a PATH");
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).env("PATH", format!("{folder}:{path}"));
    shell
}

/// Any other program, run to its end.
pub fn run(program: &str, args: &[&str]) -> Ended {
    let mut command = Command::new(program);
    command.args(args);
    Running::start(command).wait()
}

/// A running program; it is killed if the test loses interest.
pub struct Running {
    command: String,
    child: Child,
    readers: Option<[thread::JoinHandle<String>; 2]>,
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null());
        Self::start_with_its_input(command)
    }

    /// With the standard input that the command has.
    pub fn start_with_its_input(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        fn read(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
            thread::spawn(move || {
                let mut bytes = Vec::new();
                pipe.read_to_end(&mut bytes).expect("a pipe can be read");
                String::from_utf8_lossy(&bytes).into_owned()
            })
        }
        let stdout = read(child.stdout.take().expect("it was piped"));
        let stderr = read(child.stderr.take().expect("it was piped"));
        Self { command: format!("{command:?}"), child, readers: Some([stdout, stderr]) }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its standard input, where that is a pipe that was not taken yet.
    pub fn stdin(&mut self) -> ChildStdin {
        self.child.stdin.take().expect("its standard input is a pipe")
    }

    /// Sends a signal by its name, such as `INT`.
    pub fn signal(&self, name: &str) {
        signal(self.pid(), name);
    }

    /// Waits for its end.
    pub fn wait(mut self) -> Ended {
        let status = self.wait_for_exit();
        let [stdout, stderr] = self.readers.take().expect("only this takes them");
        let text = |reader: thread::JoinHandle<String>| reader.join().expect("reading does not panic");
        Ended { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }

    fn wait_for_exit(&mut self) -> ExitStatus {
        wait_until(&format!("{} to end within {PATIENCE:?}", self.command), || {
            self.child.try_wait().expect("a child can be waited for")
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Where it has ended already there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal by its name, such as `TERM`.
pub fn signal(pid: u32, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(status.is_ok_and(|s| s.success()), "cannot send {name} to {pid}");
}
