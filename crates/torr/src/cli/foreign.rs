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
    ("--data-binary @FILE for a body, or --pipeline N,", &["-p"]),
    ("-u NAME:PASSWORD", &["--auth", "--basic"]),
    ("-u NAME:PASSWORD, or -n REQUESTS,", &["-a"]),
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

/// The flags of these programs that Torr does not have, each with what to do.
const ABSENT: &[(&str, &[&str])] = &[
    ("not supported; use -u (basic) or --oauth2-bearer instead", &["--digest", "--ntlm", "--negotiate"]),
    ("not supported; use --otlp URL or --prometheus FILE instead", &["--influxdb", "--statsd", "--datadog"]),
    ("not supported; use 'torr fleet run' for several machines", &["--master", "--master-host", "--remotestart"]),
    ("not supported; use a hurl file or a Lua script instead", &["--locustfile", "--testfile", "--nongui"]),
    ("not supported; use a hurl file, whose sessions keep cookies", &["--cookie-jar"]),
    ("not supported", &["--http3", "--aws-sigv4", "--retry"]),
    ("not needed: each report has response times by percentile", &["--latency", "--latencies", "--u_latency"]),
    ("not needed: with -r, a response time counts from when its request is due", &["--latency-correction"]),
    ("not needed: Torr uses all CPUs; limit its threads with -t", &["--cpus"]),
    ("use 'torr once URL' to show a request and its response", &["--verbose", "--debug", "--http-debug", "-v"]),
];

/// Returns the mistake of giving a command the flag of another program, if it is one that the tables have.
pub fn flag(word: &str, command: &Command) -> Option<CliError> {
    let among = |names: &[&str]| names.iter().any(|name| is(word, name));
    let instead = INSTEAD.iter().find(|(ours, names)| among(names) && has(command, ours));
    // A command that sends no requests has nothing to do with other load generators.
    let absent = || ABSENT.iter().find(|(_, names)| among(names) && has(command, "--header"));
    let what = match instead {
        Some((ours, _)) => format!("use {ours} instead"),
        None => absent()?.0.to_owned(),
    };
    Some(CliError::Usage(format!("unknown flag '{word}': {what}")))
}

/// Returns whether a flag has this name. Long names are the same in lower case, as vegeta's and autocannon's are spelled in several ways.
fn is(word: &str, name: &str) -> bool {
    if name.starts_with("--") { word.eq_ignore_ascii_case(name) } else { word == name }
}

/// Returns whether a command has the flag that a text begins with.
fn has(command: &Command, ours: &str) -> bool {
    let flag = ours.split([' ', ',']).next().unwrap_or_default();
    command.get_arguments().any(|arg| match flag.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short() == flag.chars().nth(1),
    })
}

#[cfg(test)]
mod tests {
    use super::super::help::grammar;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_name_stands_once_and_leads_to_a_flag_that_exists() {
        let names: Vec<_> = INSTEAD.iter().chain(ABSENT).flat_map(|(_, names)| *names).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "a name stands once");
        for name in names {
            assert!(!has(grammar(), name), "{name} is a flag of torr");
            assert!(flag(name, grammar()).is_some(), "{name}");
        }
        for (ours, _) in INSTEAD {
            assert!(has(grammar(), ours), "{ours} is no flag");
        }
    }

    #[test]
    fn a_command_learns_of_its_own_flags_only() {
        let command = |name| grammar().find_subcommand(name).expect("it is a command");
        assert!(flag("--method", command("limit")).is_some());
        assert_eq!(flag("--vus", command("serve")), None);
        assert_eq!(flag("--digest", command("serve")), None);
    }
}
