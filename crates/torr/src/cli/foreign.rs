//! Flags of other load generators and of curl: what each is called here, or that Torr does not have it.

use crate::exit::CliError;
use clap::Command;

/// The flags that replace those of ab, autocannon, bombardier, curl, h2load, hey, JMeter, k6, locust, oha, siege, vegeta and wrk.
const INSTEAD: &[(&str, &[&str])] = &[
    ("-r RATE", &["--rps", "--qps", "--overallRate", "-R"]),
    ("-c N", &["--vus", "--users", "--concurrency", "--clients", "--max-workers"]),
    ("-n REQUESTS", &["--iterations", "--amount", "--maxOverallRequests", "-i"]),
    ("-d DURATION", &["--run-time", "--time", "--hold-for", "-z"]),
    ("--warmup DURATION", &["--warm-up", "--warm-up-time"]),
    ("--stages STAGES", &["--ramp-up", "--rampup", "--stage", "--spawn-rate", "--hatch-rate"]),
    ("--timeout DURATION", &["--max-time", "--connect-timeout"]),
    ("--pipeline N", &["--pipelining"]),
    ("--streams N", &["--max-concurrent-streams", "--parallel"]),
    (
        "--no-keepalive",
        &["--disable-keepalive", "--disableKeepAlives", "--no-connection-reuse", "--no-vu-connection-reuse"],
    ),
    ("--requests-per-connection N", &["--maxConnectionRequests"]),
    ("--think DURATION", &["--think-time", "--delay"]),
    ("-X METHOD", &["--method", "-m"]),
    ("-H 'Name: value'", &["--headers"]),
    ("-H 'Content-Type: TYPE'", &["--content-type", "-T"]),
    ("--data TEXT", &["--body", "--data-ascii"]),
    ("--data-binary @FILE", &["--body-file", "--data-file", "--upload-file", "-D"]),
    ("-u NAME:PASSWORD", &["--auth", "--basic"]),
    ("--oauth2-bearer TOKEN", &["--bearer", "--token"]),
    ("--urls FILE", &["--targets", "--input", "--input-file", "--urls-from-file"]),
    ("--script FILE", &["-s"]),
    ("--bind ADDR", &["--laddr", "--local-ips", "--interface"]),
    ("--resolve HOST:PORT:ADDR", &["--connect-to", "--hosts"]),
    ("--unix-socket PATH", &["--socketPath"]),
    ("--sni NAME", &["--servername"]),
    ("--insecure", &["--insecure-skip-tls-verify"]),
    ("--cacert FILE", &["--ca", "--root-certs"]),
    ("--http2-prior-knowledge", &["--h2c"]),
    ("--http2", &["--h2", "--alpn-list"]),
    ("--follow", &["--redirect", "--redirects", "--max-redirs", "--max-redirects"]),
    ("--expect-body TEXT", &["--expectBody"]),
    ("--variable NAME=VALUE", &["--env"]),
    ("--fail-if RULE", &["--threshold", "--thresholds"]),
    ("--report FILE", &["--html", "--html-report", "--reportoutputfolder"]),
    ("--json FILE", &["--summary-export", "--out", "--output", "--output-format", "--format", "--logfile", "-o"]),
    ("--quiet", &["--silent", "--no-progress", "--no-print", "--no-tui", "--headless"]),
    ("--dashboard", &["--web-port"]),
];

/// The flags that mean one thing to some of these programs and another thing to others, each with what replaces both.
const EITHER: &[([&str; 2], &str)] =
    &[(["--data-binary @FILE for a body", "--pipeline N"], "-p"), (["-u NAME:PASSWORD", "-n REQUESTS"], "-a")];

/// The flags of these programs that Torr does not have, each with what to do.
const ABSENT: &[(&str, &[&str])] = &[
    ("not supported; use -u, with --digest or without, or --oauth2-bearer instead", &["--ntlm", "--negotiate"]),
    ("not supported; use --otlp URL or --influxdb URL instead", &["--statsd", "--datadog"]),
    ("not supported; use 'torr fleet run' for several machines", &["--master", "--master-host", "--remotestart"]),
    ("not supported; use a hurl file or a Lua script instead", &["--locustfile", "--testfile", "--nongui"]),
    ("not supported; use a hurl file, whose sessions keep cookies", &["--cookie-jar"]),
    ("not supported", &["--retry"]),
    ("not needed: each report has response times by percentile", &["--latency", "--latencies", "--u_latency"]),
    ("not needed: with -r, a response time counts from when its request is due", &["--latency-correction"]),
    ("not needed: Torr uses all CPUs; limit its threads with -t", &["--cpus"]),
    ("use 'torr once URL' to show a request and its response", &["--verbose", "--debug", "--http-debug", "-v"]),
];

/// Returns the mistake of giving a command the flag of another program, if it is one that the tables have.
pub fn flag(word: &str, command: &Command) -> Option<CliError> {
    let what = match &instead(word, command)[..] {
        [] => absent(word, command)?.to_owned(),
        [ours] => format!("use {ours} instead"),
        several => format!("use {}, instead", several.join(", or ")),
    };
    Some(CliError::Usage(format!("unknown flag '{word}': {what}")))
}

/// Returns the flags of a command that replace that of another program.
fn instead(word: &str, command: &Command) -> Vec<&'static str> {
    let one = INSTEAD.iter().filter(|(_, names)| names.iter().any(|name| is(word, name))).map(|(ours, _)| *ours);
    let either = EITHER.iter().filter(|(_, name)| is(word, name)).flat_map(|(ours, _)| *ours);
    one.chain(either).filter(|ours| has(command, ours)).collect()
}

/// Returns what to do without a flag that Torr does not have.
fn absent(word: &str, command: &Command) -> Option<&'static str> {
    // A command that sends no requests has nothing to do with other load generators, and none is to be used instead of
    // itself.
    let itself = format!("'torr {} ", command.get_name());
    let suits = |what: &str| has(command, "--header") && has(command, what) && !what.contains(&itself);
    let row = ABSENT.iter().find(|(what, names)| names.iter().any(|name| is(word, name)) && suits(what));
    row.map(|(what, _)| *what)
}

/// Returns whether a flag has this name. Long names are the same in lower case, as vegeta's and autocannon's are spelled in several ways.
fn is(word: &str, name: &str) -> bool {
    if name.starts_with("--") { word.eq_ignore_ascii_case(name) } else { word == name }
}

/// Returns whether a command has all flags that a text names.
fn has(command: &Command, text: &str) -> bool {
    let mut flags = text.split([' ', ',']).filter(|word| word.starts_with('-'));
    flags.all(|flag| {
        command.get_arguments().any(|arg| match flag.strip_prefix("--") {
            Some(long) => arg.get_long() == Some(long),
            None => arg.get_short() == flag.chars().nth(1),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::help::grammar;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_name_stands_once_and_leads_to_a_flag_that_exists() {
        let of_rows = INSTEAD.iter().chain(ABSENT).flat_map(|(_, names)| *names);
        let names: Vec<_> = of_rows.chain(EITHER.iter().map(|(_, name)| name)).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "a name stands once");
        for name in names {
            assert!(!has(grammar(), name), "{name} is a flag of torr");
            assert!(flag(name, grammar()).is_some(), "{name}");
        }
        let either = EITHER.iter().flat_map(|(ours, _)| ours);
        for text in INSTEAD.iter().chain(ABSENT).map(|(text, _)| text).chain(either) {
            assert!(has(grammar(), text), "a flag in '{text}' is none");
        }
        for (ours, _) in INSTEAD {
            assert!(ours.starts_with('-'), "{ours} is no flag");
        }
    }

    #[test]
    fn a_command_learns_of_its_own_flags_only() {
        let command = |name| grammar().find_subcommand(name).expect("it is a command");
        assert!(flag("--method", command("limit")).is_some());
        assert_eq!(flag("--vus", command("serve")), None);
        assert_eq!(flag("--ntlm", command("serve")), None);
        assert!(flag("--ntlm", command("once")).is_some());
        for (name, word) in [("limit", "--statsd"), ("once", "--cpus"), ("once", "--latency-correction")] {
            assert!(flag(word, grammar()).is_some());
            assert_eq!(flag(word, command(name)), None, "torr {name} lacks what replaces {word}");
        }
        assert_eq!(flag("-v", command("once")), None, "it shows everything already");
    }
}
