//! `torr compare` and `torr history` of archived results.

use std::fs;
use std::path::Path;
use torr_test_support::program::torr;
use torr_test_support::result::forget_validity;
use torr_test_support::servers::Serve;

/// Runs the program once, and writes copies of its result with other figures.
pub fn archive(folder: &Path, factors: &[f64]) -> Vec<String> {
    let server = Serve::start(&[]);
    let made = torr(&[&server.url("/"), "-n", "2000", "-c", "2", "-t", "1", "-q", "--json", "-"]);
    let mut run: serde_json::Value = serde_json::from_str(&made.stdout).expect("it is JSON");
    assert!(run["latency_histogram"].as_str().is_some_and(|buckets| buckets.contains(':')), "{run:#}");
    forget_validity(&mut run);
    let write = |(at, factor): (usize, &f64)| {
        // The series of duration makes throughput what the factor says, with a noise of a thousandth.
        run["duration_s"] = (1.0 / factor * (1.0 + 0.001 * (at % 3) as f64)).into();
        run["started_at"] = format!("2026-11-23T00:{at:02}:00.000Z").into();
        let path = folder.join(format!("{at:02}.json"));
        fs::write(&path, run.to_string()).expect("a file can be written");
        path.display().to_string()
    };
    factors.iter().enumerate().map(write).collect()
}

#[test]
fn single_results_have_no_interval_and_groups_do() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let files = archive(folder.path(), &[[1.0; 12], [2.0; 12]].concat());
    let single = torr(&["compare", &files[0], &files[1]]);
    assert_eq!(single.code, Some(4), "{}", single.stdout);
    assert!(single.stdout.contains("one pair gives no interval"), "{}", single.stdout);
    let words = |files: &[String]| files.iter().map(String::clone).collect::<Vec<_>>();
    let sides =
        [vec!["compare".into(), "--a".into()], words(&files[..12]), vec!["--b".into()], words(&files[12..])].concat();
    let rule = ["--fail-if".to_owned(), "throughput>+50%".to_owned()];
    let args: Vec<&str> = sides.iter().chain(&rule).map(String::as_str).collect();
    let groups = torr(&args);
    assert_eq!(groups.code, Some(1), "{}{}", groups.stdout, groups.stderr);
    assert!(groups.stdout.contains("B's throughput is"), "{}", groups.stdout);
}

#[test]
fn results_that_are_all_invalid_cannot_tell() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let files = archive(folder.path(), &[1.0, 1.0]);
    let mut run: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&files[1]).expect("it was written")).expect("it is JSON");
    run["interrupted"] = true.into();
    fs::write(&files[1], run.to_string()).expect("a file can be written");
    let compared = torr(&["compare", &files[0], &files[1]]);
    assert_eq!(compared.code, Some(4), "{}{}", compared.stdout, compared.stderr);
    assert!(compared.stderr.contains(&format!("{} has no valid result: interrupted", files[1])), "{}", compared.stderr);
}

#[test]
fn history_names_the_run_that_changed() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let files = archive(folder.path(), &[[1.0; 10], [0.8; 10]].concat());
    let found = torr(&["history", &folder.path().display().to_string(), "--json", "-"]);
    let history: serde_json::Value = serde_json::from_str(&found.stdout).expect("it is JSON");
    let changes = history["changes"].as_array().expect("it is a list");
    assert_eq!((changes.len(), changes[0]["run"].as_str()), (1, Some(files[10].as_str())), "{history:#}");
    assert!(changes[0]["ratio"].as_f64().is_some_and(|ratio| (ratio - 0.8).abs() < 0.01), "{history:#}");
}

#[test]
fn a_history_is_a_page_a_comment_and_a_table() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let files = archive(folder.path(), &[[1.0; 10], [0.8; 10]].concat());
    for file in &files[10..] {
        let text = fs::read_to_string(file).expect("it was written");
        let mut run: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        assert!(run["machine"]["kernel"].is_string(), "{:#}", run["machine"]);
        run["machine"]["kernel"] = "Linux 9.9".into();
        run["plan"]["connections"] = 3.into();
        fs::write(file, run.to_string()).expect("a file can be written");
    }
    let of = |name: &str| folder.path().join(name).display().to_string();
    let (page, markdown, table) = (of("h.html"), of("h.md"), of("h.csv"));
    let runs = folder.path().display().to_string();
    let made = torr(&["history", &runs, "--report", &page, "--markdown", &markdown, "--csv", &table]);
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(made.stdout.contains("machine.kernel changed as well, from Linux "), "{}", made.stdout);

    let page = fs::read_to_string(page).expect("it was written");
    for part in ["<h2>Changes</h2>", "Beside the code", "plan.connections", "Linux 9.9", ">-20.0%<", "Throughput"] {
        assert!(page.contains(part), "{part}");
    }
    let markdown = fs::read_to_string(markdown).expect("it was written");
    // The dots and slashes of a path mean nothing in Markdown.
    let first = format!("### torr history: throughput fell by 20% at {}\n", files[10].replace('_', "\\_"));
    assert!(markdown.starts_with(&first) && markdown.contains("| throughput | fell by 20% |"), "{markdown}");
    let table = fs::read_to_string(table).expect("it was written");
    let mut lines = table.lines();
    assert!(lines.next().is_some_and(|names| names.starts_with("time,run,cpu,throughput,p50,")), "{table}");
    assert!(lines.next().is_some_and(|line| line.starts_with("2026-11-23T00:00:00.000Z,")), "{table}");
    assert_eq!(lines.count(), 19);
    let on_stdout = torr(&["history", &runs, "--csv", "-"]);
    assert_eq!(on_stdout.stdout, table);
    // A result is never an output, and its folder may have outputs.
    let over = torr(&["history", &runs, "--csv", &files[0]]);
    assert_eq!((over.code, over.stdout.as_str()), (Some(2), ""), "{over:?}");
    assert!(over.stderr.contains("--csv would overwrite "), "{over:?}");
    assert_eq!(torr(&["history", &runs, "--json", &of("all.json")]).code, Some(0));
    assert_eq!(torr(&["history", &runs, "--json", &of("all.json")]).code, Some(0));
}

#[test]
fn mistakes_get_one_line() {
    for (args, hint) in [
        (&["compare"][..], "two URLs or results"),
        (&["compare", "x"], "two versions"),
        (&["compare", "--a", "x", "--b", "y"], "need --url"),
        (&["compare", "http://127.0.0.1:1/", "http://127.0.0.1:2/", "--fail-if", "cpu>2%"], "cpu>+2%"),
        (&["compare", "--a", "x {port}", "--b", "y", "--url", "http://127.0.0.1:{port}/"], "both commands"),
        (&["compare", "a.json", "b.json"], "no such file: 'a.json'"),
        (&["compare", "--a", "a.json", "--b", "b.json"], "no such file: 'a.json'"),
        (&["compare", "http://127.0.0.1:1/", "Cargo.toml"], "cannot compare the URL"),
        (&["history", "/no/such/file"], "/no/such/file"),
    ] {
        let outcome = torr(args);
        assert_eq!(outcome.code, Some(2), "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(hint) && outcome.stderr.lines().count() <= 3, "{args:?}: {}", outcome.stderr);
    }
}

#[test]
fn two_services_of_streams_are_compared_in_turns() {
    let servers = [Serve::start(&["--workers", "1"]), Serve::start(&["--workers", "1"])];
    let [a, b] = [(&servers[0], 20), (&servers[1], 40)].map(|(server, gap)| server.url(&format!("/sse/1000000/{gap}")));
    let load = ["compare", &a, &b, "--sse", "-c", "4", "--budget", "20s", "-q"];
    let ended = torr(&[&load[..], &["--fail-if", "gap_p50>+50%", "--json", "-"]].concat());
    // A machine whose CPU others use may have no valid turn.
    assert!([Some(1), Some(4)].contains(&ended.code), "{ended:?}");
    let report: serde_json::Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    assert_eq!((&report["rate"], &report["connections"]), (&serde_json::Value::Null, &4.into()), "{report:#}");
    let turns = report["blocks"].as_array().expect("it has blocks").iter().flat_map(|block| [&block["a"], &block["b"]]);
    for turn in turns {
        let values = turn["values"].as_object().expect("a turn has values");
        assert!(values.contains_key("events") && values.contains_key("gap_p50"), "{turn:#}");
        assert!(!["throughput", "cpu", "p50"].iter().any(|name| values.contains_key(*name)), "{turn:#}");
    }
    let gaps = report["findings"].as_array().into_iter().flatten().find(|finding| finding["metric"] == "gap_p50");
    let gaps = gaps.unwrap_or_else(|| panic!("{report:#}"));
    if ended.code == Some(1) {
        assert!(gaps["ratio"].as_f64().is_some_and(|ratio| (1.5..2.5).contains(&ratio)), "{gaps:#}");
    }
    let refused = torr(&[&load[..], &["-r", "5"]].concat());
    assert_eq!((refused.code, refused.stderr.lines().count()), (Some(2), 1), "{refused:?}");
    assert!(refused.stderr.contains("--rate is not supported with streams of events"), "{refused:?}");
}
