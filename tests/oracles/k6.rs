//! k6 as an oracle: the scripts in `crates/torr-k6/oracle` are run by k6 and by `torr k6`, and must do the same.

mod runs;
mod shop;

use crate::echo::Echo;
use crate::newman::ORACLES;
use runs::{Run, run};
use std::path::{Path, PathBuf};
use torr_test_support::program::torr_path;

/// Scripts whose counts depend on time, of which only verdicts and names are compared.
const TIMED: [&str; 10] = [
    "constant_arrival_rate.js",
    "constant_vus.js",
    "dropped_iterations.js",
    "interrupted.js",
    "min_iteration.js",
    "per_vu_iterations.js",
    "ramping_arrival_rate.js",
    "ramping_vus.js",
    "thresholds_abort.js",
    "timers.js",
];

/// Scripts whose connections are counted.
const ONE_AT_A_TIME: [&str; 3] = ["discard.js", "reuse.js", "verbs.js"];

/// What differs, with the reason: the script, the part of the comparison, and why.
const DIFFERENT: [(&str, &str, &str); 6] = [
    ("bodies.js", "requests", "k6 sends an empty text as chunks of which there are none, Torr with the length 0"),
    ("compression.js", "requests", "two implementations of gzip compress to different bytes"),
    ("digest.js", "requests", "k6 sends the credentials as Basic before it knows the challenge, Torr does not"),
    ("errors.js", "counts", "k6 counts a request to a URL whose scheme is not HTTP, which is never sent"),
    ("headers.js", "console", "a Host of the script is part of `request.headers` in k6 only"),
    ("test_abort.js", "counts", "k6 counts the iteration that aborts the test as complete"),
];

/// Returns the scripts, by name.
fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../torr-k6/oracle");
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
    if !TIMED.contains(&name) {
        compare("console", theirs.console.join("\n"), ours.console.join("\n"));
        compare("requests", theirs.requests.join("\n"), ours.requests.join("\n"));
        if ONE_AT_A_TIME.contains(&name) {
            compare("connections", theirs.connections.to_string(), ours.connections.to_string());
        }
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
    let shop = Echo::responding(shop::response);
    let (mut reports, mut met) = (Vec::new(), Vec::new());
    let scripts = scripts();
    assert!(scripts.len() > 40, "{} scripts", scripts.len());
    for script in scripts {
        let name = script.file_name().and_then(|name| name.to_str()).expect("the name is text").to_owned();
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let theirs = run(&oracles.join("k6"), &[], &script, &shop);
        let ours = run(Path::new(torr_path()), &["k6"], &script, &shop);
        for (part, difference) in differences(&name, &theirs, &ours) {
            match DIFFERENT.iter().find(|(script, known, _)| *script == name && *known == part) {
                Some(known) => met.push(known),
                None => reports.push(format!("{name}, {part}:\n{difference}\n{}", ours.errors)),
            }
        }
    }
    assert!(reports.is_empty(), "{} differences:\n\n{}", reports.len(), reports.join("\n\n"));
    let gone: Vec<_> = DIFFERENT.iter().filter(|known| only.is_none() && !met.contains(known)).collect();
    assert!(gone.is_empty(), "these do not differ any more: {gone:?}");
}
