//! The clinic starts its subjects, has them pressed, and leaves nothing behind.

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the program beside the clinic's. Tests of the whole workspace have built it.
fn torr() -> PathBuf {
    let torr = Path::new(env!("CARGO_BIN_EXE_torr-clinic")).with_file_name("torr");
    if !torr.exists() {
        let built = Command::new(env!("CARGO")).args(["build", "--locked", "-p", "torr"]).status();
        assert!(built.expect("there is cargo").success());
    }
    torr
}

/// Returns the processes whose working directory is in a folder.
fn processes_in(folder: &Path) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("there is /proc").flatten().map(|entry| entry.path());
    let within = |path: &PathBuf| fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    processes.filter(within).map(|path| path.display().to_string()).collect()
}

#[test]
fn subjects_and_their_cured_forms_are_started_pressed_and_ended() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let names = [
        "worker-one-thread",
        "connections-four",
        "rate-silent-bucket",
        "lock-async",
        "where-c-stock",
        "where-python-rates",
    ];
    let done = Command::new(env!("CARGO_BIN_EXE_torr-clinic"))
        .args(["--dry", "--only", &names.join(","), "--torr"])
        .arg(torr())
        .env("TMPDIR", folder.path())
        .output()
        .expect("it is built");
    let printed = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{printed}{}", String::from_utf8_lossy(&done.stderr));
    let rates = |form: &str, name: &str| {
        let mut lines = printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let line = lines.find(|words| words[..2] == [name, form]).unwrap_or_else(|| panic!("{name} {form}: {printed}"));
        line[2].trim_end_matches("/s").parse::<f64>().expect("it is a rate")
    };
    // The cured forms of the last two hold their locks for half of the time.
    let faults =
        [("workers", 4.0), ("connections", 1.5), ("rate-limit", 2.0), ("lock", 3.0), ("lock", 1.6), ("lock", 1.6)];
    for (name, (factor, gain)) in names.into_iter().zip(faults) {
        let (ill, cured) = (rates(factor, name), rates("cured", name));
        assert!(cured > gain * ill, "{name} of {ill}/s is cured with {cured}/s");
    }
    assert!(printed.lines().all(|line| line.contains("failed      0")), "{printed}");
    assert_eq!(printed.lines().count(), 2 * names.len(), "{printed}");
    assert_eq!(processes_in(folder.path()), Vec::<String>::new());
    assert_eq!(fs::read_dir(folder.path()).expect("it is ours").count(), 0, "nothing is left in its folder");
}

#[test]
fn a_name_that_is_not_there_is_bad_usage() {
    let done = Command::new(env!("CARGO_BIN_EXE_torr-clinic")).args(["--list", "--only", "nobody"]).output();
    let done = done.expect("it is built");
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&done.stderr).lines().count(), 1);
}

#[test]
fn another_tool_is_judged_by_what_it_writes() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let judged = |verdict: &str| {
        let table = folder.path().join("table.md");
        let done = Command::new(env!("CARGO_BIN_EXE_torr-clinic"))
            .args([
                "--only",
                "errors-500",
                "--by",
                &format!("echo \"$CASE $URL\" && echo '{verdict}' > $VERDICT"),
                "--torr",
            ])
            .arg(torr())
            .arg("--markdown")
            .arg(&table)
            .env("TMPDIR", folder.path())
            .output()
            .expect("it is built");
        let table = fs::read_to_string(&table).unwrap_or_else(|error| panic!("{error}: {done:?}"));
        (done.status.code(), table)
    };
    let (code, table) = judged(r#"{"factor": "errors", "confidence": "certain"}"#);
    assert_eq!(code, Some(0), "{table}");
    assert!(table.contains("| errors-500 | errors | errors (certain) | right |"), "{table}");
    let (code, table) = judged(r#"{"factor": "lock", "confidence": "certain"}"#);
    assert_eq!(code, Some(1), "{table}");
    assert!(table.contains("| errors-500 | errors | lock (certain) | SURELY WRONG |"), "{table}");
}

#[test]
fn a_case_stays_up_until_it_is_interrupted_and_does_not_give_its_fault_away() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let mut up = Command::new(env!("CARGO_BIN_EXE_torr-clinic"))
        .args(["up", "errors-500", "--torr"])
        .arg(torr())
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it is built");
    let mut line = String::new();
    let stdout = up.stdout.as_mut().expect("it was piped");
    BufReader::new(stdout).read_line(&mut line).expect("it describes the case");
    let case: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
    assert_eq!(
        (case["schema"].as_str(), case["load"]["connections"].as_u64()),
        (Some("torr.clinic.case/1"), Some(100))
    );
    let url = case["url"].as_str().expect("it has a URL");
    let once =
        Command::new(torr()).args([url, "-n", "20", "-c", "1", "-q", "--json", "-"]).output().expect("it is built");
    let result: Value = serde_json::from_slice(&once.stdout).unwrap_or_else(|error| panic!("{error}: {once:?}"));
    assert!(result["status"]["500"].as_u64() > Some(0), "{}", result["status"]);
    for process in processes_in(folder.path()) {
        let words = fs::read_to_string(Path::new(&process).join("cmdline")).unwrap_or_default();
        assert!(!words.contains("errors"), "{words}");
    }
    let killed = Command::new("kill").args(["-INT", &up.id().to_string()]).status().expect("there is kill");
    assert!(killed.success());
    assert!(up.wait().expect("it ends").success());
    assert_eq!(processes_in(folder.path()), Vec::<String>::new());
    assert_eq!(fs::read_dir(folder.path()).expect("it is ours").count(), 0, "nothing is left in its folder");
}

#[test]
fn a_case_in_a_container_has_its_folder_at_the_path_that_the_host_has() {
    // An engine that prints what it would have shared, and then stays until it is ended.
    const ENGINE: &str = "#!/bin/sh\n\
        [ \"$1\" = run ] || exit 0\n\
        while [ \"$1\" != torr-clinic ]; do\n\
        case $1 in TMPDIR=*) folder=${1#TMPDIR=} ;; *:*) volume=$1 ;; esac\n\
        shift\n\
        done\n\
        trap 'exit 7' TERM\n\
        echo \"$folder $volume $*\"\n\
        while :; do sleep 0.05; done\n";
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let engine = folder.path().join("docker");
    fs::write(&engine, ENGINE).expect("it can be written");
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").expect("there is a path"));
    let mut case = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("case"))
        .arg("1b5d0c")
        .env("PATH", path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("there is sh");
    let mut line = String::new();
    BufReader::new(case.stdout.take().expect("it is piped")).read_line(&mut line).expect("it says something");
    let words: Vec<_> = line.split_whitespace().collect();
    let &[shared, volume, ref rest @ ..] = words.as_slice() else { panic!("{line}") };
    assert_eq!((volume, rest), (format!("{shared}:{shared}").as_str(), &["torr-clinic", "up", "1b5d0c"][..]));
    assert!(Path::new(shared).is_dir(), "{shared}");
    assert!(Command::new("kill").arg(case.id().to_string()).status().expect("there is kill").success());
    assert_eq!(case.wait().expect("it ends").code(), Some(7), "the engine was ended, and its code is that of the case");
    assert!(!Path::new(shared).exists(), "{shared}");
}
