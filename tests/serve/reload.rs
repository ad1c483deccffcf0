//! What a reload says, and workers that read other settings than their supervisor.

use std::fs;
use std::process::Command;
use torr_test_support::program::torr_path;
use torr_test_support::servers::free_port;
use torr_test_support::supervised::Supervised;

#[test]
fn a_worker_that_reads_no_processes_says_so() {
    let address = format!("127.0.0.1:{}", free_port());
    let mut command = Command::new("sh");
    command.args(["-c", "echo 'processes = 2' | \"$0\" \"$@\"", torr_path(), "serve"]);
    // A pipe can be read once: by the supervisor.
    command.args(["--config", "/dev/stdin", "--listen", &address]);
    let mut server = Supervised::spawn(command);
    assert_eq!(server.wait().code(), Some(2));
    let line = server.says("processes = 0");
    assert!(line.contains("worker process 1") && line.contains("pipe"), "{line}");
    assert_eq!(server.said(), [line]);
}

#[test]
fn a_reload_without_a_supervisor_says_what_was_done() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let log = folder.path().join("access.log");
    let log = log.to_str().expect("it is UTF-8");
    for (args, words) in [
        (&["--workers", "1"][..], "reloaded: no certificates and no access log to read again; changes"),
        (&["--workers", "1", "--access-log", log], "reloaded: access log reopened; changes of settings require"),
    ] {
        let server = Supervised::start(args);
        server.signal("HUP");
        server.says(words);
        server.leaves();
    }
}

#[test]
fn a_reload_to_no_processes_is_given_up_in_words() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let config = folder.path().join("torr.toml");
    fs::write(&config, "processes = 2\nworkers = 1\n").expect("it is written");
    let server = Supervised::start(&["--config", config.to_str().expect("it is UTF-8")]);
    fs::write(&config, "processes = 0\nworkers = 1\n").expect("it is written");
    server.signal("HUP");
    server.says("worker process 1 has read processes = 0, unlike its supervisor: restart to change processes");
    server.says("reload cancelled, the old workers continue");
    assert_eq!(server.client().get("/").status, 200);
    server.leaves();
}
