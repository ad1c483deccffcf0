//! The load of a script: its phases and thresholds, as flags of a run.

use super::config::Config;
use super::value;
use crate::draft::LeftOut;
use crate::javascript;
use crate::node::Node;

/// The most users at a time that a run takes.
const MOST_USERS: f64 = 1_000_000.0;
/// The longest phase, in seconds: a year.
const LONGEST: f64 = 365.0 * 86_400.0;
/// The highest rate, in users per second.
const HIGHEST: f64 = 1e9;
/// The time limit of a request that Artillery has without one of the script, in seconds.
const TIME_LIMIT: f64 = 10.0;

/// A phase, as a line from one rate of arriving users to another.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Phase {
    seconds: f64,
    from: f64,
    to: f64,
}

/// The load of a script.
#[derive(Debug, Default)]
pub(super) struct Load {
    /// Flags of a run, each with its value.
    pub(super) flags: Vec<String>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) notes: Vec<String>,
}

/// What a session takes at most.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Longest {
    pub(super) requests: usize,
    /// The requests of the shortest session.
    pub(super) least_requests: usize,
    /// All pauses together, in milliseconds.
    pub(super) pause: u64,
}

/// Returns the flags of a run with the arrivals of a script's phases. `longest` is its longest scenario.
/// `folder` is that of the script.
pub(super) fn read(config: &Config, folder: &str, longest: Longest) -> Load {
    let mut load = Load::default();
    let timeout = [config.get("timeout"), config.get("http").get("timeout")];
    let timeout = timeout.into_iter().find(|of| !of.is_null()).and_then(value::as_number).filter(|limit| *limit > 0.0);
    let timeout = timeout.unwrap_or(TIME_LIMIT).min(LONGEST);
    let phases = config.get("phases").items();
    if phases.is_empty() {
        load.flags.push("-n 1".to_owned());
    } else {
        load.phases(config, phases, timeout, longest);
    }
    if timeout != TIME_LIMIT {
        load.flags.push(format!("--timeout {}", seconds(timeout)));
    }
    if let Some(records) = config.records.first() {
        let folder = if records.file.starts_with('/') { "" } else { folder };
        let path = format!("{folder}{}", records.file);
        // Only a NUL cannot be quoted, and no file has one in its name.
        let path = shlex::try_quote(&path).map_or_else(|_| path.clone(), Into::into);
        load.flags.push(format!("--feeder {path}"));
        if records.is_random {
            load.flags.push("--feeder-order random".to_owned());
        }
    }
    let has_pool = !config.get("http").get("pool").is_null();
    if !has_pool && longest.requests == longest.least_requests {
        load.flags.push(format!("--requests-per-connection {}", longest.requests));
    } else if !has_pool {
        load.notes.push("connections: Artillery opens one for each user, Torr keeps them for the next user".to_owned());
    }
    for ensure in [config.get("ensure"), config.get("plugins").get("ensure")] {
        load.thresholds(ensure);
    }
    load
}

impl Load {
    fn leave_out(&mut self, kind: &str, which: impl Into<String>, reason: &str) {
        self.left_out.push(LeftOut::new(kind, which, reason));
    }

    fn phases(&mut self, config: &Config, phases: &[Node], timeout: f64, longest: Longest) {
        let mut lines = Vec::new();
        let mut limits = Vec::new();
        let mut modes = Vec::new();
        for phase in phases {
            match line(phase) {
                Some(line) => {
                    if line.from > 0.0 || line.to > 0.0 {
                        limits.push(number(phase, "maxVusers"));
                        let mode = [phase.get("mode"), config.get("mode")].into_iter().find_map(Node::text);
                        modes.push(mode == Some("poisson") && phase.get("rampTo").is_null());
                    }
                    lines.push(line);
                }
                None => self.leave_out("phase", phase.to_json(), "its numbers are not known: set --stages"),
            }
        }
        let Some(peak) = lines.iter().map(|line| line.from.max(line.to)).reduce(f64::max).filter(|peak| *peak > 0.0)
        else {
            return;
        };
        match lines[..] {
            [Phase { seconds: length, from, to }] if from == to => {
                let count = number(&phases[0], "arrivalCount").filter(|count| count.fract() == 0.0);
                let run = count.map_or_else(|| format!("-d {}", seconds(length)), |count| format!("-n {count}"));
                self.flags.extend([format!("-r {}", rate(from)), run]);
            }
            _ => self.flags.push(format!("--stages {}", stages(&lines))),
        }
        if modes.iter().all(|mode| *mode) {
            self.flags.push("--arrivals poisson".to_owned());
        } else if modes.contains(&true) {
            self.leave_out("mode", "poisson", "users of all phases arrive evenly");
        }
        let limit = limits.iter().copied().collect::<Option<Vec<f64>>>();
        match limit.as_deref() {
            Some([first, others @ ..]) if others.iter().all(|other| other == first) && *first >= 1.0 => {
                self.flags.push(format!("-c {}", first.min(MOST_USERS) as u64));
                // A user that finds no place does not come later.
                self.flags.push("--patience 1ms".to_owned());
            }
            _ => {
                if limits.iter().any(Option::is_some) {
                    self.leave_out("maxVusers", "", "not the same in all phases");
                }
                // As many as there are if each request takes as long as it may.
                let session = longest.pause as f64 / 1000.0 + timeout * longest.requests as f64;
                let users = (peak * session).ceil().clamp(1.0, MOST_USERS);
                self.flags.push(format!("-c {}", users as u64));
            }
        }
    }

    fn thresholds(&mut self, ensure: &Node) {
        let mut rules = Vec::new();
        for (name, limit) in ensure.members() {
            let rule = match name.as_str() {
                "thresholds" => {
                    for (metric, limit) in limit.items().iter().flat_map(Node::members) {
                        match metric.strip_prefix("http.response_time.").and_then(|metric| rule(metric, limit)) {
                            Some(rule) => rules.push(rule),
                            None => self.leave_out("ensure", format!("{metric}: {}", limit.plain()), "no counterpart"),
                        }
                    }
                    continue;
                }
                "maxErrorRate" => value::as_number(limit).map(|limit| format!("sessions_failed>{limit}%")),
                name => rule(name, limit),
            };
            match rule {
                Some(rule) => rules.push(rule),
                None => self.leave_out("ensure", format!("{name}: {}", limit.plain()), "no counterpart"),
            }
        }
        if !rules.is_empty() {
            self.flags.push(format!("--fail-if '{}'", rules.join(",")));
        }
    }
}

/// Returns the rule that a response time has failed.
fn rule(metric: &str, limit: &Node) -> Option<String> {
    let limit = value::as_number(limit).filter(|limit| *limit >= 0.0)?;
    let metric = match metric {
        "min" | "max" | "mean" | "p50" | "p75" | "p90" | "p95" | "p99" => metric,
        "median" => "p50",
        "p999" => "p99.9",
        _ => return None,
    };
    Some(format!("{metric}>={limit}ms"))
}

fn number(phase: &Node, name: &str) -> Option<f64> {
    value::as_number(phase.get(name)).filter(|number| *number >= 0.0)
}

/// Returns a phase as a line; `None` for one whose numbers are not known.
fn line(phase: &Node) -> Option<Phase> {
    let length = |name: &str| {
        let text = javascript::in_text(phase.get(name));
        let whole = text.trim().parse::<f64>().ok().filter(|number| number.fract() == 0.0);
        let seconds = whole.or_else(|| value::milliseconds(&text).map(|time| time / 1000.0))?;
        (seconds > 0.0).then_some(seconds.min(LONGEST))
    };
    let is_set = |name: &str| !phase.get(name).is_null();
    let flat = |seconds: f64, level: f64| (level <= HIGHEST).then_some(Phase { seconds, from: level, to: level });
    if is_set("pause") {
        return flat(length("pause")?, 0.0);
    }
    if is_set("arrivalCount") {
        let seconds = length("duration")?;
        return flat(seconds, number(phase, "arrivalCount")? / seconds);
    }
    let seconds = length("duration")?;
    if is_set("rampTo") {
        let from = if is_set("arrivalRate") { number(phase, "arrivalRate")? } else { 0.0 };
        let to = number(phase, "rampTo")?;
        return (from <= HIGHEST && to <= HIGHEST).then_some(Phase { seconds, from, to });
    }
    flat(seconds, number(phase, "arrivalRate")?)
}

/// Returns the stages of lines: a jump where one does not begin at the level of the one before.
fn stages(lines: &[Phase]) -> String {
    let mut level = 0.0;
    let mut stages = Vec::new();
    for line in lines {
        if line.from != level {
            stages.push(format!("0:{}", rate(line.from)));
        }
        stages.push(format!("{}:{}", seconds(line.seconds), rate(line.to)));
        level = line.to;
    }
    stages.join(",")
}

/// Returns a rate with six digits behind the point at most.
fn rate(rate: f64) -> String {
    ((rate * 1e6).round() / 1e6).to_string()
}

fn seconds(seconds: f64) -> String {
    let whole = seconds.round();
    if seconds != whole {
        return format!("{}ms", (seconds * 1000.0).round().max(1.0));
    }
    let whole = whole as u64;
    if whole > 0 && whole.is_multiple_of(3600) {
        format!("{}h", whole / 3600)
    } else if whole > 0 && whole.is_multiple_of(60) {
        format!("{}m", whole / 60)
    } else {
        format!("{whole}s")
    }
}
