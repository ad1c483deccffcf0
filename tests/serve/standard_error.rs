//! `torr serve` whose standard error is not read.

use rustix::fs::OFlags;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixDatagram;
use torr_test_support::client::Client;
use torr_test_support::program::{signal, torr_command};
use torr_test_support::servers::free_port;
use torr_test_support::supervised::children;
use torr_test_support::{KilledAtEnd, PATIENCE, wait_until};

/// Returns a pipe that takes nothing more.
fn full_pipe() -> (io::PipeReader, io::PipeWriter) {
    let (reader, writer) = io::pipe().expect("a descriptor is free");
    // Non-blocking here alone: the flag belongs to the description that is opened.
    let path = format!("/proc/self/fd/{}", writer.as_raw_fd());
    let own = File::options().write(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path);
    let mut own = own.expect("a pipe can be opened again");
    while own.write(&[b'\n'; 1024]).is_ok() {}
    (reader, writer)
}

#[test]
fn an_unread_standard_error_delays_neither_the_start_of_workers_nor_the_stop() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let manager = UnixDatagram::bind(folder.path().join("notify")).expect("the folder takes a socket");
    manager.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
    let (_reader, stderr) = full_pipe();
    let address = format!("127.0.0.1:{}", free_port());
    let mut command = torr_command(&["serve", "--listen", &address, "--processes", "2", "--workers", "1"]);
    command.env("NOTIFY_SOCKET", folder.path().join("notify")).stderr(stderr);
    let mut server = KilledAtEnd(command.spawn().expect("torr starts"));
    drop(command);
    let mut message = [0; 1000];
    let length = manager.recv(&mut message).expect("all workers are ready");
    assert!(message[..length].starts_with(b"READY=1"), "{}", message[..length].escape_ascii());
    let pid = server.0.id();
    let before = children(pid);
    let victim = *before.first().expect("there are two workers");
    signal(victim, "KILL");
    let after = wait_until("another worker", || {
        Some(children(pid)).filter(|workers| workers.len() == 2 && !workers.contains(&victim))
    });
    assert_eq!(after.intersection(&before).count(), 1, "{before:?} became {after:?}");
    assert_eq!(Client::connect(&address).get("/").status, 200);
    signal(pid, "TERM");
    let status = wait_until("the end", || server.0.try_wait().expect("a child can be waited for"));
    assert!(status.success(), "{status}");
}
