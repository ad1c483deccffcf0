//! The tools: their names and arguments, and the command lines that calls of them become.

use crate::bounds::Bounds;
use crate::given::Given;
use serde_json::{Map, Value};
use std::time::Duration;

/// The length of a run of which none is given, in seconds.
const USUAL: f64 = 10.0;
/// The budget of a command of which none is given, in seconds.
const BUDGET: f64 = 60.0;
/// How much longer than its length or budget a command may take: what is in flight at its end, and the report.
const GRACE: Duration = Duration::from_secs(30);
/// The file that has the text of a call's hurl file.
pub(crate) const HURL: &str = "session.hurl";

/// A tool.
#[derive(Debug)]
pub(crate) struct Tool {
    pub name: &'static str,
    pub about: &'static str,
    /// The arguments, those that are required first.
    pub arguments: &'static [&'static str],
    /// How many are required.
    pub required: usize,
    /// Whether requests are sent.
    pub sends: bool,
    line: fn(&Given<'_>, &Bounds) -> Result<Line, String>,
}

/// A command line that a call has become.
#[derive(Debug, PartialEq)]
pub(crate) struct Line {
    /// The words behind the program's name.
    pub words: Vec<String>,
    /// The text of the hurl file that the command reads.
    pub hurl: Option<String>,
    /// Whether the command writes a result as JSON.
    pub has_result: bool,
    /// Whether that is wanted with all that is long.
    pub is_whole: bool,
    /// The longest that it may take.
    pub limit: Duration,
}

pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "check",
        about: "Find mistakes in the text of a hurl file. Nothing is sent.",
        arguments: &["hurl"],
        required: 1,
        sends: false,
        line: |given, _| {
            let hurl = given.text("hurl").map(str::to_owned);
            Ok(Line { hurl, ..Line::new(vec!["check".into(), HURL.into()]) })
        },
    },
    Tool {
        name: "once",
        about: "Send one request, and show it and its response without secrets. Do this before a load.",
        arguments: &["url", "method", "headers", "body", "http", "insecure"],
        required: 1,
        sends: true,
        line: once,
    },
    Tool {
        name: "run",
        about: "Load a URL, in a closed loop or at a rate, and report throughput, response times, errors and what limited the run.",
        arguments: &[
            "url",
            "connections",
            "rate",
            "duration_s",
            "requests",
            "fail_if",
            "method",
            "headers",
            "body",
            "http",
            "insecure",
            "whole",
        ],
        required: 1,
        sends: true,
        line: run,
    },
    Tool {
        name: "doctor",
        about: "Find the one factor that limits a service, by experiments, with evidence and advice; it says if it does not know. It loads \
                the service as hard as it can take.",
        arguments: &["url", "connections", "budget_s", "method", "headers", "body", "http", "insecure", "whole"],
        required: 1,
        sends: true,
        line: |given, bounds| Ok(in_budget("doctor", &["url"], given, bounds)?.with("-c", &given.whole("connections"))),
    },
    Tool {
        name: "limit",
        about: "Find the highest rate at which a service meets its objectives. It loads the service until it fails them.",
        arguments: &["url", "slo", "budget_s", "method", "headers", "body", "http", "insecure", "whole"],
        required: 1,
        sends: true,
        line: |given, bounds| {
            let line = in_budget("limit", &["url"], given, bounds)?.with("--slo", &given.text("slo"));
            Ok(line.with("--max-connections", &Some(bounds.max_connections)))
        },
    },
    Tool {
        name: "compare",
        about: "Find out whether two versions of a service differ, by loading both in turns.",
        arguments: &["a", "b", "connections", "budget_s", "method", "headers", "body", "http", "insecure", "whole"],
        required: 2,
        sends: true,
        line: |given, bounds| {
            Ok(in_budget("compare", &["a", "b"], given, bounds)?.with("-c", &given.whole("connections")))
        },
    },
];

impl Tool {
    /// Returns the command line of a call.
    ///
    /// # Errors
    /// One line for an argument that is missing, not known, of another type or out of bounds.
    pub fn line(&self, given: &Map<String, Value>, bounds: &Bounds) -> Result<Line, String> {
        (self.line)(&Given::of(given, self.arguments, self.required)?, bounds)
    }
}

impl Line {
    fn new(words: Vec<String>) -> Self {
        Self { words, hurl: None, has_result: false, is_whole: false, limit: GRACE }
    }

    /// Adds a flag that has a value, if there is one.
    fn with(mut self, flag: &str, value: &Option<impl ToString>) -> Self {
        // Both are one word, so that no value is taken for a flag. Short flags take theirs without a sign.
        let sign = if flag.starts_with("--") { "=" } else { "" };
        self.words.extend(value.iter().map(|value| format!("{flag}{sign}{}", value.to_string())));
        self
    }

    fn with_flag(mut self, flag: &str, is_set: bool) -> Self {
        self.words.extend(is_set.then(|| flag.to_owned()));
        self
    }
}

/// Begins a command with the URLs of these arguments, and how their requests are made.
fn requests(command: &[&str], urls: &[&str], given: &Given<'_>, bounds: &Bounds) -> Result<(Line, bool), String> {
    let mut words: Vec<_> = command.iter().map(|word| (*word).to_owned()).collect();
    let mut is_named = true;
    for url in urls.iter().filter_map(|name| given.text(name)) {
        is_named &= bounds.check(url)?;
        words.push(url.to_owned());
    }
    if let Some(connections) = given.whole("connections").filter(|connections| *connections > bounds.max_connections) {
        return Err(format!("'connections' is {connections}, but the user allows {}", bounds.max_connections));
    }
    for field in given.texts("headers") {
        let name = field.split_once(':').map_or("", |(name, _)| name);
        // A name of other characters would be another form of the flag.
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) {
            return Err(format!("a header field must be 'Name: value', found '{field}'"));
        }
        words.push(format!("--header={field}"));
    }
    let line = Line { is_whole: given.is_set("whole"), ..Line::new(words) };
    let line = line.with("--request", &given.text("method")).with("--data-raw", &given.text("body"));
    let line = line.with_flag("--insecure", given.is_set("insecure"));
    let version = given.text("http");
    Ok((line.with_flag("--http2", version == Some("2")).with_flag("--http3", version == Some("3")), is_named))
}

fn once(given: &Given<'_>, bounds: &Bounds) -> Result<Line, String> {
    requests(&["once"], &["url"], given, bounds).map(|(line, _)| line)
}

fn run(given: &Given<'_>, bounds: &Bounds) -> Result<Line, String> {
    let rate = given.number("rate");
    if let (Some(rate), Some(most)) = (rate, bounds.max_rate)
        && rate > most
    {
        return Err(format!("'rate' is {rate}, but the user allows {most}"));
    }
    let duration = given.number("duration_s");
    let longest = bounds.longest.as_secs_f64();
    if duration.is_some_and(|duration| duration > longest) {
        return Err(format!("'duration_s' is {}, but the user allows {longest}", duration.unwrap_or_default()));
    }
    let usual = given.whole("requests").is_none().then(|| USUAL.min(longest));
    let duration = duration.or(usual);
    let (line, _) = requests(&[], &["url"], given, bounds)?;
    let line = line.with("-c", &given.whole("connections")).with("--rate", &rate).with("-n", &given.whole("requests"));
    let line =
        line.with("-d", &duration.map(|seconds| format!("{seconds}s"))).with("--fail-if", &given.text("fail_if"));
    let line = line.with("--max-rate", &bounds.max_rate.filter(|_| rate.is_none()));
    let length = Duration::from_secs_f64(duration.unwrap_or(longest));
    Ok(Line { has_result: true, limit: length + GRACE, ..line })
}

/// Begins a command that has a budget, and the limits that its experiments keep.
fn in_budget(command: &str, urls: &[&str], given: &Given<'_>, bounds: &Bounds) -> Result<Line, String> {
    let longest = bounds.longest.as_secs_f64();
    let budget = match given.number("budget_s") {
        Some(budget) if budget > longest => {
            return Err(format!("'budget_s' is {budget}, but the user allows {longest}"));
        }
        Some(budget) => budget,
        None => BUDGET.min(longest),
    };
    let (line, is_named) = requests(&[command], urls, given, bounds)?;
    let line = line.with("--budget", &Some(format!("{budget}s"))).with("--max-rate", &bounds.max_rate);
    // The user who has named a server has vouched for it.
    let line = line.with_flag("--i-own-this", is_named);
    Ok(Line { has_result: true, limit: Duration::from_secs_f64(budget) + GRACE, ..line })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(tool: &str, arguments: Value) -> Result<String, String> {
        let tool = TOOLS.iter().find(|known| known.name == tool).expect("it is a tool");
        let bounds = Bounds {
            allowed: vec!["shop.test".parse().expect("it is a server")],
            longest: Duration::from_secs(30),
            max_rate: Some(500.0),
            max_connections: 200,
        };
        let arguments = arguments.as_object().expect("it is an object");
        tool.line(arguments, &bounds).map(|line| line.words.join(" "))
    }

    #[test]
    fn a_call_becomes_a_command_line() {
        let local = "http://127.0.0.1:1/";
        for (tool, arguments, words) in [
            ("check", json!({"hurl": "GET http://a/"}), "check session.hurl"),
            (
                "once",
                json!({"url": local, "method": "PUT", "headers": ["A: b"], "body": "@x"}),
                "once http://127.0.0.1:1/ --header=A: b --request=PUT --data-raw=@x",
            ),
            ("run", json!({"url": local}), "http://127.0.0.1:1/ -d10s --max-rate=500"),
            (
                "run",
                json!({"url": local, "connections": 20, "rate": 100.5, "duration_s": 3}),
                "http://127.0.0.1:1/ -c20 --rate=100.5 -d3s",
            ),
            (
                "run",
                json!({"url": local, "requests": 5, "fail_if": "p99>1s"}),
                "http://127.0.0.1:1/ -n5 --fail-if=p99>1s --max-rate=500",
            ),
            (
                "doctor",
                json!({"url": local, "connections": 50}),
                "doctor http://127.0.0.1:1/ --budget=30s --max-rate=500 -c50",
            ),
            (
                "limit",
                json!({"url": "https://shop.test/", "slo": "p99<9ms", "budget_s": 20, "http": "3", "insecure": true}),
                "limit https://shop.test/ --insecure --http3 --budget=20s --max-rate=500 --i-own-this --slo=p99<9ms --max-connections=200",
            ),
            (
                "compare",
                json!({"a": local, "b": "http://shop.test/"}),
                "compare http://127.0.0.1:1/ http://shop.test/ --budget=30s --max-rate=500",
            ),
        ] {
            assert_eq!(line(tool, arguments).as_deref(), Ok(words));
        }
    }

    #[test]
    fn what_is_wrong_or_beyond_the_bounds_is_one_line() {
        let local = "http://127.0.0.1:1/";
        for (tool, arguments, why) in [
            ("run", json!({}), "missing argument 'url'"),
            (
                "once",
                json!({"url": local, "rate": 5}),
                "unknown argument 'rate': use url, method, headers, body, http, insecure",
            ),
            ("run", json!({"url": local, "connections": "5"}), "'connections' must be a whole number above 0"),
            ("run", json!({"url": local, "duration_s": 0}), "'duration_s' must be a number above 0"),
            ("run", json!({"url": local, "http": "9"}), "'http' must be 1.1 or 2 or 3"),
            ("run", json!({"url": local, "connections": 201}), "'connections' is 201, but the user allows 200"),
            ("run", json!({"url": local, "rate": 501}), "'rate' is 501, but the user allows 500"),
            ("run", json!({"url": local, "duration_s": 31}), "'duration_s' is 31, but the user allows 30"),
            (
                "doctor",
                json!({"url": local, "budget_s": 1e300}),
                &format!("'budget_s' is {}, but the user allows 30", 1e300),
            ),
            (
                "run",
                json!({"url": "http://other.test/"}),
                "other.test:80 may not be loaded: the user can allow it with 'torr mcp --allow other.test'",
            ),
            (
                "compare",
                json!({"a": local, "b": "http://other.test/"}),
                "other.test:80 may not be loaded: the user can allow it with 'torr mcp --allow other.test'",
            ),
            (
                "once",
                json!({"url": local, "headers": ["@/etc/passwd"]}),
                "a header field must be 'Name: value', found '@/etc/passwd'",
            ),
            (
                "once",
                json!({"url": local, "headers": ["@/etc/passwd: x"]}),
                "a header field must be 'Name: value', found '@/etc/passwd: x'",
            ),
        ] {
            assert_eq!(line(tool, arguments).as_deref().map_err(String::as_str), Err(why));
        }
        assert!(line("run", json!({"url": "--json=/tmp/x"})).is_err());
        assert!(line("run", json!({"url": "session.hurl"})).is_err());
    }
}
