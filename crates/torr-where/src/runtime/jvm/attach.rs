//! A client of the JVM's attach protocol, as `jcmd` and `jstack` are: a Unix socket that the JVM opens on request.
//!
//! A file in the process's `/tmp` and SIGQUIT are the request. The JVM checks that file and client have its own user, or are root.

use super::super::process;
use crate::pace::Pace;
use rustix::fs::{Gid, Uid};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How long the JVM may take to open its socket, or to respond.
const LONGEST: Duration = Duration::from_secs(5);
/// The time between two looks for the socket.
const LOOK: Duration = Duration::from_millis(20);
/// The most bytes of a response.
const LARGEST: u64 = 64 << 20;
/// The version of the protocol. Since the first one nothing was added that is needed here.
const VERSION: &str = "1";
/// The arguments of a command: always three of them, empty ones included.
const ARGUMENTS: usize = 3;

/// A JVM that takes commands.
#[derive(Debug)]
pub struct Attached {
    socket: PathBuf,
}

impl Attached {
    /// Makes a JVM open its socket. `stop` ends the wait for that.
    ///
    /// # Errors
    /// A lack of rights, a JVM that does not take the request, and those of files.
    pub fn open(process: i32, stop: &AtomicBool) -> io::Result<Self> {
        let number = process::own_number(process).ok_or(io::ErrorKind::NotFound)?;
        let attached = Self { socket: process::path(process, &format!("/tmp/.java_pid{number}")) };
        if UnixStream::connect(&attached.socket).is_ok() {
            return Ok(attached);
        }
        // Without a handler the signal would end the process.
        if !process::handles(process, Signal::QUIT.as_raw()) {
            return Err(io::Error::other("the JVM does not handle SIGQUIT (-Xrs), so it cannot be asked"));
        }
        let request = Request::write(process, process::path(process, &format!("/tmp/.attach_pid{number}")))?;
        let pid = Pid::from_raw(process).ok_or(io::ErrorKind::NotFound)?;
        kill_process(pid, Signal::QUIT)?;
        let pace = Pace::new(LONGEST, stop);
        while UnixStream::connect(&attached.socket).is_err() {
            if pace.is_over() {
                return Err(io::Error::other("the JVM did not open its diagnostic socket"));
            }
            std::thread::sleep(LOOK);
        }
        drop(request);
        Ok(attached)
    }

    /// Sends a command and returns the response.
    ///
    /// # Errors
    /// Those of the socket, and the JVM's own if it refuses the command.
    pub fn command(&self, name: &str, arguments: &[&str]) -> io::Result<String> {
        let mut socket = UnixStream::connect(&self.socket)?;
        socket.set_write_timeout(Some(LONGEST))?;
        let arguments = arguments.iter().copied().chain([""; ARGUMENTS]).take(ARGUMENTS);
        let words = [VERSION, name].into_iter().chain(arguments);
        socket.write_all(words.flat_map(|word| [word, "\0"]).collect::<String>().as_bytes())?;
        let response = response(socket, LONGEST)?;
        let response = String::from_utf8_lossy(&response);
        match response.split_once('\n') {
            Some(("0", text)) => Ok(text.to_owned()),
            Some((_, text)) => {
                Err(io::Error::other(text.lines().next().unwrap_or("the JVM refused a command").to_owned()))
            }
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// Reads a response up to its end, which comes within this time.
fn response(mut socket: UnixStream, longest: Duration) -> io::Result<Vec<u8>> {
    let deadline = Instant::now() + longest;
    let (mut response, mut buffer) = (vec![], vec![0; 64 << 10]);
    while (response.len() as u64) < LARGEST {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        socket.set_read_timeout(Some(left))?;
        match socket.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => response.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(response)
}

/// The file that asks a JVM to open its socket. It is removed when this value is dropped.
struct Request(PathBuf);

impl Request {
    fn write(process: i32, path: PathBuf) -> io::Result<Self> {
        // Nothing is written, and a link of this name is not followed.
        fs::OpenOptions::new().write(true).create_new(true).open(&path).or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => fs::File::open(&path),
            _ => Err(error),
        })?;
        let request = Self(path);
        if let Some((user, group)) = process::owner(process) {
            // Old JVMs take the file of their own user only. Where this fails, the file has that user already, or newer ones take root's.
            let _ = rustix::fs::chown(&request.0, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
        }
        Ok(request)
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        // The JVM may have removed it.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    fn respond(bytes: &'static [u8]) -> (io::Result<String>, String) {
        let folder = std::env::temp_dir().join(format!("torr-attach-{}-{}", std::process::id(), bytes.len()));
        let _ = fs::remove_file(&folder);
        let listener = UnixListener::bind(&folder).expect("the path is free");
        let jvm = std::thread::spawn(move || {
            let (mut client, _) = listener.accept().expect("the client connects");
            let mut request = vec![0; 64];
            let length = client.read(&mut request).expect("the client sends a command");
            client.write_all(bytes).expect("the client reads");
            String::from_utf8_lossy(&request[..length]).into_owned()
        });
        let response = Attached { socket: folder.clone() }.command("threaddump", &["-e"]);
        let _ = fs::remove_file(&folder);
        (response, jvm.join().expect("the thread does not panic"))
    }

    #[test]
    fn a_command_has_three_arguments() {
        let (response, request) = respond(b"0\nFull thread dump\n");
        assert_eq!(response.expect("the code is 0"), "Full thread dump\n");
        assert_eq!(request, "1\0threaddump\0-e\0\0\0");
    }

    #[test]
    fn a_response_that_does_not_end_is_an_error() {
        let (mut jvm, client) = UnixStream::pair().expect("there are descriptors");
        let jvm = std::thread::spawn(move || {
            while jvm.write_all(b"x").is_ok() {
                std::thread::sleep(LOOK);
            }
        });
        let error = response(client, 10 * LOOK).expect_err("there is always more");
        assert!(matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock), "{error}");
        jvm.join().expect("the client has closed");
    }

    #[test]
    fn a_refusal_is_an_error() {
        let (response, _) = respond(b"101\nOperation not recognized!\n");
        assert_eq!(response.expect_err("the code is not 0").to_string(), "Operation not recognized!");
        assert!(respond(b"").0.is_err());
    }

    #[test]
    fn a_process_that_is_no_jvm_is_not_signalled() {
        // This process handles no SIGQUIT: the signal would end it.
        assert!(Attached::open(std::process::id() as i32, &AtomicBool::new(false)).is_err());
    }
}
