//! `torr doctor` compares: numbers of workers, a proxy, TLS, paths. What is known of each beforehand it finds.

use crate::budget::{compared, has_room};
use crate::printed;
use regex::Regex;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use torr_test_support::certificates::self_signed;
use torr_test_support::measured::measured;
use torr_test_support::program::{Running, run, torr, torr_command, torr_path};
use torr_test_support::quiet;
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::servers::{Nginx, Serve, free_port};
use torr_test_support::wait_until;
use torr_test_support::{alone, beside};

/// So many processes, each of which waits 20 ms over a request, and talks to one client at a time.
const SERVER: &str = r#"
use strict; use warnings; use IO::Socket::INET;
my ($port, $workers) = @ARGV;
my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 128, ReuseAddr => 1)
    or die "cannot listen: $!\n";
for (1 .. $workers) {
    next if fork;
    while (my $client = $listener->accept) {
        sysread($client, my $request, 4096);
        select(undef, undef, undef, 0.02);
        syswrite($client, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
        close $client;
    }
    exit;
}
1 while wait > 0;
"#;

/// The server's program, in a folder by whose name its processes are found.
struct Program {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Program {
    fn write() -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let path = folder.path().join("server.pl");
        std::fs::write(&path, SERVER).expect("a file can be written");
        Self { _folder: folder, path }
    }

    /// As it is given to `--command`.
    fn command(&self) -> String {
        format!("perl '{}' {{port}} {{n}}", self.path.display())
    }

    /// How many processes of it there are.
    fn processes(&self) -> usize {
        // The shell's, and torr's own, have it in their command lines as well.
        let pattern = format!("^perl {}", self.path.display());
        run("pgrep", &["-f", &pattern]).stdout.lines().count()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Only where a test has failed is there anything left to end.
        let _ = Command::new("pkill").args(["-KILL", "-f", &format!("^perl {}", self.path.display())]).status();
    }
}

fn texts(value: &Value) -> String {
    value.as_array().expect("it is a list").iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("{name} of {row}"))
}

#[test]
#[ignore = "measured for long: ./test full"]
fn as_many_workers_as_wait_are_recommended_and_none_is_left() {
    let _alone = alone();
    measured("as many workers as wait are recommended and none is left", || {
        let program = Program::write();
        let command = program.command();
        let found = compared(&[
            "doctor",
            "--sweep",
            "workers",
            "--command",
            &command,
            "--counts",
            "8,1",
            "-c",
            "16",
            "--budget",
            "14s",
            "-q",
        ]);
        assert_eq!((&found["schema"], &found["kind"]), (&"torr.compare/1".into(), &"workers".into()));
        quiet!(found["workers"] == 8, "{}", found["rows"]);
        let rows = found["rows"].as_array().expect("there are rows");
        assert_eq!([&rows[0]["workers"], &rows[1]["workers"]], [1, 8]);
        // Each of them responds some 49 times a second.
        assert!(number(&rows[0], "rps") < 51.0 && number(&rows[1], "rps") < 401.0, "{rows:?}");
        quiet!(number(&rows[1], "rps") > 4.0 * number(&rows[0], "rps"), "{rows:?}");
        let conclusion = &found["conclusion"];
        quiet!(texts(&conclusion["because"]).contains("3 to 8 workers per CPU"), "{conclusion}");
        let advice = texts(&conclusion["advice"]);
        quiet!(advice.contains("start the server with 8 workers") && advice.contains("larger numbers"), "{conclusion}");
        assert_eq!(program.processes(), 0);
        printed::runs(text(&conclusion["verify"]), &[], |_| program.processes() > 1);
        assert_eq!(program.processes(), 0);
    });
}

#[test]
#[ignore = "measured for long: ./test full"]
fn connections_that_bind_say_nothing_of_workers() {
    let _alone = alone();
    measured("connections that bind say nothing of workers", || {
        let command = format!("{} serve --listen 127.0.0.1:{{port}} --workers {{n}}", torr_path());
        let sweep = ["doctor", "--sweep", "workers", "--command", &command, "http://127.0.0.1:{port}/sleep/20"];
        let found = compared(&[&sweep[..], &["--counts", "1,2", "-c", "8", "--budget", "9s", "-q"]].concat());
        quiet!(found.get("workers").is_none(), "{}", found["workers"]);
        let conclusion = &found["conclusion"];
        let summary = text(&conclusion["summary"]);
        quiet!(summary.starts_with("The 8 connections limit the throughput, not the workers"), "{conclusion}");
        quiet!(
            texts(&conclusion["advice"]).contains("-c 32") && text(&conclusion["verify"]).contains("-c 32"),
            "{conclusion}"
        );
    });
}

#[test]
#[ignore = "measured for long: ./test full"]
fn every_printed_command_sends_the_same_requests_on_the_same_way() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (certificate, key) = self_signed(folder.path());
    let log = folder.path().join("requests.log");
    let wants = "if ($http_x_wanted != 'a b') { return 400; } if ($http_authorization != 'Basic dTpwdw==') { return 401; } \
                 if ($request_method != PUT) { return 405; } if ($http_content_length != 7) { return 411; } return 200 ok;";
    let site = format!("access_log {}; location /wanted {{ {wants} }} location / {{ return 404; }}", log.display());
    let nginx = Nginx::start_tls(&certificate, &key, &site);
    let url = format!("{}wanted?x=1&y=$z", nginx.https());
    let certificate = certificate.display().to_string();
    let given =
        ["--cacert", &certificate, "-H", "X-Wanted: a b", "-X", "PUT", "--data", "a=b&c=d", "-u", "u:pw", "-q", &url];
    let requests = || {
        let lines = std::fs::read_to_string(&log).unwrap_or_default();
        lines.lines().filter(|line| line.contains("/wanted")).map(str::to_owned).collect::<Vec<_>>()
    };
    for command in [
        &["doctor", "-c", "6", "--budget", "5s"][..],
        &["limit", "--budget", "5s", "--max-connections", "8", "--slo", "p99<5s,errors<1%"],
    ] {
        let ended = torr(&[command, &given[..]].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(!ended.stdout.contains("u:pw"), "{}", ended.stdout);
        let commands = printed::commands(&ended.stdout);
        // A diagnosis that can only be made again, as it was, has no command to verify it.
        assert!(command[0] == "doctor" || !commands.is_empty(), "{}", ended.stdout);
        assert_eq!(ended.stdout.contains("$TORR_USER"), !commands.is_empty(), "{}", ended.stdout);
        for command in commands {
            let before = requests().len();
            printed::runs(&command, &[("TORR_USER", "u:pw")], |_| requests().len() > before + 20);
        }
    }
    let refused: Vec<_> = requests().into_iter().filter(|line| !line.contains("\" 200 ")).collect();
    assert_eq!(refused, [""; 0]);
}

#[test]
fn secrets_of_several_urls_have_variables_of_their_own() {
    let _beside = beside();
    let (service, proxy) = (Script::start(answering(OK)), Script::start(answering(OK)));
    let url = format!("http://u:pw@{}/a?token=one-k9z", service.address);
    let via = format!("http://x:pq@{}/a?token=two-k9z", proxy.address);
    let given = [
        ("user and password of the URL", "u:pw"),
        ("the parameter token of the URL", "one-k9z"),
        ("user and password of --via", "x:pq"),
        ("the parameter token of --via", "two-k9z"),
        ("the parameter token of --paths", "two-k9z"),
    ];
    let announced = Regex::new(r"\$(\w+) \(([^)]*)\)").expect("it is a pattern");
    for comparison in [&["--via", &via][..], &["--paths", "/a?token=one-k9z,/b?token=two-k9z"]] {
        let found = compared(&[&["doctor", &url, "-c", "2", "--budget", "5s", "-q"], comparison].concat());
        let (whole, conclusion) = (found.to_string(), &found["conclusion"]);
        for secret in ["k9z", "u:pw", "x:pq"] {
            assert!(!whole.contains(secret), "{secret} is in {whole}");
        }
        let advice = texts(&conclusion["advice"]);
        let variables: Vec<_> = announced
            .captures_iter(&advice)
            .map(|found| {
                (found[1].to_owned(), given.iter().find(|(meaning, _)| *meaning == &found[2]).expect(&advice).1)
            })
            .collect();
        let variables: Vec<_> = variables.iter().map(|(name, secret)| (name.as_str(), *secret)).collect();
        let seen = || service.requests() + proxy.requests();
        let before = seen();
        printed::runs(text(&conclusion["verify"]), &variables, |_| seen() > before + 20);
        assert!(seen() > before, "{conclusion}");
    }
    let wrong = |server: &Script, allowed: &[(&str, &str)]| {
        let is_right =
            |text: &&String| allowed.iter().any(|(target, user)| text.contains(target) && text.contains(user));
        server.texts().iter().filter(|text| !is_right(text)).cloned().collect::<Vec<_>>()
    };
    assert_eq!(
        wrong(&service, &[("/a?token=one-k9z ", "Basic dTpwdw=="), ("/b?token=two-k9z ", "Basic dTpwdw==")]),
        [""; 0]
    );
    assert_eq!(wrong(&proxy, &[("/a?token=two-k9z ", "Basic eDpwcQ==")]), [""; 0]);
}

#[test]
fn an_interruption_ends_the_server_too() {
    let _beside = beside();
    let program = Program::write();
    let command = program.command();
    let torr = Running::start(torr_command(&["doctor", "--sweep", "workers", "--command", &command, "-c", "4", "-q"]));
    wait_until("a server with workers", || (program.processes() > 1).then_some(()));
    torr.signal("INT");
    let ended = torr.wait();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert_eq!(program.processes(), 0);
}

#[test]
fn a_second_interruption_ends_a_server_that_does_not_want_to() {
    let _beside = beside();
    let program = Program::write();
    // The server notes SIGTERM and continues.
    let signalled = program.path.with_file_name("asked");
    let stubborn = SERVER
        .replace(
            "my ($port",
            &format!("$SIG{{TERM}} = sub {{ open my $f, '>', '{}' }};\nmy ($port", signalled.display()),
        )
        .replace("while (my $client = $listener->accept) {", "while (1) { my $client = $listener->accept or next;")
        .replace("1 while wait > 0;", "sleep 1 while 1;");
    std::fs::write(&program.path, stubborn).expect("a file can be written");
    let command = program.command();
    let torr = Running::start(torr_command(&["doctor", "--sweep", "workers", "--command", &command, "-c", "4", "-q"]));
    wait_until("a server with workers", || (program.processes() > 1).then_some(()));
    torr.signal("INT");
    wait_until("the server to be asked to end", || signalled.exists().then_some(()));
    torr.signal("INT");
    let ended = torr.wait();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    wait_until("all of its processes to be gone", || (program.processes() == 0).then_some(()));
}

#[test]
fn what_does_not_start_says_so_in_one_line() {
    let _beside = beside();
    let sweep = |command: &str| torr(&["doctor", "--sweep", "workers", "--command", command, "--budget", "8s", "-q"]);
    let port = free_port();
    for (command, code, text) in [
        ("no-such-program {port} {n}", 2, &["no such program: 'no-such-program'"][..]),
        ("perl -e 'die \"out of paper\\n\"' {port} {n}", 3, &["'perl' ended before", "out of paper"]),
        ("sleep 60 {port} {n}", 3, &["'sleep'", "no output"]),
        ("sleep {port}", 2, &["needs '{n}'"]),
        ("sleep {n}", 2, &["no '{port}'", "pass the URL"]),
        ("sleep '{port} {n}", 2, &["a quote is not closed"]),
    ] {
        let ended = sweep(command);
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(code), 1), "{command}: {ended:?}");
        assert!(text.iter().all(|text| ended.stderr.contains(text)), "{command}: {ended:?}");
    }
    // One that starts, but listens elsewhere, is not waited for without end.
    let url = format!("http://127.0.0.1:{port}/");
    let ended = torr(&["doctor", "--sweep", "workers", "--command", "sleep 60{n}", &url, "--budget", "5s", "-q"]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stderr.contains("did not respond at 127.0.0.1"), "{ended:?}");
}

#[test]
#[ignore = "measured for long: ./test full"]
fn a_proxy_without_keep_alive_is_distinguished_from_one_with_it() {
    let _alone = alone();
    measured("a proxy without keep alive is distinguished from one with it", || {
        let serve = Serve::start(&["--workers", "1"]);
        let pass = format!("proxy_pass http://{};", serve.address);
        let closing = Nginx::start(&format!("location / {{ {pass} }}"));
        let keeping = Nginx::start_beside(
            "location / { proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection ''; }",
            &format!("upstream up {{ server {}; keepalive 64; }}", serve.address),
        );
        let compare = |proxy: &Nginx| {
            let through = format!("http://{}", proxy.address);
            compared(&["doctor", &serve.url("/bytes/10"), "--via", &through, "-c", "8", "--budget", "5s", "-q"])
        };
        for (proxy, keeps) in [(&closing, false), (&keeping, true)] {
            let found = compare(proxy);
            let rows = found["rows"].as_array().expect("there are rows");
            assert_eq!((rows.len(), &found["kind"]), (2, &"via".into()));
            assert_eq!(number(&rows[1], "failed_share"), 0.0, "{rows:?}");
            quiet!(number(&rows[1], "rps") < 0.9 * number(&rows[0], "rps"), "{rows:?}");
            quiet!(
                rows[1]["proxy_us"].is_number() && rows[0]["server_us"].is_number(),
                "too little CPU time: {rows:?}"
            );
            assert!(number(&rows[1], "proxy_us") > 0.0 && number(&rows[0], "server_us") > 0.0, "{rows:?}");
            assert!(rows[0].get("proxy_us").is_none(), "{rows:?}");
            let opened = number(&rows[1], "upstream_opened_per_request");
            quiet!((opened < 0.3) == keeps, "{rows:?}");
            let advice = texts(&found["conclusion"]["advice"]);
            quiet!(advice.contains("proxy_http_version 1.1") != keeps, "{advice}");
            printed::runs(text(&found["conclusion"]["verify"]), &[], printed::has_sockets);
        }
    });
}

#[test]
#[ignore = "measured for long: ./test full"]
fn handshakes_cost_what_they_cost_on_short_connections_only() {
    let _alone = alone();
    measured("handshakes cost what they cost on short connections only", || {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let (certificate, key) = self_signed(folder.path());
        let name = |path: &std::path::Path| path.display().to_string();
        let plain = Serve::start(&["--workers", "1"]);
        let secured = Serve::start(&["--workers", "1", "--tls-cert", &name(&certificate), "--tls-key", &name(&key)]);
        let https = format!("https://{}/", secured.address);
        let always = ["--cacert", &name(&certificate), "-c", "6", "--budget", "10s", "-q"];
        let found = compared(&[&["doctor", &plain.url("/"), "--tls", &https], &always[..]].concat());
        let rows = found["rows"].as_array().expect("there are rows");
        let at = |secured: &str, keep_alive: bool| {
            let is_it =
                |row: &&Value| row["transport"] == serde_json::json!({"secured": secured, "keep_alive": keep_alive});
            rows.iter().find(is_it).unwrap_or_else(|| panic!("{secured}, {keep_alive}: {rows:?}"))
        };
        assert_eq!(rows.len(), 6);
        assert!(at("plain", true).get("full_handshakes").is_none());
        let (full, resumed) = (at("full", false), at("resumed", false));
        assert_eq!(number(full, "resumed_handshakes"), 0.0, "{full}");
        assert!(number(resumed, "resumed_handshakes") > number(resumed, "full_handshakes"), "{resumed}");
        // By medians: another program may have taken the CPU in one of the turns.
        let rate = |row: &Value| number(row, "rps");
        quiet!(rate(full) * 2.0 < rate(at("full", true)) && rate(full) < rate(at("plain", false)), "{rows:?}");

        // Without a plain one the four others are compared, and a person reads a table of them.
        let ended = torr(&[&["doctor", &https, "--tls"], &always[..]].concat());
        has_room(&ended);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let text = |text: &str| ended.stdout.contains(text);
        assert!(
            text("one per request") && text("TLS, resumed, kept alive") && !text("plain, kept"),
            "{}",
            ended.stdout
        );
        assert!(text("verify torr https://"), "{}", ended.stdout);
        assert!(!text("ECDSA"), "the server's certificate is for a key of that kind: {}", ended.stdout);
        let [command] = &printed::commands(&ended.stdout)[..] else { panic!("one command: {}", ended.stdout) };
        printed::runs(command, &[], printed::has_sockets);
    });
}

#[test]
#[ignore = "measured for long: ./test full"]
fn paths_are_compared_with_the_first() {
    let _alone = alone();
    measured("paths are compared with the first", || {
        let serve = Serve::start(&["--workers", "1"]);
        let url = serve.url("/");
        let args = ["doctor", &url, "--paths", "/bytes/10,/bytes/1000000", "-c", "6", "--budget", "5s"];
        let found = compared(&[&args[..], &["-q"]].concat());
        let rows = found["rows"].as_array().expect("there are rows");
        assert_eq!([&rows[0]["name"], &rows[1]["name"]], ["/bytes/10", "/bytes/1000000"]);
        quiet!(rows[0].get("ratio").is_none() && number(&rows[1]["ratio"], "pairs") >= 3.0, "{rows:?}");
        quiet!(number(&rows[1], "rps") < number(&rows[0], "rps"), "{rows:?}");
        quiet!(rows[1]["server_us"].as_f64() > rows[0]["server_us"].as_f64(), "{rows:?}");
        let summary = &found["conclusion"]["summary"];
        quiet!(text(summary).starts_with("/bytes/10 has the highest throughput"), "{summary}");
        printed::runs(text(&found["conclusion"]["verify"]), &[], printed::has_sockets);
        let found = compared(&["doctor", &url, "--paths", "/nope,/bytes/10", "-c", "4", "--budget", "5s", "-q"]);
        let (rows, summary) = (&found["rows"], text(&found["conclusion"]["summary"]));
        assert!(rows[1].get("ratio").is_none() && rows[0]["failure"] == "status 404", "{rows}");
        assert!(summary.contains("nothing to compare") && summary.contains("404"), "{summary}");
    });
}

#[test]
fn help_names_the_placeholders_in_the_command() {
    let _beside = beside();
    let help = torr(&["doctor", "--help-all"]).stdout;
    assert!(help.contains("'{n}'") && help.contains("'{port}'"), "{help}");
}

#[test]
fn what_cannot_be_compared_says_why() {
    let _beside = beside();
    for (args, text) in [
        (&["--via", "http://a", "--tls", "https://a", "http://b"][..], "cannot be used with"),
        (&["--paths", "/a,/b", "--via", "http://a", "http://b"], "cannot be used with"),
        (&["--counts", "1,2", "http://127.0.0.1:1"], "--sweep"),
        (&["--sweep", "workers"], "--command"),
        (&["--sweep", "workers", "--command", "a {n} {port}", "--counts", "3"], "two numbers of workers"),
        (&["--sweep", "workers", "--command", "a {n} {port}", "http://127.0.0.1:1/"], "the URL needs"),
        (&["--paths", "/a", "http://127.0.0.1:1"], "at least two"),
        (&["--paths", "/a,b", "http://127.0.0.1:1"], "invalid path 'b'"),
        (&["http://127.0.0.1:1", "--tls"], "needs the service's https URL"),
        (&["http://127.0.0.1:1", "--tls", "http://127.0.0.1:2"], "needs an https URL"),
        (&["http://127.0.0.1:1", "--paths", "/a,/b,/c,/d,/e,/f", "--budget", "5s"], "use at least"),
        (&["http://192.0.2.1", "--via", "http://127.0.0.1:1"], "--i-own-this"),
        (&["http://127.0.0.1:1", "--via", "http://192.0.2.1"], "--i-own-this"),
    ] {
        let ended = torr(&[&["doctor"], args].concat());
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(2), 1), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(text), "{args:?}: {ended:?}");
    }
}
