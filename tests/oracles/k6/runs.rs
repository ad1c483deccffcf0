//! A run of a script, by k6 or by `torr k6`, as far as the two are compared.

use crate::echo::{Arrived, Echo};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use torr_test_support::program::Running;

/// What is compared of a run.
pub struct Run {
    pub code: Option<i32>,
    /// Standard output, which a script may write to at its end.
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
}

/// Fields of requests that each client has its own way with.
const OWN_FIELDS: [&str; 2] = ["connection", "accept-encoding"];

/// Runs a script.
pub fn run(program: &Path, words: &[&str], script: &Path, shop: &Echo) -> Run {
    let folder = tempfile::tempdir().expect("there is room");
    let export = folder.path().join("summary.json");
    let mut command = Command::new(program);
    command.args(words).args(["run", "--no-usage-report", "-q", "--no-color", "--log-format", "json"]);
    command.arg("--summary-export").arg(&export).arg("-e").arg(format!("BASE={}", shop.origin));
    command.arg(script.file_name().expect("it is a file")).current_dir(script.parent().expect("it is in a folder"));
    shop.take();
    let ended = Running::start(command).wait();
    let lines = ended.stderr.lines().map(|line| (line, serde_json::from_str::<Value>(line).unwrap_or_default()));
    let (console, others): (Vec<_>, Vec<_>) = lines.partition(|(_, line)| line["source"] == "console");
    let said = |(_, line): &(&str, Value)| format!("{}: {}", text(&line["level"]), text(&line["msg"]));
    let arrived = shop.take();
    let connections = arrived.iter().map(|request| request.connection).collect::<BTreeSet<_>>().len();
    let summary = std::fs::read_to_string(&export).ok().and_then(|text| serde_json::from_str(&text).ok());
    Run {
        code: ended.code,
        // The usual summary has times in it, and its layout has tests of its own.
        printed: if ended.stdout.contains('█') { "the usual summary".to_owned() } else { ended.stdout },
        console: console.iter().map(said).collect(),
        errors: others.iter().map(|(line, _)| format!("{line}\n")).collect(),
        requests: requests(arrived),
        connections,
        summary: summary.unwrap_or_default(),
    }
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
            let mut fields = BTreeMap::new();
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
                    // A digest has random parts, a length that of the boundary.
                    "authorization" if value.starts_with("Digest ") => "Digest".to_owned(),
                    "content-length" if content.contains("BOUNDARY") => "some".to_owned(),
                    _ => value,
                };
                fields.insert(name, value);
            }
            format!("{} {} {fields:?} {content:?}", request.method, request.target)
        })
        .collect();
    requests.sort();
    requests
}

impl Run {
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
