//! Programs that are run to their end, and why work of the lab ends without a result.

use crate::exit::CliError;
use crate::group::Group;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use torr_doctor::Halt;
use torr_net::errors::describe;

/// The interval of polling.
const TICK: Duration = Duration::from_millis(10);
/// The time that a program has to end by itself when it is interrupted.
const GRACE: Duration = Duration::from_secs(2);

/// Why work has no result.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// It failed, or cannot be done here; in one line.
    Failed(String),
    /// The user has interrupted it.
    Interrupted,
}

impl From<String> for Ended {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

impl From<CliError> for Ended {
    fn from(error: CliError) -> Self {
        Self::Failed(error.into_line())
    }
}

impl From<Halt> for Ended {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Interrupted => Self::Interrupted,
            halt => Self::Failed(halt.to_string()),
        }
    }
}

/// What a program has printed, and how it ended.
pub struct Output {
    /// Whether the exit code was 0.
    pub success: bool,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Output {
    /// Returns the last line that was printed, that of standard error if there is one.
    pub fn last_line(&self) -> &str {
        let last = |text| str::lines(text).rev().map(str::trim).find(|line| !line.is_empty());
        last(&self.stderr).or_else(|| last(&self.stdout)).unwrap_or("no output")
    }
}

/// Runs a program to its end, or for the longest time, or until the user interrupts it.
///
/// Its output goes to files: a process that it leaves behind would hold a pipe open.
pub fn call(command: &mut Command, longest: Duration, stop: &AtomicBool) -> Result<Output, Ended> {
    let program = command.get_program().display().to_string();
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => format!("no such program: '{program}'"),
        _ => format!("cannot run '{program}': {}", describe(&error)),
    };
    let (status, stdout, stderr) = match run(command, longest, stop).map_err(failed)? {
        Some(ended) => ended,
        None if stop.load(Ordering::Relaxed) => return Err(Ended::Interrupted),
        None => return Err(format!("'{program}' did not end within {:.0} s", longest.as_secs_f64()).into()),
    };
    Ok(Output {
        success: status.success(),
        stdout: read(stdout).map_err(failed)?,
        stderr: read(stderr).map_err(failed)?,
    })
}

/// Returns the status with the files of both outputs, or `None` if the program was ended.
fn run(command: &mut Command, longest: Duration, stop: &AtomicBool) -> io::Result<Option<(ExitStatus, File, File)>> {
    let (stdout, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let mut group = Group::start(command, GRACE)?;
    let begun = Instant::now();
    while !group.has_ended() {
        if stop.load(Ordering::Relaxed) || begun.elapsed() > longest {
            return Ok(None);
        }
        thread::sleep(TICK);
    }
    Ok(Some((group.end()?, stdout, stderr)))
}

fn read(mut file: File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_runs_to_its_end_or_is_ended() {
        let stop = AtomicBool::new(false);
        let shell = |script: &str, longest| call(Command::new("sh").args(["-c", script]), longest, &stop);
        let output = shell("echo first; echo last >&2; exit 3", Duration::MAX).expect("it ends");
        assert_eq!((output.success, &*output.stdout, output.last_line()), (false, "first\n", "last"));
        // What it leaves behind still has its outputs.
        assert!(shell("sleep 60 & echo fine", Duration::from_secs(30)).expect("it ends").success);
        let Err(Ended::Failed(why)) = shell("sleep 60", Duration::ZERO) else { panic!("it takes too long") };
        assert_eq!(why, "'sh' did not end within 0 s");
        stop.store(true, Ordering::Relaxed);
        assert_eq!(shell("sleep 60", Duration::MAX).err(), Some(Ended::Interrupted));
    }
}
