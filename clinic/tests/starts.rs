//! The clinic starts its subjects, has them pressed, and leaves nothing behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program beside the clinic's: tests of the whole workspace have built it.
fn torr() -> PathBuf {
    let torr = Path::new(env!("CARGO_BIN_EXE_torr-clinic")).with_file_name("torr");
    if !torr.exists() {
        let built = Command::new(env!("CARGO")).args(["build", "--locked", "-p", "torr"]).status();
        assert!(built.expect("there is cargo").success());
    }
    torr
}

/// Processes that work in a folder.
fn anybody_in(folder: &Path) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("there is /proc").flatten().map(|entry| entry.path());
    let within = |path: &PathBuf| fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    processes.filter(within).map(|path| path.display().to_string()).collect()
}

#[test]
fn subjects_are_started_pressed_and_ended() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let names = ["worker-one-thread", "connections-four"];
    let done = Command::new(env!("CARGO_BIN_EXE_torr-clinic"))
        .args(["--dry", "--only", &names.join(","), "--torr"])
        .arg(torr())
        .env("TMPDIR", folder.path())
        .output()
        .expect("it is built");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    for (name, line) in names.iter().zip(said.lines()) {
        assert!(line.starts_with(name) && line.contains("/s  p50"), "{said}");
        assert!(line.contains("failed      0"), "{said}");
    }
    assert_eq!(said.lines().count(), names.len(), "{said}");
    assert_eq!(anybody_in(folder.path()), Vec::<String>::new());
    assert_eq!(fs::read_dir(folder.path()).expect("it is ours").count(), 0, "nothing is left in its folder");
}

#[test]
fn a_name_that_is_not_there_is_bad_usage() {
    let done = Command::new(env!("CARGO_BIN_EXE_torr-clinic")).args(["--list", "--only", "nobody"]).output();
    let done = done.expect("it is built");
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&done.stderr).lines().count(), 1);
}
