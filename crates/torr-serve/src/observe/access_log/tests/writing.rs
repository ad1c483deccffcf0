//! Tests that lines are written whole to files, pipes and sockets, also to those that are full, slow or gone.

use super::*;
use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_getfl, mknodat};
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("there is room for temporary files")
}

fn open(path: &Path) -> AccessLog {
    AccessLog::open(LogTarget::File(path.into()), LogFormat::Common).expect("it can be opened")
}

fn named(target: &str) -> Entry<'_> {
    Entry { request: Some(RequestLine { target, ..LINE }), ..entry() }
}

/// The targets of whole lines.
fn targets(text: &str) -> Vec<&str> {
    let target = |line: &'_ str| -> Option<std::ops::Range<usize>> {
        let start = line.strip_prefix("192.0.2.1 - - [10/Oct/2000:13:55:36 +0000] \"GET ")?;
        let target = start.strip_suffix(" HTTP/1.1\" 200 2326")?;
        let at = line.len() - start.len();
        (!target.contains(' ')).then(|| at..at + target.len())
    };
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is torn");
    text.lines().map(|line| &line[target(line).unwrap_or_else(|| panic!("torn: {line}"))]).collect()
}

#[test]
fn lines_of_several_workers_and_processes_are_whole() {
    const LINES: usize = 3000;
    let folder = folder();
    let path = folder.path().join("log");
    // A log that is opened anew is what another process has.
    let logs = [open(&path), open(&path)];
    let work = |number: usize, mut writer: Writer| {
        move || {
            for line in 0..LINES {
                writer.add(&named(&format!("/{number}/{line}/{}", "x".repeat(line % 300))));
                if line % 1000 == 0 {
                    writer.flush();
                }
            }
        }
    };
    let workers: Vec<_> = (0..4).map(|number| thread::spawn(work(number, logs[number % 2].writer()))).collect();
    workers.into_iter().for_each(|worker| worker.join().expect("it does not panic"));
    let text = fs::read_to_string(&path).expect("it can be read");
    let mut next = [0; 4];
    for target in targets(&text) {
        let mut parts = target[1..].split('/').map(|part| part.parse().unwrap_or(0));
        let (number, line): (usize, usize) = (parts.next().expect("a number"), parts.next().expect("a line"));
        assert_eq!(line, next[number], "in order, and none twice");
        next[number] += 1;
    }
    assert_eq!(next, [LINES; 4]);
}

#[test]
fn lines_wait_until_there_are_many() {
    let folder = folder();
    let path = folder.path().join("log");
    let mut writer = open(&path).writer();
    let long = "x".repeat(1000);
    let written = || fs::metadata(&path).expect("it is there").len();
    let mut lines = 0;
    while written() == 0 {
        writer.add(&named(&long));
        lines += 1;
    }
    assert_eq!(lines, WRITE_AT.div_ceil(line(LogFormat::Common, &named(&long)).len()));
    assert!(writer.buffer.is_empty());
    writer.add(&named("/last"));
    drop(writer);
    assert_eq!(targets(&fs::read_to_string(&path).expect("it can be read")).last(), Some(&"/last"));
}

#[test]
fn a_log_that_is_moved_is_begun_anew() {
    let folder = folder();
    let [path, moved] = ["log", "log.1"].map(|name| folder.path().join(name));
    let log = open(&path);
    let mut writer = log.writer();
    let mut note = |target| {
        writer.add(&named(target));
        writer.flush();
    };
    note("/1");
    fs::rename(&path, &moved).expect("it can be moved");
    note("/2");
    log.reopen().expect("it can be opened");
    note("/3");
    let read = |path| fs::read_to_string(path).expect("it can be read");
    assert_eq!(targets(&read(&moved)), ["/1", "/2"]);
    assert_eq!(targets(&read(&path)), ["/3"]);
    // Where that cannot be, the former file goes on.
    fs::remove_file(&path).expect("it can be removed");
    fs::create_dir(&path).expect("a folder can be made");
    assert!(log.reopen().is_err());
    note("/4");
    assert!(log.0.state.lock().expect("nobody has panicked").losses.last_report().is_none());
}

#[test]
fn a_full_disk_costs_lines_but_neither_memory_nor_the_server() {
    let log = open(Path::new("/dev/full"));
    let mut writer = log.writer();
    let long = "x".repeat(1000);
    const LINES: usize = 5000;
    for _ in 0..LINES {
        writer.add(&named(&long));
        assert!(writer.buffer.len() < KEEP + 2 * WRITE_AT);
    }
    let kept = count(&writer.buffer);
    assert!(kept < LINES as u64 / 2, "{kept}");
    drop(writer);
    let report = log.0.state.lock().expect("nobody has panicked").losses.last_report().expect("lines were lost");
    assert!(report.contains("No space left") && report.ends_with("5000 lines were lost"), "{report}");
}

/// A named pipe, and its reader, which does not wait.
fn fifo(folder: &TempDir) -> (std::path::PathBuf, File) {
    let path = folder.path().join("pipe");
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe can be made");
    let mut options = OpenOptions::new();
    let reader = options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(&path);
    (path, reader.expect("it can be opened"))
}

/// All that has come by now.
fn drain(reader: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    match reader.read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
    }
    String::from_utf8(bytes).expect("lines are ASCII")
}

#[test]
fn a_slow_reader_of_a_pipe_blocks_no_writer_and_receives_whole_lines() {
    let folder = folder();
    let (path, mut reader) = fifo(&folder);
    let mut writer = open(&path).writer();
    let names: Vec<_> = (0..800).map(|n| format!("/{n}/{}", "x".repeat(n))).collect();
    let names = [&names[..], &["/end".into()]].concat();
    names.iter().for_each(|name| writer.add(&named(name)));
    writer.flush();
    assert!(!writer.buffer.is_empty(), "more than a pipe holds");
    let mut text = String::new();
    let mut rounds = 0;
    while !text.ends_with("/end HTTP/1.1\" 200 2326\n") {
        text += &drain(&mut reader);
        writer.flush();
        rounds += 1;
        assert!(rounds < 1000, "it never ends");
    }
    assert_eq!(targets(&text), names);
}

#[test]
fn a_pipe_that_others_have_too_stays_as_it_is_for_them() {
    let (mut reader, theirs) = io::pipe().expect("there are pipes");
    let mut output = Output::shared(&theirs).expect("it can be opened again");
    let mut lines = vec![b'\n'; 1 << 20];
    let error = output.put(&mut lines).expect_err("more than a pipe holds");
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    assert!(!fcntl_getfl(&theirs).expect("it is open").contains(OFlags::NONBLOCK));
    let written = (1 << 20) - lines.len();
    drop((theirs, output));
    let mut read = Vec::new();
    reader.read_to_end(&mut read).expect("it can be read");
    assert_eq!(read.len(), written);
}

#[test]
fn a_slow_reader_of_a_socket_blocks_no_writer() {
    let (mut reader, socket) = UnixStream::pair().expect("there are sockets");
    reader.set_nonblocking(true).expect("it can be told not to wait");
    let mut output = Output::of(File::from(OwnedFd::from(socket))).expect("it is a socket");
    let names: Vec<_> = (0..1000).map(|n| format!("/{n}/{}", "x".repeat(n % 800))).collect();
    let mut lines: Vec<u8> = names.iter().flat_map(|name| line(LogFormat::Common, &named(name)).into_bytes()).collect();
    let (all, mut text, mut rounds) = (lines.len(), String::new(), 0);
    while text.len() < all {
        if let Err(error) = output.put(&mut lines) {
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
        }
        text += &drain(&mut reader);
        rounds += 1;
        assert!(rounds < 1000, "it never ends");
    }
    assert!(rounds > 1, "more than a socket holds");
    assert_eq!(targets(&text), names);
}

#[test]
fn a_closed_reader_stops_no_writer() {
    let folder = folder();
    let (path, reader) = fifo(&folder);
    let log = open(&path);
    let mut writer = log.writer();
    drop(reader);
    writer.add(&named("/1"));
    writer.flush();
    drop(writer);
    let report = log.0.state.lock().expect("nobody has panicked").losses.last_report();
    assert_eq!(report.as_deref(), Some("cannot write: Broken pipe (os error 32); 1 line was lost"));
    // Without a reader it cannot even be opened, rather than waiting for one.
    assert!(AccessLog::open(LogTarget::File(path), LogFormat::Json).is_err());
}
