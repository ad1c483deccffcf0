//! Counts the instructions of one exchange's parts, and compares them with the archive: a change that makes the hot path
//! dearer shows here, on any machine and under any load, where a clock would not tell it from noise.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use torr_test_support::required::cannot_run;

/// The cases of the program.
const CASES: [&str; 9] = [
    "parse-request",
    "parse-response",
    "encode-request",
    "encode-response-head",
    "session",
    "session-http2",
    "session-websocket",
    "event",
    "record",
];
/// Done so often and twice as often, the difference has nothing of the start in it.
const TIMES: u64 = 2_000;
/// How far a count may be from the archived one.
const MARGIN: f64 = 0.1;
/// How many times a count of one instruction set may be that of another: so much the libraries' choices make of it.
const BETWEEN_SETS: f64 = 2.0;
const ARCHIVE: &str = "instructions.json";
const AGAIN: &str = "TORR_ARCHIVE_COUNTS=1 cargo test -p torr-counts -- --ignored";

/// What is archived for each instruction set, as far as counts depend on it: the libraries choose by it at run time, glibc as well
/// as the crate `memchr`, which nothing tells to choose otherwise.
type Archive = BTreeMap<String, Counts>;

/// What was counted on one instruction set.
#[derive(Debug, Serialize, Deserialize)]
struct Counts {
    rustc: String,
    /// Instructions per exchange.
    instructions: BTreeMap<String, f64>,
}

#[test]
#[ignore = "counting takes a release build: ./test full"]
fn an_exchange_takes_as_many_instructions_as_archived() {
    let program = build();
    let now = Counts {
        rustc: text(Command::new("rustc").arg("--version")),
        instructions: CASES.iter().map(|&case| (case.to_owned(), per_exchange(&program, case))).collect(),
    };
    println!("{}: {now:#?}", arch());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(ARCHIVE);
    let archive = std::fs::read(&path).expect("the archive can be read");
    let mut archive: Archive = serde_json::from_slice(&archive).expect("the archive holds counts");
    if std::env::var_os("TORR_ARCHIVE_COUNTS").is_some() {
        archive.insert(arch().to_owned(), now);
        let json = serde_json::to_string_pretty(&archive).expect("counts are plain data");
        std::fs::write(&path, json + "\n").expect("the archive can be written");
        return;
    }
    let complaints = judge(&archive, arch(), &now);
    assert!(complaints.is_empty(), "instructions per exchange, beyond the margin:\n{}", complaints.join("\n"));
    if !archive.contains_key(arch()) {
        let why = format!("no counts are archived for {}, only a range was compared; archive them: {AGAIN}", arch());
        cannot_run("an_exchange_takes_as_many_instructions_as_archived", &why);
    }
}

/// What is wrong with counts of this instruction set. Where none are archived for it, they have to be in the range of another's.
fn judge(archive: &Archive, arch: &str, now: &Counts) -> Vec<String> {
    let Some(archived) = archive.get(arch) else {
        let of_all = archive.values().flat_map(|counts| &counts.instructions);
        let beyond = of_all.filter_map(|(case, &other)| {
            let times = now.instructions.get(case).map_or(f64::INFINITY, |now| (now / other).max(other / now));
            (times > BETWEEN_SETS).then(|| format!("{case}: {times:.1} times what it is on another instruction set"))
        });
        return beyond.collect();
    };
    let mut complaints = differences(archived, now);
    if !complaints.is_empty() && archived.rustc != now.rustc {
        complaints.push(format!("the archive is of another compiler: {}, not {}", archived.rustc, now.rustc));
    }
    complaints
}

#[test]
fn counts_of_each_instruction_set_are_judged() {
    let counts = |count: f64| Counts { rustc: "1".into(), instructions: [("session".to_owned(), count)].into() };
    let archive: Archive = [("one".to_owned(), counts(100.0))].into();
    let complaints = |arch, count| judge(&archive, arch, &counts(count)).len();
    assert_eq!([95.0, 109.0, 111.0, 89.0].map(|count| complaints("one", count)), [0, 0, 1, 1]);
    assert_eq!([51.0, 190.0, 210.0, 49.0].map(|count| complaints("another", count)), [0, 0, 1, 1]);
    let none = Counts { rustc: "1".into(), instructions: BTreeMap::new() };
    assert_eq!([judge(&archive, "one", &none).len(), judge(&archive, "another", &none).len()], [1, 1]);
}

/// One line for each case whose count is not what it was.
fn differences(archived: &Counts, now: &Counts) -> Vec<String> {
    let (old, new) = (&archived.instructions, &now.instructions);
    let gone = old.keys().filter(|case| !new.contains_key(*case));
    let gone = gone.map(|case| format!("{case}: archived, but no longer counted; archive anew: {AGAIN}"));
    let changed = new.iter().filter_map(|(case, &new)| match old.get(case) {
        None => Some(format!("{case}: {new}, not archived yet; archive it: {AGAIN}")),
        Some(&old) if new > old * (1.0 + MARGIN) => {
            Some(format!("{case}: {old} have become {new}; if they must, archive them: {AGAIN}"))
        }
        Some(&old) if new < old * (1.0 - MARGIN) => {
            Some(format!("{case}: {old} have become only {new}: archive that: {AGAIN}"))
        }
        Some(_) => None,
    });
    changed.chain(gone).collect()
}

/// Builds the program to count as users have it, whatever this test was built as, and returns where it is.
fn build() -> PathBuf {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.args(["build", "--release", "--locked", "--package", "torr-counts"]);
    cargo.args(["--message-format", "json-render-diagnostics"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let messages = text(&mut cargo);
    let mut executables = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executables.next_back().expect("cargo says what it has built")
}

fn per_exchange(program: &Path, case: &str) -> f64 {
    let difference = count(program, case, 2 * TIMES) as f64 - count(program, case, TIMES) as f64;
    (difference / TIMES as f64 * 10.0).round() / 10.0
}

/// The instructions of a whole run.
fn count(program: &Path, case: &str, times: u64) -> u64 {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    let output = output(valgrind.args([case, &times.to_string()]));
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    count.unwrap_or_else(|| panic!("{valgrind:?} gave no count:\n{said}"))
}

fn text(command: &mut Command) -> String {
    String::from_utf8_lossy(&output(command).stdout).trim().to_owned()
}

fn output(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    output
}

#[cfg(target_arch = "x86_64")]
fn arch() -> &'static str {
    if std::is_x86_feature_detected!("avx2") { "x86_64 with AVX2" } else { "x86_64 without AVX2" }
}

#[cfg(not(target_arch = "x86_64"))]
fn arch() -> &'static str {
    std::env::consts::ARCH
}
