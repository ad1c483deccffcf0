//! PLAN.toml: a command line as a file, and mistakes in it by line and column.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use tempfile::TempDir;
use torr_test_support::program::{Ended, Running, torr, torr_command};
use torr_test_support::script::{OK, Script, answering};

/// The descriptor set of a file with the method `C` of the service `a.B`.
const DESCRIPTORS: &str = "\x0a\x2f\x0a\x07a.proto\x12\x01a\x22\x03\x0a\x01M\x32\x14\x0a\x01B\x12\x0f\x0a\x01C\x12\x04.a.M\
    \x1a\x04.a.M\x62\x06proto3";

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    folder
}

fn torr_in(folder: &Path, args: &[&str]) -> Ended {
    let mut command = torr_command(args);
    command.current_dir(folder).env("TORR_TEST_TOKEN", "geheim");
    Running::start(command).wait()
}

/// What `--print-plan` makes of a command line.
fn printed(folder: &Path, args: &[&str]) -> String {
    let ended = torr_in(folder, &[args, &["--print-plan"]].concat());
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{args:?}");
    ended.stdout
}

#[test]
fn a_plan_is_the_command_line_that_it_was_made_of() {
    let folder = folder(&[
        ("urls.txt", "/a\n"),
        ("f.csv", "id\n1\n"),
        ("a.hurl", "GET http://{{h}}/\n"),
        ("b.hurl", "GET http://b/\n"),
        ("v", "x=2\n"),
        ("access.log", "1764410400.5 \"GET /x HTTP/1.1\"\n"),
        ("a.proto", "syntax = \"proto3\"; package a; message M {} service B { rpc C(M) returns (M); }"),
        ("a.binpb", DESCRIPTORS),
    ]);
    let (url, call) = ("http://127.0.0.1:9/a", "grpc://127.0.0.1:9/a.B/C");
    let mut seen = BTreeSet::new();
    for args in [
        &[url, "-c", "7", "-t", "2", "-d", "30s", "-n", "5k", "--warmup", "2s", "--think", "50ms..150ms", "-q"][..],
        &[url, "-r", "1.5k", "--arrivals", "poisson", "--max-connections", "50", "--timeout", "2s"],
        &[url, "--stages", "10s:200c,30s:200c,5s:0c", "--requests-per-connection", "20"],
        &[url, "--pipeline", "16", "--max-rate", "0.5", "--live"],
        &[url, "-r", "1k", "--coalesce", "0", "--timestamps", "user", "--quick-ack"],
        &[url, "-r", "1k", "--coalesce", "300us", "--timestamps", "kernel", "--patience", "2s"],
        &[url, "--script", "a.lua"],
        &[url, "x", "y z", "--script", "a.lua"],
        &[url, "--no-keepalive", "-I", "-L"],
        &[
            url,
            "-X",
            "PUT",
            "-H",
            "X: 1",
            "-H",
            "Y: \"two\" \\ #3",
            "--data",
            "a=1",
            "--data",
            "b=é",
            "--data-raw",
            "@c",
        ],
        &[
            url,
            "--data-urlencode",
            "q=a b",
            "--data-binary",
            "x",
            "-G",
            "--url-query",
            "p=1",
            "-A",
            "",
            "-e",
            "http://r/",
        ],
        &[url, "--json-body", "{\"a\": [1, 2]}", "--compressed", "--range", "0-99"],
        &[url, "-F", "a=1", "-F", "b=x;type=text/plain", "--no-template"],
        &[url, "--urls", "urls.txt", "--order", "sequence", "--feeder", "f.csv", "--feeder-order", "random"],
        &[url, "--bind", "127.0.0.1,127.0.0.2", "--resolve", "a.test:80:192.0.2.1", "--sni", "x", "--insecure"],
        &[url, "--tlsv1.2", "--tls-max", "1.3", "--tls-resumption", "full", "--cert", "c", "--key", "k"],
        &[url, "--tlsv1.3", "--cacert", "c", "--unix-socket", "/run/x"],
        &[url, "--http2-prior-knowledge", "--streams", "8", "-x", "127.0.0.1:3128"],
        &["https://127.0.0.1:9/", "--http2"],
        &["https://127.0.0.1:9/", "--http3", "--tls-earlydata"],
        &["https://127.0.0.1:9/", "--alt-svc", "--streams", "2"],
        &[url, "--sse", "--until", "data == \"[DONE]\"", "--max-events", "5", "--idle-timeout", "10s"],
        &[url, "--tokens", "openai", "--until", "event == end"],
        &["ws://127.0.0.1:9/chat", "--listen", "--data", "x", "--until", "event == binary"],
        &["ws://127.0.0.1:9/", "--data", "x", "--compressed", "--no-context-takeover"],
        &[
            "ws://127.0.0.1:9/",
            "--data",
            "x",
            "--binary",
            "--subprotocol",
            "a",
            "--subprotocol",
            "b",
            "--match",
            "$.id",
        ],
        &[url, "--expect-status", "200,2xx", "--expect-header", "A: ~b", "--expect-body", "hi", "--expect-body=-x"],
        &[
            url,
            "--json",
            "-",
            "--csv",
            "c",
            "--hlog",
            "h",
            "--prometheus",
            "p",
            "--report",
            "r",
            "--junit",
            "j",
            "--otlp",
            "http://o:4318",
        ],
        &[
            call,
            "--proto",
            "a.proto",
            "--proto-path",
            ".",
            "--deadline",
            "1s",
            "--grpc-encoding",
            "gzip",
            "--streams",
            "2",
        ],
        &[call, "--protoset", "a.binpb", "--data", "{}"],
        &[call, "--reflection", "--fail-if", "grpc.UNAVAILABLE>0"],
        &[url, "--fail-if", "p99>50ms,errors>0.1%", "--fail-if", "rps<10"],
        &[url, "--abort-if", "errors>5% for 10s,p99>2s", "--abort-if", "rps<10 for 1500ms"],
        &[url, "--prometheus-remote-write", "http://p:9090", "--influxdb", "http://i", "--push-interval", "10s"],
        &["https://127.0.0.1:9/", "--http3", "--insecure", "--streams", "3"],
        &[
            "http://127.0.0.1:9",
            "--log",
            "access.log",
            "--log-format",
            "$msec \"$request\"",
            "--log-methods",
            "GET,POST",
            "--log-host",
            "a",
            "--log-host",
            "b",
        ],
        &[url, "--dashboard"],
        &[url, "--dashboard=127.0.0.1:8089", "--dashboard-cert", "c", "--dashboard-key", "k"],
        &["a.hurl=7", "b.hurl=1", "-c", "50", "--variable", "h=a", "--variable", "x=1=2", "--variables-file", "v"],
        &[
            "a.hurl",
            "--variable",
            "h=a",
            "-r",
            "5",
            "--think",
            "1s..3s",
            "--setup",
            "b.hurl",
            "--teardown",
            "b.hurl",
            "--feeder",
            "f.csv",
            "--csv-entries",
            "e",
        ],
    ] {
        let plan = printed(folder.path(), args);
        std::fs::write(folder.path().join("again.toml"), &plan).expect("a file can be written");
        assert_eq!(printed(folder.path(), &["again.toml"]), plan, "{args:?}");
        // Every flag of the line stands in the file, with its value.
        let flags = args.iter().filter_map(|word| word.strip_prefix("--")?.split('=').next());
        for flag in flags {
            assert!(plan.contains(flag), "--{flag} of {args:?} is not in\n{plan}");
        }
        let read: toml::Table = plan.parse().unwrap_or_else(|error| panic!("{error}: {plan}"));
        assert!(read.len() > 1, "{plan}");
        seen.extend(read.into_iter().map(|(key, _)| key));
    }
    let schema: Value = serde_json::from_str(&torr(&["plan-schema"]).stdout).expect("the schema is JSON");
    let all: BTreeSet<_> = schema["properties"].as_object().expect("there are properties").keys().cloned().collect();
    // Secrets are left out of a plan, with what needs them, and have a test of their own.
    let secrets = ["user", "digest", "aws-sigv4", "oauth2-bearer", "proxy-user", "cookie", "secret"].map(str::to_owned);
    let is_left_out = |key: &str| key.starts_with("oauth2-") || secrets.iter().any(|secret| secret == key);
    let missing: Vec<_> = all.difference(&seen).filter(|key| !is_left_out(key)).collect();
    assert!(missing.is_empty(), "flags without a command line above: {missing:?}");
}

#[test]
fn a_plan_runs_as_its_command_line_does_and_flags_win_over_it() {
    let server = Script::start(answering(OK));
    let url = server.url();
    let folder = folder(&[]);
    let args =
        [&*url, "-n", "30", "-c", "3", "-t", "1", "-q", "-H", "X: 1", "--expect-status", "200", "--warmup", "1ms"];
    let plan = printed(folder.path(), &args);
    std::fs::write(folder.path().join("plan.toml"), plan).expect("a file can be written");
    let result = |args: &[&str]| -> Value {
        let ended = torr_in(folder.path(), &[args, &["--json", "-"]].concat());
        assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}: {ended:?}"))
    };
    let (direct, planned) = (result(&args), result(&["plan.toml"]));
    assert_eq!(planned["plan"], direct["plan"]);
    assert_eq!((&planned["target"], &planned["requests"]), (&direct["target"], &30.into()));
    let other = result(&["-n", "12", "plan.toml", "--connections=4"]);
    assert_eq!((&other["requests"], &other["plan"]["connections"]), (&12.into(), &4.into()));
    let elsewhere = result(&["plan.toml", &format!("{url}elsewhere")]);
    assert_eq!(elsewhere["target"], format!("{url}elsewhere"));
}

#[test]
fn what_a_flag_excludes_gives_way_and_is_said() {
    let plan = "target = \"http://127.0.0.1:9/\"\nstages = [\"1s:10\", \"2s:0\"]\nheader = [\"A: 1\", \"B: 2\"]\ndata = \"x\"\n\
                variable = []\n";
    let folder = folder(&[("plan.toml", plan)]);
    let ended =
        torr_in(folder.path(), &["plan.toml", "--rate", "5", "-H", "a: 3", "--json-body", "{}", "--print-plan"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.stderr, "torr: plan.toml:2:10: 'stages' is replaced by --rate\n");
    let read: toml::Table = ended.stdout.parse().expect("a plan is TOML");
    assert_eq!(read["rate"].as_integer(), Some(5));
    assert_eq!(read["header"], toml::Value::from(vec!["B: 2", "a: 3"]));
    assert_eq!(read["json-body"].as_str(), Some("{}"));
    assert!(!read.contains_key("stages") && !read.contains_key("data"), "{}", ended.stdout);
}

#[test]
fn all_keys_that_a_flag_excludes_give_way() {
    let url = "http://127.0.0.1:9/";
    let target = format!("target = \"{url}\"\n");
    // A plan, what stands beside it, the keys that are left and what was said.
    for (plan, beside, left, lines) in [
        (
            "http2-prior-knowledge = true\nstreams = 2\n",
            &["--pipeline", "2"][..],
            &["pipeline", "target"][..],
            &[
                "p.toml:2:25: 'http2-prior-knowledge' is replaced by --pipeline",
                "p.toml:3:11: 'streams' is dropped together with 'http2-prior-knowledge'",
            ][..],
        ),
        ("think = \"100ms\"\n", &["-r", "50"], &["rate", "target"], &["p.toml:2:9: 'think' is replaced by --rate"]),
        (
            "rate = 50\narrivals = \"poisson\"\n",
            &["--think", "1ms"],
            &["target", "think"],
            &["p.toml:2:8: 'rate' is replaced by --think", "p.toml:3:12: 'arrivals' is dropped together with 'rate'"],
        ),
        (
            "rate = 50\narrivals = \"poisson\"\n",
            &["--stages", "1s:5"],
            &["arrivals", "stages", "target"],
            &["p.toml:2:8: 'rate' is replaced by --stages"],
        ),
        ("think = \"100ms\"\n", &["--stages", "1s:5c"], &["stages", "target", "think"], &[]),
        (
            "pipeline = 2\n",
            &["--stages", "1s:5c"],
            &["stages", "target"],
            &["p.toml:2:12: 'pipeline' is replaced by --stages"],
        ),
        (
            "max-rate = 5\n",
            &["--stages", "1s:5"],
            &["stages", "target"],
            &["p.toml:2:12: 'max-rate' is replaced by --stages"],
        ),
    ] {
        let folder = folder(&[("p.toml", &format!("{target}{plan}"))]);
        let ended = torr_in(folder.path(), &[&["p.toml"], beside, &["--print-plan"]].concat());
        assert_eq!(ended.code, Some(0), "{plan} {beside:?}: {ended:?}");
        let said: Vec<_> = ended.stderr.lines().map(|line| line.trim_start_matches("torr: ")).collect();
        assert_eq!(said, lines, "{plan} {beside:?}");
        let read: toml::Table = ended.stdout.parse().expect("a plan is TOML");
        let mut keys: Vec<_> = read.keys().collect();
        keys.sort();
        assert_eq!(keys, left, "{plan} {beside:?}: {}", ended.stdout);
    }
    // Sessions think at any rate.
    let files = [("p.toml", "target = \"a.hurl\"\nthink = \"1ms\"\n"), ("a.hurl", "GET http://127.0.0.1:9/\n")];
    let folder = folder(&files);
    let ended = torr_in(folder.path(), &["p.toml", "-r", "50", "--print-plan"]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{ended:?}");
    assert!(ended.stdout.contains("think = \"1ms\""), "{}", ended.stdout);
}

#[test]
fn what_a_run_would_refuse_is_not_printed() {
    let folder = folder(&[("empty.hurl", "# nothing\n"), ("a.hurl", "GET http://127.0.0.1:9/\n")]);
    let url = "http://127.0.0.1:9/";
    for (args, words) in [
        (&[url, "--think", "1ms", "-r", "50"][..], "--think needs a closed loop"),
        (&[url, "--http2"], "--http2 needs an https:// URL"),
        (&[url, "--fail-if", "p99{x}>1s"], "needs a hurl file"),
        (&["a.hurl", "--fail-if", "p99{x}>1s"], "unknown entry 'x'"),
        (&[url, "--abort-if", "gap_p99>1s for 5s"], "--abort-if 'gap_p99>1s' needs --sse"),
        (&[url, "--sse", "--abort-if", "p99>1s"], "about complete streams"),
        (&[url, "--abort-if", "p99{x}>1s"], "'p99{x}>1s' cannot end a run"),
        (&[url, "--abort-if", "errors>1% for ever"], "'for' must be a duration"),
        (&[url, "--abort-if", "errors"], "expected a comparison"),
        (&["empty.hurl"], "no request in this file"),
        (&[url, "--data", "@none"], "none"),
        (&["a.hurl", "--max-rate", "5", "--stages", "1s:5"], "drop --max-rate"),
    ] {
        let ended = torr_in(folder.path(), &[args, &["--print-plan"]].concat());
        assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(words) && ended.stderr.lines().count() == 1, "{args:?}: {}", ended.stderr);
    }
    // Standard input is left alone, and nothing has to be reachable.
    for args in [&[url, "--data", "@-"][..], &["http://no-such-host.invalid/"]] {
        let ended = torr_in(folder.path(), &[args, &["--print-plan"]].concat());
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{args:?}: {ended:?}");
    }
}

#[test]
fn secrets_are_replaced_by_a_comment() {
    let folder = folder(&[("a.hurl", "GET http://{{h}}/\n")]);
    for (args, key, kept) in [
        (&["http://ann:geheim@127.0.0.1:9/", "-c", "5"][..], "target", "connections = 5"),
        (&["http://127.0.0.1:9/?token=geheim", "-c", "5"], "target", "connections = 5"),
        (&["http://127.0.0.1:9/", "-u", "ann:geheim"], "user", "127.0.0.1:9"),
        (&["http://127.0.0.1:9/", "--oauth2-bearer", "geheim"], "oauth2-bearer", "127.0.0.1:9"),
        (&["http://127.0.0.1:9/", "-b", "sid=geheim"], "cookie", "127.0.0.1:9"),
        (&["http://127.0.0.1:9/", "-H", "Authorization: Bearer geheim", "-H", "A: b"], "header", "header = \"A: b\""),
        (
            &["http://127.0.0.1:9/", "-H", "Authorization: Bearer {{env TORR_TEST_TOKEN}}"],
            "",
            "{{env TORR_TEST_TOKEN}}",
        ),
        (&["http://127.0.0.1:9/", "--data", "name=ann&password=geheim"], "data", "127.0.0.1:9"),
        (&["http://127.0.0.1:9/", "--json-body", "{\"password\": \"geheim\"}"], "json-body", "127.0.0.1:9"),
        (&["http://127.0.0.1:9/", "-x", "p:1", "--proxy-user", "ann:geheim"], "proxy-user", "proxy = \"p:1\""),
        (&["a.hurl", "--variable", "h=a", "--secret", "key=geheim"], "secret", "variable = \"h=a\""),
        (&["a.hurl", "--variable", "h=a", "--variable", "token=geheim"], "variable", "variable = \"h=a\""),
    ] {
        let plan = printed(folder.path(), args);
        assert!(!plan.contains("geheim") && plan.contains(kept), "{args:?}: {plan}");
        let comment = plan.lines().find(|line| line.starts_with(&format!("# {key} ")));
        match key {
            "" => assert!(!plan.contains("secret"), "{plan}"),
            _ => assert!(comment.is_some_and(|line| line.contains("is not written: pass")), "{args:?}: {plan}"),
        }
    }
    // What stands beside the file completes it.
    std::fs::write(folder.path().join("p.toml"), printed(folder.path(), &["http://u:geheim@127.0.0.1:9/", "-n", "3"]))
        .expect("a file can be written");
    let ended = torr_in(folder.path(), &["p.toml", "http://127.0.0.1:9/", "--print-plan"]);
    assert!(ended.code == Some(0) && ended.stdout.contains("target = \"http://127.0.0.1:9/\""), "{ended:?}");
}

#[test]
fn a_plan_of_weighted_files_with_variables_and_thresholds_runs() {
    let server = Script::start(answering(OK));
    let host = server.url().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let plan = format!(
        "connections = 2\nrequests = 40\nfail-if = [\"errors>0.1%\"]\nquiet = true\n[target]\n\"a.hurl\" = 3\n\"b.hurl\" = 1\n\
         [variable]\nhost = \"{host}\"\npage = 7\n"
    );
    let a = "GET http://{{host}}/a/{{page}}\nHTTP 200\n";
    let folder = folder(&[("plan.toml", &plan), ("a.hurl", a), ("b.hurl", "GET http://{{host}}/b\nHTTP 200\n")]);
    let ended = torr_in(folder.path(), &["plan.toml", "--json", "-"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result: Value = serde_json::from_str(&ended.stdout).expect("the result is JSON");
    assert_eq!(result["plan"]["connections"], 2);
    assert_eq!(result["thresholds"].as_array().map(Vec::len), Some(1), "{result:#}");
}

#[test]
fn mistakes_are_said_by_line_and_column_with_what_to_do() {
    let cases: &[(&str, &str)] = &[
        (
            "target = \"http://h/\"\nconections = 5\n",
            "p.toml:2:1: unknown setting 'conections' (did you mean 'connections'?)",
        ),
        ("max_rate = 5\n", "p.toml:1:1: unknown setting 'max_rate' (did you mean 'max-rate'?)"),
        ("c = 5\n", "(did you mean 'connections'?)"),
        ("location = true\n", "(did you mean 'follow'?)"),
        ("nothing-alike = 5\n", "('torr plan-schema' lists all keys, 'torr --help-all' explains them)"),
        ("print-plan = true\n", "unknown setting 'print-plan'"),
        ("[load]\nconnections = 5\n", "p.toml:1:2: unknown setting 'load'"),
        ("tlsv1.2 = true\n", "use quotes: \"tlsv1.2\" = ..."),
        (
            "target = \"http://h/\"\n  duration = \"soon\"\n",
            "p.toml:2:14: invalid value 'soon' of 'duration': must be a duration such as 10s",
        ),
        ("duration = soon\n", "p.toml:1:12: "),
        ("duration = true\n", "p.toml:1:12: 'duration' must be a number, or text such as"),
        ("no-keepalive = \"yes\"\n", "p.toml:1:16: 'no-keepalive' must be true or false"),
        ("request = 5\n", "p.toml:1:11: 'request' must be text, in quotes"),
        ("request = [\"GET\"]\n", "'request' must be one value, found an array"),
        ("header = [\"A: b\", 5]\n", "p.toml:1:19: 'header' must be text, in quotes"),
        ("fail-if = [\n  \"p99>50ms\",\n  \"p99>fast\",\n]\n", "p.toml:3:3: invalid value 'p99>fast' of 'fail-if'"),
        ("arrivals = \"possion\"\n", "invalid value 'possion' of 'arrivals': must be one of constant, poisson"),
        ("duration = 5\nduration = 6\n", "p.toml:2:1: duplicate key"),
        ("variable = {a = [1]}\n", "p.toml:1:17: 'a' must be text, a number, true or false"),
        ("target = \"http://h/\"\nrate = 5\n\nstages = \"1s:1\"\n", "p.toml:4:10: 'stages': "),
        ("arrivals = \"poisson\"\ntarget = \"http://h/\"\n", "p.toml:1:12: 'arrivals': "),
        (
            "target = \"http://h/\"\nheader = [\"A: b\", \"no colon\"]\n",
            "p.toml:2:19: 'header': header 2 must be 'Name: value'",
        ),
        (
            "target = \"http://h/\"\nvariable = \"a=b\"\n",
            "p.toml:2:12: 'variable': --variable is not supported for a URL",
        ),
        ("connections = 5\n", "p.toml: missing 'target'"),
        ("", "p.toml: missing 'target'"),
        ("target = \"p.toml\"\n", "p.toml:1:10: 'target': 'p.toml' is a plan: the target of a plan must not be a plan"),
        ("target = [\"http://h/\", \"http://i/\"]\n", "expected one URL"),
        ("target = \"http://h/\"\noauth2-bearer = \"geheim\"\nuser = \"ann\"\n", "p.toml:3:8: 'user': "),
    ];
    for (plan, words) in cases {
        let folder = folder(&[("p.toml", plan)]);
        let ended = torr_in(folder.path(), &["p.toml"]);
        assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{plan}: {ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{plan}: {}", ended.stderr);
        assert!(ended.stderr.starts_with("torr: ") && ended.stderr.contains(words), "{plan}: {}", ended.stderr);
        assert!(!ended.stderr.contains("geheim"), "{}", ended.stderr);
    }
    let two = folder(&[("p.toml", ""), ("q.toml", "")]);
    let ended = torr_in(two.path(), &["p.toml", "q.toml"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("expected one plan"), "{ended:?}");
}

#[test]
fn the_schema_describes_every_flag() {
    let ended = torr(&["plan-schema"]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    let schema: Value = serde_json::from_str(&ended.stdout).expect("the schema is JSON");
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let properties = schema["properties"].as_object().expect("there are properties");
    let help = torr(&["--help-all"]).stdout;
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let flags: Vec<_> = lines.filter_map(|line| line.split_once("--")?.1.split([' ', ',', '[']).next()).collect();
    assert!(flags.len() > 60, "{flags:?}");
    for flag in flags {
        let is_setting = !["help", "help-all", "version", "print-plan"].contains(&flag);
        assert_eq!(properties.contains_key(flag), is_setting, "--{flag}");
    }
    for (key, property) in properties {
        assert!(property["description"].as_str().is_some_and(|text| text.len() > 5), "{key}: {property}");
        let has_form = ["type", "enum", "anyOf"].iter().any(|form| property.get(form).is_some());
        assert!(has_form, "{key}: {property}");
    }
    assert_eq!(properties["no-keepalive"]["type"], "boolean");
    assert_eq!(properties["arrivals"]["enum"], serde_json::json!(["constant", "poisson", "logged"]));
    assert_eq!(properties["connections"]["type"], serde_json::json!(["string", "number"]));
    assert_eq!(properties["timeout"]["default"], "10s");
}

#[test]
fn pieces_in_turns_are_refused() {
    let ended = torr(&["http://h/", "--data", "a", "--data-raw", "b", "--data", "c", "--print-plan"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("cannot mix"), "{ended:?}");
}

#[test]
fn completions_and_man_pages_have_the_commands_and_flags() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = torr(&["completions", shell]);
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{shell}");
        for word in ["tls-resumption", "print-plan", "help-all", "doctor", "wrk2"] {
            assert!(ended.stdout.contains(word), "{shell} does not complete {word}");
        }
    }
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let pages = folder.path().join("man1");
    let ended = torr(&["man", pages.to_str().expect("it is text")]);
    assert_eq!((ended.code, &*ended.stdout), (Some(0), ""), "{ended:?}");
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(page("torr.1").contains("tls\\-resumption") && page("torr-limit.1").contains("slo"));
    let ended = torr(&["man", "/dev/null/x"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("/dev/null/x"), "{ended:?}");
}
