//! A signal about the time at which the server says where it listens.

use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{ErrorKind, Read, Write, pipe};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::{fs, thread};
use torr_test_support::program::{signal, torr_command};
use torr_test_support::servers::{Serve, free_port};
use torr_test_support::{KilledAtEnd, wait_until};

/// Returns whether the thread of a server that writes to standard error waits until it can.
fn waits_to_write(server: &KilledAtEnd) -> bool {
    let threads = fs::read_dir(format!("/proc/{}/task", server.0.id())).expect("it runs");
    // A thread may end meanwhile.
    let of = |thread: &Path, file: &str| fs::read_to_string(thread.join(file)).unwrap_or_default();
    let mut threads = threads.map(|thread| thread.expect("a folder can be read").path());
    threads.any(|thread| of(&thread, "comm").trim_end() == "stderr" && of(&thread, "wchan").contains("poll"))
}

#[test]
fn a_signal_while_it_says_where_it_listens_lets_it_leave_in_order() {
    // A full pipe holds it up there.
    let (mut reader, mut writer) = pipe().expect("there are pipes");
    ioctl_fionbio(&writer, true).expect("a pipe can be told not to wait");
    for piece in [4096, 1] {
        let full = loop {
            if let Err(error) = writer.write(&vec![b'.'; piece]) {
                break error;
            }
        };
        assert_eq!(full.kind(), ErrorKind::WouldBlock);
    }
    ioctl_fionbio(&writer, false).expect("a pipe can be told to wait");
    let address = format!("127.0.0.1:{}", free_port());
    let mut command = torr_command(&["serve", "--listen", &address, "--workers", "1"]);
    let mut server = KilledAtEnd(command.stdin(Stdio::null()).stderr(writer).spawn().expect("torr starts"));
    // Only now is there no other writer left.
    drop(command);
    wait_until("the server to listen", || TcpStream::connect(&address).ok());
    wait_until("the server to wait for the pipe", || waits_to_write(&server).then_some(()));
    signal(server.0.id(), "TERM");
    let said = thread::spawn(move || {
        let mut said = String::new();
        reader.read_to_string(&mut said).expect("a pipe can be read");
        said
    });
    let status = wait_until("the server to end", || server.0.try_wait().expect("a child can be waited for"));
    assert_eq!(status.code(), Some(0), "{status}");
    let said = said.join().expect("reading does not panic");
    assert!(
        said.ends_with(&format!("torr: serving on http://{address} with 1 worker\n")),
        "{}",
        said.trim_start_matches('.')
    );
}

#[test]
fn a_signal_right_after_it_said_where_it_listens_lets_it_leave_in_order() {
    for round in 0..20 {
        let mut server = Serve::start(&["--workers", "1"]);
        let pid = i32::try_from(server.pid()).ok().and_then(Pid::from_raw).expect("a child has a process id");
        kill_process(pid, Signal::TERM).expect("a child can be told to end");
        assert_eq!(server.wait(), Some(0), "round {round}");
    }
}
