//! Help: what it has, that it fits a screen, and flags that other programs have.

use torr_test_support::commands::{COMMANDS, FRONTS};
use torr_test_support::program::{Running, torr, torr_command};

#[test]
fn help_and_version_go_to_standard_output() {
    for args in [["--help"], ["--help-all"], ["--version"]] {
        let ended = torr(&args);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{args:?}");
        assert!(ended.stdout.to_lowercase().contains("torr"), "{args:?}: {}", ended.stdout);
    }
    let help = torr(&["--help-all"]).stdout;
    for flag in [
        "--csv",
        "--hlog",
        "--prometheus",
        "--junit",
        "--otlp",
        "--fail-if",
        "-c",
        "-t",
        "-d",
        "-n",
        "-H",
        "-X",
        "--data",
        "--json-body",
        "-F",
        "--urls",
        "--feeder",
        "--timeout",
        "--no-keepalive",
        "--json",
        "-q",
        "serve",
        "demo",
        "ab",
        "wrk",
        "httpress",
        "press",
    ] {
        assert!(help.contains(flag), "{flag} is not in --help-all:\n{help}");
    }
    let nothing = torr(&[]);
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
}

#[test]
fn help_is_a_command_too() {
    assert_eq!(torr(&["help"]).stdout, torr(&["--help"]).stdout);
    for command in &COMMANDS[1..] {
        let ended = torr(&["help"].into_iter().chain(command.split(' ')).collect::<Vec<_>>());
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{command}");
        assert_eq!(ended.stdout, torr(&with(command, "--help")).stdout, "{command}");
        assert!(ended.stdout.contains(&format!("torr {command}")), "{command}: {}", ended.stdout);
    }
    for front in FRONTS {
        assert_eq!(torr(&["help", front]).stdout, torr(&[front, "-h"]).stdout, "{front}");
    }
}

/// The lines of a screen.
const SCREEN: usize = 40;

/// Returns the words of a command with this flag behind it.
fn with<'w>(command: &'w str, flag: &'w str) -> Vec<&'w str> {
    command.split_whitespace().chain([flag]).collect()
}

#[test]
fn every_command_that_help_names_is_known_to_the_tests_of_help() {
    let mut named = vec![String::new()];
    for command in COMMANDS {
        let help = torr(&with(command, "--help-all")).stdout;
        let below = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        // A line that goes on with the text of a command is indented further.
        let lines = below.take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("  "));
        let names = lines.filter_map(|line| line.split(' ').next()).filter(|name| !name.is_empty());
        named.extend(names.map(|name| format!("{command} {name}").trim_start().to_owned()));
    }
    let mut known: Vec<_> = COMMANDS.iter().chain(&FRONTS).map(|name| (*name).to_owned()).collect();
    named.sort();
    known.sort();
    assert_eq!(named, known);
}

#[test]
fn help_fits_a_screen_and_help_all_has_every_flag() {
    let on_screen = |args: &[&str]| {
        let mut command = torr_command(args);
        command.env("COLUMNS", "80");
        Running::start(command).wait()
    };
    let flags = |text: &str| -> Vec<String> {
        let starts = text.lines().filter(|line| line.starts_with("  -") || line.starts_with("      --"));
        starts.filter_map(|line| Some(format!("--{}", line.split_once("--")?.1.split([' ', ',']).next()?))).collect()
    };
    for command in COMMANDS {
        let brief = on_screen(&with(command, "--help"));
        assert_eq!((brief.code, brief.stderr.as_str()), (Some(0), ""), "{command:?}");
        assert_fits(&brief.stdout, 80);
        let lines = brief.stdout.lines().count();
        assert!(lines <= SCREEN, "torr {command} --help has {lines} lines:\n{}", brief.stdout);
    }
    for (command, more) in [("", "--tls-resumption"), ("serve", "--backlog"), ("limit", "--url-query")] {
        let (brief, all) = (on_screen(&with(command, "--help")).stdout, on_screen(&with(command, "--help-all")).stdout);
        assert!(brief.contains("--help-all"), "{brief}");
        let (some, every) = (flags(&brief), flags(&all));
        assert!(some.len() > 5 && every.len() > 2 * some.len(), "{some:?} of {every:?}");
        for flag in &some {
            assert!(every.contains(flag), "torr {command}: {flag} is only in --help");
        }
        assert!(all.contains(more), "torr {command} --help-all has no {more}");
    }
    let all = torr(&["--help-all"]).stdout;
    for heading in ["Load:", "Request:", "Transport:", "TLS:", "Checks:", "Sessions:", "Output:"] {
        assert!(all.lines().any(|line| line == heading), "{heading} is no heading of\n{all}");
    }
    let brief = torr(&["--help"]).stdout;
    assert_eq!(
        brief.lines().filter(|line| line.starts_with("  torr ")).count(),
        6,
        "an example for each need: {brief}"
    );
    for word in [
        "--report",
        "--fail-if",
        "serve",
        "doctor",
        "limit",
        "once",
        "import",
        "ab",
        "wrk2",
        "plan-schema",
        "completions",
        "man",
    ] {
        assert!(brief.contains(word), "{word} is not in\n{brief}");
    }
}

#[test]
fn the_help_of_a_command_has_its_exit_codes_or_names_the_flag_that_shows_them() {
    for command in [&["check"][..], &["demo"], &["lab", "run"], &["fleet", "run"]] {
        let help = torr(&[command, &["--help"]].concat()).stdout;
        assert!(help.contains("\nExit codes: 0 done; "), "torr {command:?}: {help}");
    }
    for command in [&[][..], &["doctor"], &["limit"], &["compare"], &["once"]] {
        let help = torr(&[command, &["--help"]].concat()).stdout;
        assert!(help.contains("--help-all") && !help.contains("Exit codes:"), "torr {command:?}: {help}");
        let all = torr(&[command, &["--help-all"]].concat()).stdout;
        assert!(all.contains("\nExit codes: 0 done; "), "torr {command:?}: {all}");
    }
}

#[test]
fn flags_of_other_load_generators_get_what_to_use_instead() {
    for (args, instead) in [
        (&["http://127.0.0.1:1", "--rps", "50"][..], "use -r RATE instead"),
        (&["http://127.0.0.1:1", "--vus=5"], "use -c N instead"),
        (&["http://127.0.0.1:1", "--ramp-up", "10s"], "use --stages STAGES instead"),
        (&["-z", "10s", "http://127.0.0.1:1"], "use -d DURATION instead"),
        (&["-R", "500", "http://127.0.0.1:1"], "use -r RATE instead"),
        (&["http://127.0.0.1:1", "--method", "PUT", "--body", "x"], "use -X METHOD instead"),
        (&["http://127.0.0.1:1", "--html", "a.html"], "use --report FILE instead"),
        (&["http://127.0.0.1:1", "--statsd", "http://h/"], "not supported; use --otlp URL or --influxdb URL instead"),
        (
            &["http://127.0.0.1:1", "--ntlm", "-u", "a:b"],
            "not supported; use -u, with --digest or without, or --oauth2-bearer instead",
        ),
        (&["limit", "http://127.0.0.1:1", "--body", "x"], "use --data TEXT instead"),
        (&["http://127.0.0.1:1", "-p", "5"], "use --data-binary @FILE for a body, or --pipeline N, instead"),
        (&["once", "http://127.0.0.1:1", "-p", "5"], "use --data-binary @FILE for a body instead"),
        (&["http://127.0.0.1:1", "-a", "5"], "use -u NAME:PASSWORD, or -n REQUESTS, instead"),
        (&["limit", "http://127.0.0.1:1", "-a", "5"], "use -u NAME:PASSWORD instead"),
        (&["limit", "http://127.0.0.1:1", "-v"], "use 'torr once URL' to show a request and its response"),
    ] {
        let ended = torr(args);
        let line = format!("': {instead}\n");
        assert!(ended.code == Some(2) && ended.stderr.starts_with("torr: unknown flag '"), "{args:?}: {ended:?}");
        assert!(ended.stderr.ends_with(&line), "{args:?}: {ended:?}");
    }
    let once = torr(&["once", "-v", "http://127.0.0.1:1"]);
    assert_eq!((once.code, once.stderr.as_str()), (Some(2), "torr: unknown flag '-v' (see 'torr once --help-all')\n"));
}

/// Panics if a line is wider than the screen, but for one of a single word.
pub fn assert_fits(text: &str, columns: usize) {
    let alone = |line: &str| line.split_whitespace().count() <= 1;
    let too_wide: Vec<_> = text.lines().filter(|line| line.chars().count() > columns && !alone(line)).collect();
    assert!(too_wide.is_empty(), "wider than {columns}: {too_wide:#?} of\n{text}");
}
