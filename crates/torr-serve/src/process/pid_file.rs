//! The pid file, which exists as long as the server runs.

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process;
use std::str::FromStr;
use std::time::{Duration, SystemTime};
use torr_net::errors::describe;

/// The possible difference between the age of a process, in hundredths of a second, and that of a file, in seconds.
const INEXACT: Duration = Duration::from_secs(2);
/// The most bytes that are read of a pid file, more than any number with its line end.
const MOST: u64 = 64;

/// A pid file, which is removed on drop.
#[derive(Debug)]
pub(crate) struct PidFile(PathBuf);

impl PidFile {
    /// Writes the file atomically. A stale file, whose process has ended, is replaced.
    ///
    /// # Errors
    /// A line, if the process in the file is alive, if the path is not a pid file, or if the file cannot be written.
    pub fn create(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        match read(path) {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => match text.trim().parse().ok().filter(|pid| *pid > 0) {
                Some(pid) if is_held(path, pid) => {
                    return Err(format!(
                        "the server is already running as process {pid}, by the pid file {shown}: stop that process, \
                         use another pid file, or delete this one if it is stale"
                    ));
                }
                Some(_) => {}
                None => return Err(format!("{shown} is not a pid file: expected a number")),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) if error.kind() == ErrorKind::IsADirectory => {
                return Err(format!("{shown} is not a pid file: it is a directory"));
            }
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                return Err(format!("{shown} is not a pid file: expected a number"));
            }
            Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => {
                return Err(format!(
                    "the pid file {shown} is a symbolic link, which is not supported: use the file itself"
                ));
            }
            Err(error) => return Err(format!("cannot read the pid file {shown}: {}", describe(&error))),
        }
        // Readers find the whole file or none.
        let mut new = path.as_os_str().to_owned();
        new.push(format!(".{}", process::id()));
        let written = write_new(Path::new(&new)).and_then(|()| fs::rename(&new, path));
        if let Err(error) = written {
            let _ = fs::remove_file(&new);
            return Err(format!("cannot write the pid file {shown}: {}", describe(&error)));
        }
        // Absolute, since the program may change its working directory.
        Ok(Self(std::path::absolute(path).unwrap_or_else(|_| path.to_owned())))
    }

    /// Removes the file, unless another process has replaced it.
    pub fn remove(&self) {
        let text = read(&self.0).unwrap_or_default();
        if text.trim().parse() == Ok(process::id()) {
            // A file that cannot be removed is stale, which the next server detects.
            let _ = fs::remove_file(&self.0);
        }
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Reads a pid file. In a folder that others may write to it may be any file: a link is not followed, a pipe does not block,
/// and of a large file only the beginning is read.
fn read(path: &Path) -> io::Result<String> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).expect("flags of open are an int");
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    match file.metadata()?.file_type() {
        kind if kind.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        kind if !kind.is_file() => return Err(ErrorKind::InvalidData.into()),
        _ => {}
    }
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text)?;
    Ok(text)
}

/// Writes this process's number to a new file. A file left by a process of the same number is removed, without following a
/// link.
fn write_new(path: &Path) -> io::Result<()> {
    let create = || File::options().write(true).create_new(true).mode(0o644).open(path);
    let mut file = match create() {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            create()?
        }
        other => other?,
    };
    writeln!(file, "{}", process::id())
}

/// Returns whether the process that wrote the file is alive, and its number was not reused since.
fn is_held(path: &Path, pid: i32) -> bool {
    let Some(process) = Pid::from_raw(pid) else { return false };
    let exists = matches!(test_kill_process(process), Ok(()) | Err(Errno::PERM));
    if !exists || has_ended(pid) || pid.unsigned_abs() == process::id() {
        return false;
    }
    let written = fs::metadata(path).and_then(|about| about.modified()).ok();
    let file_age = written.and_then(|time| SystemTime::now().duration_since(time).ok());
    match (age(pid), file_age) {
        (Some(process), Some(file)) => process + INEXACT >= file,
        _ => true,
    }
}

/// Returns a field of `/proc/PID/stat` after the name: 0 is the state.
fn field<T: FromStr>(pid: i32, number: usize) -> Option<T> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it, in brackets, may contain any character.
    stat.rsplit_once(") ")?.1.split(' ').nth(number)?.parse().ok()
}

/// Returns whether a process has ended (is a zombie), but its parent has not waited for it.
fn has_ended(pid: i32) -> bool {
    matches!(field(pid, 0), Some('Z' | 'X'))
}

/// Returns the age of a process.
fn age(pid: i32) -> Option<Duration> {
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    let started: f64 = field(pid, 19)?;
    Duration::try_from_secs_f64(uptime - started / rustix::param::clock_ticks_per_second() as f64).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::symlink;
    use std::time::Instant;

    #[test]
    fn a_zombie_process_holds_no_file() {
        let mut child = process::Command::new("true").stdout(process::Stdio::piped()).spawn().expect("it is there");
        let pid = i32::try_from(child.id()).expect("it fits");
        // Its end closes the pipe, a moment before it is a zombie.
        let mut nothing = Vec::new();
        child.stdout.take().expect("it is piped").read_to_end(&mut nothing).expect("it ends");
        let patience = Instant::now() + Duration::from_secs(20);
        while !has_ended(pid) && Instant::now() < patience {
            std::thread::yield_now();
        }
        let file = tempfile::NamedTempFile::new().expect("there is room for temporary files");
        fs::write(file.path(), format!("{pid}\n")).expect("it is written");
        let created = PidFile::create(file.path());
        child.wait().expect("it is a child");
        assert!(created.is_ok(), "{created:?}");
    }

    /// In a folder that others may write to, another user has put links at the paths that the server will write.
    #[test]
    fn links_are_not_written_through() {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let (pid_file, precious) = (folder.path().join("server.pid"), folder.path().join("precious"));
        fs::write(&precious, "precious").expect("it is written");
        let mut new = pid_file.as_os_str().to_owned();
        new.push(format!(".{}", process::id()));
        symlink(&precious, &new).expect("it is made");
        let file = PidFile::create(&pid_file).expect("what stands in the way is removed");
        assert_eq!(fs::read_to_string(&precious).expect("it is there"), "precious");
        assert_eq!(fs::read_to_string(&pid_file).expect("it is there"), format!("{}\n", process::id()));
        assert!(fs::symlink_metadata(&pid_file).expect("it is there").is_file());
        drop(file);
        assert!(!pid_file.exists());

        symlink(&precious, &pid_file).expect("it is made");
        let error = PidFile::create(&pid_file).expect_err("it is a link");
        assert!(error.contains("symbolic link"), "{error}");
        assert_eq!(fs::read_to_string(&precious).expect("it is there"), "precious");
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let pipe = folder.path().join("server.pid");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).expect("it is made");
        let error = PidFile::create(&pipe).expect_err("it is a pipe");
        assert!(error.contains("not a pid file"), "{error}");
        let error = PidFile::create(folder.path()).expect_err("it is a folder");
        assert!(error.contains("not a pid file: it is a directory"), "{error}");
        let large = folder.path().join("large");
        fs::write(&large, "1".repeat(1_000_000)).expect("it is written");
        assert!(PidFile::create(&large).is_err());
    }

    #[test]
    fn processes_have_an_age() {
        let own = age(i32::try_from(process::id()).expect("it fits")).expect("it runs");
        assert!(own < Duration::from_secs(3600), "{own:?}");
        assert_eq!(age(i32::MAX), None);
    }
}
