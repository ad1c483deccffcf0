//! The flags of a load that travel to the agents of a fleet, and those that do not.

use crate::exit::CliError;
use crate::flags::given::GivenFlag;

/// Flags of the load, which each agent reads as the coordinator's user gave them.
const TRAVELLING: &[&str] = &[
    "connections",
    "max_connections",
    "threads",
    "duration",
    "requests",
    "rate",
    "stages",
    "max_rate",
    "arrivals",
    "coalesce",
    "timestamps",
    "quick_ack",
    "timeout",
    "warmup",
    "think",
    "pipeline",
    "requests_per_connection",
    "no_keepalive",
    "headers",
    "method",
    "data",
    "data_raw",
    "data_binary",
    "data_urlencode",
    "json_body",
    "form",
    "get",
    "head",
    "url_query",
    "user",
    "oauth2_bearer",
    "cookies",
    "user_agent",
    "referer",
    "compressed",
    "no_template",
    "urls",
    "order",
    "feeder",
    "feeder_order",
    "resolve",
    "http2",
    "http2_prior_knowledge",
    "streams",
    "insecure",
    "cacert",
    "sni",
    "tlsv1_2",
    "tlsv1_3",
    "tls_max",
    "tls_resumption",
    "expect_status",
    "expect_header",
    "expect_body",
    "follow",
    "script",
];

/// Flags of the result, which the coordinator writes.
const STAYING: &[&str] = &[
    "json",
    "csv",
    "csv_entries",
    "hlog",
    "prometheus",
    "junit",
    "report",
    "otlp",
    "fail_if",
    "quiet",
    "live",
    "dashboard",
    "dashboard_cert",
    "dashboard_key",
];

/// Flags that the coordinator's machine carries out by itself: its files and environment, and what is sent once.
const RESOLVED: &[&str] = &["variables", "variables_file", "secrets", "setup", "teardown"];

/// Returns the words of the flags that agents read.
///
/// # Errors
/// For a flag that means something of one machine.
pub fn travelling(given: &[GivenFlag]) -> Result<Vec<String>, CliError> {
    let stays = |id| STAYING.contains(&id) || RESOLVED.contains(&id);
    let flags = given.iter().filter(|flag| !stays(flag.id.as_str()));
    flags.map(|flag| check(flag).map(|()| flag.word())).collect()
}

/// Demands that all flags of a message are those of a load.
///
/// # Errors
/// For the first other one.
pub fn check_sent(given: &[GivenFlag]) -> Result<(), CliError> {
    given.iter().try_for_each(check)
}

fn check(flag: &GivenFlag) -> Result<(), CliError> {
    match TRAVELLING.contains(&flag.id.as_str()) {
        true => Ok(()),
        false => {
            Err(CliError::Usage(format!("{} does not go with a fleet: it means something of one machine", flag.name)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flag(id: &str, value: Option<&str>) -> GivenFlag {
        GivenFlag { id: id.into(), name: format!("--{}", id.replace('_', "-")), value: value.map(str::to_owned) }
    }

    #[test]
    fn the_load_travels_and_the_outputs_stay() {
        let given = [flag("rate", Some("100")), flag("json", Some("a.json")), flag("no_keepalive", None)];
        assert_eq!(travelling(&given).expect("all of it goes with a fleet"), ["--rate=100", "--no-keepalive"]);
    }

    #[test]
    fn no_message_reads_a_file_or_starts_anything_on_an_agent() {
        for id in [
            "json",
            "report",
            "otlp",
            "setup",
            "teardown",
            "variables",
            "variables_file",
            "secrets",
            "cert",
            "key",
            "unix_socket",
            "proxy",
            "bind",
            "live",
            "dashboard",
            "print_plan",
        ] {
            assert!(check_sent(&[flag(id, Some("/etc/passwd"))]).is_err(), "{id}");
        }
        for id in ["unix_socket", "cert", "proxy", "bind"] {
            assert!(travelling(&[flag(id, Some("x"))]).is_err(), "{id}");
        }
        assert!(check_sent(&[flag("data", Some("@a")), flag("feeder", Some("a.csv"))]).is_ok(), "the message has them");
    }
}
