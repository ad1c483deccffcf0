//! k6 as an oracle: the scripts in `crates/torr-k6/oracle` are run by k6 and by `torr k6`, and must do the same.

mod runs;
mod samples;
mod services;
mod shop;
mod ways;

use crate::newman::ORACLES;
use runs::{Run, run};
use services::Services;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use torr_test_support::program::torr_path;

/// Runs whose counts depend on time, of which only verdicts and names are compared.
const TIMED: [&str; 16] = [
    "constant_arrival_rate.js",
    "constant_vus.js",
    "dropped_iterations.js",
    "interrupted.js",
    "lifecycle_typed.ts (interrupted twice)",
    "lifecycle_typed.ts (interrupted)",
    "min_iteration.js",
    "mix.js",
    "per_vu_iterations.js",
    "precedence.js (duration)",
    "ramping_arrival_rate.js",
    "ramping_vus.js",
    "smoke.js",
    "stages_slow.js",
    "thresholds_abort.js",
    "timers.js",
];

/// Scripts whose connections are counted.
const COUNTED_CONNECTIONS: [&str; 4] = ["discard.js", "reuse.js", "smoke.js", "verbs.js"];

/// Scripts whose cut-off calls k6 records or does not record, as it happens: their samples are not compared.
const RACING: [&str; 1] = ["grpc_throws.js"];

/// Why `-u` alone does not leave the scenarios of a script as they are.
const USERS_ALONE: &str = "k6 1.8 ignores `vus` beside scenarios; from 2.1 on it replaces them, as in Torr";
/// Why a socket that was cut off is in the results.
const CUT_OFF: &str = "Torr records how long the session lasted, k6 does not";
/// Why an aborted iteration is not counted.
const ABORTED: &str = "k6 counts the iteration that aborts the test as complete";
/// Why there are calls without an end, and messages without the status of their call.
const OPEN_CALLS: &str =
    "Torr records calls that end by their deadline, and messages before the status of their call is known";
/// Why tags have other URLs and methods.
const TAGS_AS_SENT: &str =
    "k6 masks a password with escapes in part only, and has the method and URL of a call as they are given";

/// What differs, with the reason: the run, the part of the comparison, and why.
const DIFFERENT: [(&str, &str, &str); 30] = [
    ("as_written.js", "samples", TAGS_AS_SENT),
    ("as_written.js", "table", TAGS_AS_SENT),
    ("bodies.js", "requests", "k6 sends an empty text as chunks of which there are none, Torr with the length 0"),
    ("compression.js", "requests", "two implementations of gzip compress to different bytes"),
    ("digest.js", "requests", "k6 sends the credentials as Basic before it knows the challenge, Torr does not"),
    ("grpc.js", "samples", OPEN_CALLS),
    ("grpc.js", "table", OPEN_CALLS),
    ("grpc_streams.js", "samples", OPEN_CALLS),
    ("grpc_streams.js", "table", OPEN_CALLS),
    (
        "lifecycle_typed.ts (interrupted twice)",
        "table",
        "k6 writes the table's header before the run, Torr with its rows",
    ),
    ("odd_responses.js", "samples", "error texts of content codings are each program's own"),
    ("odd_responses.js", "table", "error texts of content codings are each program's own"),
    ("precedence.js (users)", "console", USERS_ALONE),
    ("precedence.js (users)", "counts", USERS_ALONE),
    ("precedence.js (users)", "requests", USERS_ALONE),
    ("precedence.js (users)", "samples", USERS_ALONE),
    ("precedence.js (users)", "table", USERS_ALONE),
    ("refused_calls.js", "samples", TAGS_AS_SENT),
    ("refused_calls.js", "table", TAGS_AS_SENT),
    ("sockets_cut.js", "counts", CUT_OFF),
    ("sockets_cut.js", "metrics", CUT_OFF),
    ("sockets_cut.js", "printed", CUT_OFF),
    ("sockets_cut.js", "samples", CUT_OFF),
    ("sockets_cut.js", "table", CUT_OFF),
    ("test_abort.js", "counts", ABORTED),
    ("test_abort.js", "samples", ABORTED),
    ("test_abort.js", "table", ABORTED),
    (
        "thresholds_abort.js",
        "samples",
        "k6 shows a threshold that ends the test with its settings, Torr as its expression",
    ),
    ("wrong_calls.js", "samples", TAGS_AS_SENT),
    ("wrong_calls.js", "table", TAGS_AS_SENT),
];

/// Copies the scripts, with Torr's own libraries as files that k6 can read, too.
fn copied() -> TempDir {
    let folder = tempfile::tempdir().expect("there is room");
    let of_crate = Path::new(env!("CARGO_MANIFEST_DIR")).join("../torr-k6");
    copy(&of_crate.join("oracle"), folder.path());
    copy(&of_crate.join("src/jslib"), &folder.path().join("lib/jslib"));
    folder
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder can be made");
    for entry in std::fs::read_dir(from).expect("the folder is there").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match from.is_dir() {
            true => copy(&from, &to),
            false => _ = std::fs::copy(&from, &to).expect("a file can be copied"),
        }
    }
}

/// Returns the scripts of a folder, by name.
fn scripts(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is there").flatten().map(|entry| entry.path());
    let mut scripts: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "js" || ending == "ts")).collect();
    scripts.sort();
    scripts
}

/// Returns what differs between two runs of a script: the part of the comparison, and both sides.
fn differences(name: &str, theirs: &Run, ours: &Run) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut compare = |part, theirs: String, ours: String| {
        if theirs != ours {
            found.push((part, format!("k6:\n{theirs}\ntorr:\n{ours}")));
        }
    };
    compare("exit code", format!("{:?}", theirs.code), format!("{:?}", ours.code));
    compare("thresholds", theirs.thresholds(), ours.thresholds());
    compare("metrics", theirs.metrics(), ours.metrics());
    compare("printed", theirs.printed.clone(), ours.printed.clone());
    compare("teardown", theirs.tore_down().to_string(), ours.tore_down().to_string());
    let is_timed = TIMED.contains(&name);
    if !RACING.contains(&name) {
        compare("samples", theirs.samples.points(is_timed), ours.samples.points(is_timed));
        compare("table", theirs.samples.table(is_timed), ours.samples.table(is_timed));
    }
    if COUNTED_CONNECTIONS.contains(&name) {
        let counts =
            |run: &Run| format!("{} connections, {} requests beside iterations", run.connections, run.beside());
        compare("connections", counts(theirs), counts(ours));
    }
    if !is_timed {
        compare("console", theirs.console.join("\n"), ours.console.join("\n"));
        compare("requests", theirs.requests.join("\n"), ours.requests.join("\n"));
        compare("checks", theirs.checks(), ours.checks());
        compare("counts", theirs.counts(), ours.counts());
    }
    found
}

#[test]
#[ignore = "k6 is installed by ./test full"]
fn scripts_do_what_they_do_in_k6() {
    let oracles = PathBuf::from(std::env::var(ORACLES).expect("./test full sets it"));
    let only = std::env::var("TORR_ORACLE_SCRIPT").ok();
    let services = Services::start();
    let (mut reports, mut met) = (Vec::new(), Vec::new());
    let folder = copied();
    let scripts = scripts(folder.path());
    assert!(scripts.len() > 80, "{} scripts", scripts.len());
    let name = |script: &Path| script.file_name().and_then(|name| name.to_str()).expect("the name is text").to_owned();
    let unknown: Vec<_> = ways::scripts().filter(|way| !scripts.iter().any(|script| name(script) == *way)).collect();
    assert!(unknown.is_empty(), "there are no such scripts: {unknown:?}");
    for script in scripts {
        for (name, way) in ways::of(&name(&script)) {
            if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
                continue;
            }
            let theirs = run(&oracles.join("k6"), &[], &script, &way, &services);
            let ours = run(Path::new(torr_path()), &["k6"], &script, &way, &services);
            for (part, difference) in differences(&name, &theirs, &ours) {
                match DIFFERENT.iter().find(|(run, known, _)| *run == name && *known == part) {
                    Some(known) => met.push(known),
                    None => reports.push(format!("{name}, {part}:\n{difference}\n{}", ours.errors)),
                }
            }
        }
    }
    assert!(reports.is_empty(), "{} differences:\n\n{}", reports.len(), reports.join("\n\n"));
    let gone: Vec<_> = DIFFERENT.iter().filter(|known| only.is_none() && !met.contains(known)).collect();
    assert!(gone.is_empty(), "these do not differ any more: {gone:?}");
}
