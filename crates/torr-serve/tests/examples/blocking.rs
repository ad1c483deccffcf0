//! `examples/blocking.rs`.

use crate::program::Example;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;
use torr_test_support::wait_until;

/// The error of `open` without a reader.
const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

#[test]
fn who_blocks_keeps_no_others_waiting() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "a pipe can be made");
    let blocking = Example::start("blocking", &[pipe.to_str().expect("it is UTF-8")]);
    // Reading a pipe blocks until it has a writer. There is one worker.
    let mut reader = blocking.client();
    reader.send("GET /file HTTP/1.1\r\nHost: x\r\n\r\n");
    // It can be opened in this way once it has a reader.
    let mut writer =
        wait_until("a handler to read", || OpenOptions::new().write(true).custom_flags(NONBLOCK).open(&pipe).ok());
    for _ in 0..10 {
        assert_eq!(blocking.get("/").text(), "at once\n");
        assert_eq!(blocking.get("/later/1").text(), "here it is\n");
    }
    writer.write_all(b"at last").expect("somebody reads");
    drop(writer);
    assert_eq!(reader.response().text(), "at last");
    blocking.leaves();
}

#[test]
fn files_and_mistakes_have_responses() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let file = folder.path().join("file");
    fs::write(&file, "what it says").expect("a file can be written");
    let blocking = Example::start("blocking", &[file.to_str().expect("it is UTF-8")]);
    assert_eq!(blocking.get("/file").status_and_text(), (200, "what it says"));
    assert_eq!(blocking.get("/later/soon").status, 400);
    fs::remove_file(&file).expect("it is there");
    assert_eq!(blocking.get("/file").status, 500);
    blocking.leaves();
}
