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
    "resolve",
    "http2",
    "http2_prior_knowledge",
    "streams",
    "insecure",
    "sni",
    "tlsv1_2",
    "tlsv1_3",
    "tls_max",
    "tls_resumption",
    "expect_status",
    "expect_header",
    "expect_body",
    "follow",
];

/// Flags of the result, which the coordinator writes.
const STAYING: &[&str] = &["json", "csv", "hlog", "prometheus", "junit", "report", "otlp", "fail_if", "quiet"];

/// Returns the words that agents read, behind which the URL stands.
///
/// # Errors
/// For a flag that would read a file, or the environment, of an agent's machine.
pub fn travelling(given: &[GivenFlag], url: &str) -> Result<Vec<String>, CliError> {
    let mut words = Vec::new();
    for flag in given {
        let id = flag.id.as_str();
        if STAYING.contains(&id) {
            continue;
        }
        if !TRAVELLING.contains(&id) {
            let hint = "it means something of one machine";
            return Err(CliError::Usage(format!("{} does not go with a fleet: {hint}", flag.name)));
        }
        let value = flag.value.as_deref().unwrap_or_default();
        if names_file(id, value) {
            let hint = "only --data, --json-body and their like take the text of one";
            return Err(CliError::Usage(format!("{} reads a file, which does not go with a fleet: {hint}", flag.name)));
        }
        no_placeholder_of_one_machine(&flag.name, value)?;
        words.push(flag.word());
    }
    no_placeholder_of_one_machine("the URL", url)?;
    words.push(url.to_owned());
    Ok(words)
}

/// Returns whether a flag's value is a file.
fn names_file(id: &str, value: &str) -> bool {
    match id {
        "data" | "data_binary" | "json_body" | "expect_body" => value.starts_with('@'),
        "data_urlencode" => value.find(['=', '@']).is_some_and(|at| value[at..].starts_with('@')),
        "url_query" => !value.starts_with('+') && value.find(['=', '@']).is_some_and(|at| value[at..].starts_with('@')),
        "form" => value.split_once('=').is_some_and(|(_, part)| part.starts_with(['@', '<'])),
        _ => false,
    }
}

/// Refuses placeholders that would be another thing on each agent.
fn no_placeholder_of_one_machine(what: &str, value: &str) -> Result<(), CliError> {
    for placeholder in value.split("{{").skip(1) {
        let hint = match placeholder.split(|c: char| c.is_whitespace() || c == '}').find(|word| !word.is_empty()) {
            Some("env") => "an agent's environment is its own: let the shell fill it in here",
            Some("seq") => "each agent would count from the beginning: take {{uuid}}",
            _ => continue,
        };
        return Err(CliError::Usage(format!("a placeholder of {what} does not go with a fleet: {hint}")));
    }
    Ok(())
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
        let words = travelling(&given, "http://a.test/").unwrap();
        assert_eq!(words, ["--rate=100", "--no-keepalive", "http://a.test/"]);
    }

    #[test]
    fn no_plan_reads_a_file_or_the_environment_of_an_agent() {
        for (id, value) in [
            ("data", "@/etc/passwd"),
            ("data_binary", "@-"),
            ("json_body", "@x"),
            ("data_urlencode", "@x"),
            ("data_urlencode", "name@x"),
            ("url_query", "name@x"),
            ("form", "a=@x"),
            ("form", "a=<x"),
            ("expect_body", "@x"),
            ("headers", "A: {{env HOME}}"),
            ("headers", "A: {{ env HOME }}"),
            ("headers", "A: {{{{env HOME}}"),
            ("data", "{{seq}}"),
            ("feeder", "x.csv"),
            ("urls", "x"),
            ("script", "x.lua"),
            ("cacert", "x"),
            ("cert", "x"),
            ("unix_socket", "/x"),
            ("proxy", "a:1"),
            ("bind", "127.0.0.2"),
            ("csv_entries", "x"),
            ("print_plan", ""),
        ] {
            assert!(travelling(&[flag(id, Some(value))], "http://a/").is_err(), "{id} {value}");
        }
        assert!(travelling(&[], "http://a/{{env HOME}}").is_err());
        for (id, value) in [
            ("data", "a@b"),
            ("data_raw", "@x"),
            ("data_urlencode", "a=b@c"),
            ("form", "a=b@c"),
            ("headers", "A: {{uuid}}"),
            ("url_query", "+a@b"),
        ] {
            assert!(travelling(&[flag(id, Some(value))], "http://a/").is_ok(), "{id} {value}");
        }
    }
}
