//! A run of a script, by k6 or by `torr k6`, as far as the two are compared.

use super::samples::Samples;
use super::services::Services;
use super::ways::Way;
use crate::echo::Arrived;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use torr_test_support::program::Running;
use torr_test_support::wait_until;

/// What is compared of a run.
pub struct Run {
    pub code: Option<i32>,
    /// Standard output, which a script may write to at its end; of the usual summary its lines without figures.
    pub printed: String,
    /// The lines of the console, each with its level.
    pub console: Vec<String>,
    /// All other lines of the log, for reports.
    pub errors: String,
    /// The requests in the order of their arrival.
    pub requests: Vec<String>,
    /// The number of connections that requests arrived on.
    pub connections: usize,
    /// The file of `--summary-export`, `Null` if there is none.
    summary: Value,
    /// The files of `--out`.
    pub samples: Samples,
}

/// Fields of requests that each client has its own way with.
const OWN_FIELDS: [&str; 2] = ["connection", "accept-encoding"];

/// Runs a script.
pub fn run(program: &Path, words: &[&str], script: &Path, way: &Way, services: &Services) -> Run {
    let folder = tempfile::tempdir().expect("there is room");
    let [export, points, table] = ["summary.json", "samples.json", "samples.csv"].map(|name| folder.path().join(name));
    let mut command = Command::new(program);
    command.args(words).args(["run", "--no-usage-report", "-q", "--no-color", "--log-format", "json"]);
    command.arg("--summary-export").arg(&export);
    command.arg(format!("--out=json={}", points.display())).arg(format!("--out=csv={}", table.display()));
    for variable in services.variables() {
        command.args(["-e", &variable]);
    }
    command.args(way.flags).envs(way.variables.iter().copied());
    command.current_dir(script.parent().expect("it is in a folder"));
    services.shop.take();
    let running = match way.is_from_input {
        true => {
            command.arg("-").stdin(Stdio::from(File::open(script).expect("it is there")));
            Running::start_with_its_input(command)
        }
        false => {
            command.arg(script.file_name().expect("it is a file"));
            Running::start(command)
        }
    };
    for target in way.interrupted_at {
        wait_until(&format!("a request for {target}"), || services.shop.has(target).then_some(()));
        running.signal("INT");
    }
    let ended = running.wait();
    let lines = ended.stderr.lines().map(|line| (line, serde_json::from_str::<Value>(line).unwrap_or_default()));
    let (console, others): (Vec<_>, Vec<_>) = lines.partition(|(_, line)| line["source"] == "console");
    let said = |(_, line): &(&str, Value)| format!("{}: {}", text(&line["level"]), text(&line["msg"]));
    let arrived = services.shop.take();
    let connections = arrived.iter().map(|request| request.connection).collect::<BTreeSet<_>>().len();
    let summary = std::fs::read_to_string(&export).ok().and_then(|text| serde_json::from_str(&text).ok());
    Run {
        code: ended.code,
        printed: if ended.stdout.contains('█') { layout(&ended.stdout) } else { ended.stdout },
        console: console.iter().map(said).collect(),
        errors: others.iter().map(|(line, _)| format!("{line}\n")).collect(),
        requests: requests(arrived),
        connections,
        summary: summary.unwrap_or_default(),
        samples: Samples::read(&points, &table),
    }
}

/// Returns the lines of a summary without what depends on time.
fn layout(summary: &str) -> String {
    let without_figures = |line: &str| {
        let text = line.trim();
        let is_threshold = ["✓ '", "✗ '"].iter().any(|mark| text.starts_with(mark));
        // A check that failed has its counts below it, and metrics have figures behind dots.
        let end = match text {
            _ if is_threshold => line.rfind('=').unwrap_or(line.len()),
            _ if text.starts_with('↳') => line.find('%').map_or(line.len(), |_| line.find('↳').unwrap_or(0)),
            _ => line.find("...").unwrap_or(line.len()),
        };
        format!("{}\n", &line[..end])
    };
    // Whether a run lasts for the second after which these are recorded is a matter of luck.
    summary.lines().filter(|line| !line.trim_start().starts_with("vus")).map(without_figures).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns requests as text, those of several virtual users in an order that does not depend on time.
fn requests(arrived: Vec<Arrived>) -> Vec<String> {
    let agent = |value: &str| if value.starts_with("Grafana k6/") { "k6" } else { value }.to_owned();
    let mut requests: Vec<_> = arrived
        .into_iter()
        .map(|request| {
            let mut content = String::from_utf8_lossy(&request.content).into_owned();
            // The boundary is random, also where the type does not name it.
            if let Some((boundary, _)) = content.strip_prefix("--").and_then(|rest| rest.split_once("\r\n")) {
                content = content.replace(boundary, "BOUNDARY");
            }
            let mut fields = Vec::new();
            for (name, value) in request.fields {
                // The name counts as it was written.
                let value = match name.to_ascii_lowercase().as_str() {
                    own if OWN_FIELDS.contains(&own) => continue,
                    "user-agent" => agent(&value),
                    "content-type" => match value.split_once("boundary=") {
                        Some((kind, boundary)) => {
                            content = content.replace(boundary, "BOUNDARY");
                            format!("{kind}boundary=BOUNDARY")
                        }
                        None => value,
                    },
                    // k6 has those of a call in any order.
                    "cookie" => sorted(&value),
                    // A digest has random parts, a length that of the boundary.
                    "authorization" if value.starts_with("Digest ") => "Digest".to_owned(),
                    "content-length" if content.contains("BOUNDARY") => "some".to_owned(),
                    _ => value,
                };
                fields.push(format!("{name}: {value}"));
            }
            format!("{} {} {fields:?} {content:?}", request.method, request.target)
        })
        .collect();
    requests.sort();
    requests
}

/// Returns the cookies of a field line by their names.
fn sorted(cookies: &str) -> String {
    let mut pairs: Vec<_> = cookies.split("; ").collect();
    pairs.sort_unstable();
    pairs.join("; ")
}

impl Run {
    /// Returns how many more requests there were than iterations.
    pub fn beside(&self) -> f64 {
        let [requests, iterations] =
            ["http_reqs", "iterations"].map(|name| self.summary["metrics"][name]["count"].as_f64());
        requests.unwrap_or_default() - iterations.unwrap_or_default()
    }

    /// Returns whether `teardown` of the scripts that have a request for it has run.
    pub fn tore_down(&self) -> bool {
        self.requests.iter().any(|request| request.contains("part=teardown"))
    }

    /// Returns the checks of all groups, with how often they held and failed.
    pub fn checks(&self) -> String {
        let mut lines = Vec::new();
        checks(&self.summary["root_group"], &mut lines);
        lines.join("\n")
    }

    /// Returns the thresholds, and whether they hold.
    pub fn thresholds(&self) -> String {
        let metrics = self.summary["metrics"].as_object();
        let lines = metrics.into_iter().flatten().filter(|(_, metric)| !metric["thresholds"].is_null());
        lines.map(|(name, metric)| format!("{name}: {}\n", metric["thresholds"])).collect()
    }

    /// Returns the names of the metrics, each with the names of its values.
    pub fn metrics(&self) -> String {
        let metrics = self.summary["metrics"].as_object();
        // Whether a run lasts for the second after which these are recorded is a matter of luck.
        let metrics = metrics.into_iter().flatten().filter(|(name, _)| !["vus", "vus_max"].contains(&name.as_str()));
        let line = |(name, metric): (&String, &Value)| {
            let keys = metric.as_object().into_iter().flatten().map(|(key, _)| format!(" {key}"));
            format!("{name}:{}\n", keys.collect::<String>())
        };
        metrics.map(line).collect()
    }

    /// Returns the values that do not depend on time.
    pub fn counts(&self) -> String {
        let metrics = self.summary["metrics"].as_object();
        let metrics = metrics.into_iter().flatten();
        // Bytes differ by the names of the programs.
        let metrics = metrics.filter(|(name, _)| !name.starts_with("data_") && !name.starts_with("vus"));
        let lines = metrics.map(|(name, metric)| {
            let values = ["count", "passes", "fails"].map(|key| metric[key].as_f64());
            format!("{name}: {values:?}\n")
        });
        lines.collect()
    }
}

fn checks(group: &Value, lines: &mut Vec<String>) {
    for (_, check) in group["checks"].as_object().into_iter().flatten() {
        lines.push(format!("{}: {} {} {}", text(&check["path"]), check["passes"], check["fails"], text(&check["id"])));
    }
    for (_, inner) in group["groups"].as_object().into_iter().flatten() {
        checks(inner, lines);
    }
}
