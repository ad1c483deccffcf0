//! The lines that k6 prints before a run and during it.

use std::fmt::Write;
use std::time::Duration;

/// A scenario, as the lines before a run describe it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioLine {
    /// The name.
    pub name: String,
    /// What the scenario does.
    pub work: ScenarioWork,
    /// The function that iterations call, if it is not the default one.
    pub exec: Option<String>,
    /// When the scenario begins, from the beginning of the run on.
    pub start_time: Duration,
    /// How long iterations may go on after the end.
    pub graceful_stop: Duration,
}

/// What a scenario does.
#[derive(Debug, Clone, PartialEq)]
pub enum ScenarioWork {
    /// Iterations that virtual users take from one count.
    SharedIterations {
        /// The number of iterations.
        iterations: u64,
        /// The number of virtual users.
        vus: u64,
        /// The time after which no iteration begins.
        max_duration: Duration,
    },
    /// A number of iterations for each virtual user.
    PerVuIterations {
        /// The number of iterations.
        iterations: u64,
        /// The number of virtual users.
        vus: u64,
        /// The time after which no iteration begins.
        max_duration: Duration,
    },
    /// A number of virtual users for some time.
    ConstantVus {
        /// The number of virtual users.
        vus: u64,
        /// The duration.
        duration: Duration,
    },
    /// A changing number of virtual users.
    RampingVus {
        /// The largest number of virtual users.
        most: u64,
        /// The number of stages.
        stages: usize,
        /// The duration.
        duration: Duration,
        /// How long a virtual user may go on that is taken away.
        graceful_ramp_down: Duration,
    },
    /// A rate of iterations.
    ConstantRate {
        /// Iterations per second.
        per_second: f64,
        /// The duration.
        duration: Duration,
        /// The virtual users that are planned, and the most that there may be.
        vus: (u64, u64),
    },
    /// A changing rate of iterations.
    RampingRate {
        /// The highest rate, in iterations per second.
        most_per_second: f64,
        /// The number of stages.
        stages: usize,
        /// The duration.
        duration: Duration,
        /// The virtual users that are planned, and the most that there may be.
        vus: (u64, u64),
    },
}

/// What is printed before a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Banner {
    /// The script.
    pub script: String,
    /// The outputs of samples.
    pub outputs: Vec<String>,
    /// The largest number of virtual users.
    pub most_vus: u64,
    /// The longest duration of all scenarios, with the time in which iterations may end.
    pub longest: Duration,
    /// The scenarios.
    pub scenarios: Vec<ScenarioLine>,
}

impl Banner {
    /// Returns the text.
    pub fn text(&self) -> String {
        let output = if self.outputs.is_empty() { "-".to_owned() } else { self.outputs.join(", ") };
        let count = self.scenarios.len();
        let mut text = format!(
            "\n     execution: local\n        script: {}\n        output: {output}\n\n     \
             scenarios: (100.00%) {count} scenario{}, {} max VUs, {} max duration (incl. graceful stop):\n",
            self.script,
            if count == 1 { "" } else { "s" },
            self.most_vus,
            time(self.longest),
        );
        for scenario in &self.scenarios {
            // Writing to a text cannot fail.
            let _ = writeln!(text, "              * {}: {}", scenario.name, scenario.description());
        }
        text + "\n"
    }
}

impl ScenarioLine {
    /// Returns what the scenario does, in one line.
    pub fn description(&self) -> String {
        let (work, mut details) = self.work.description();
        if let Some(exec) = self.exec.as_deref().filter(|exec| *exec != "default") {
            details.push(format!("exec: {exec}"));
        }
        if !self.start_time.is_zero() {
            details.push(format!("startTime: {}", time(self.start_time)));
        }
        if !self.graceful_stop.is_zero() {
            details.push(format!("gracefulStop: {}", time(self.graceful_stop)));
        }
        if details.is_empty() { work } else { format!("{work} ({})", details.join(", ")) }
    }
}

impl ScenarioWork {
    fn description(&self) -> (String, Vec<String>) {
        let users = |(planned, most): (u64, u64)| {
            if planned == most { format!("maxVUs: {planned}") } else { format!("maxVUs: {planned}-{most}") }
        };
        match self {
            Self::SharedIterations { iterations, vus, max_duration } => (
                format!("{iterations} iterations shared among {vus} VUs"),
                vec![format!("maxDuration: {}", time(*max_duration))],
            ),
            Self::PerVuIterations { iterations, vus, max_duration } => (
                format!("{iterations} iterations for each of {vus} VUs"),
                vec![format!("maxDuration: {}", time(*max_duration))],
            ),
            Self::ConstantVus { vus, duration } => (format!("{vus} looping VUs for {}", time(*duration)), Vec::new()),
            Self::RampingVus { most, stages, duration, graceful_ramp_down } => (
                format!("Up to {most} looping VUs for {} over {stages} stages", time(*duration)),
                vec![format!("gracefulRampDown: {}", time(*graceful_ramp_down))],
            ),
            Self::ConstantRate { per_second, duration, vus } => {
                (format!("{per_second:.2} iterations/s for {}", time(*duration)), vec![users(*vus)])
            }
            Self::RampingRate { most_per_second, stages, duration, vus } => (
                format!("Up to {most_per_second:.2} iterations/s for {} over {stages} stages", time(*duration)),
                vec![users(*vus)],
            ),
        }
    }
}

/// Where a run stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// The time since the beginning.
    pub elapsed: Duration,
    /// The longest duration of all scenarios, with the time in which iterations may end.
    pub longest: Duration,
    /// Virtual users that run an iteration.
    pub active: u64,
    /// Virtual users that there are.
    pub vus: u64,
    /// Iterations that ended by themselves.
    pub complete: u64,
    /// Iterations that were ended.
    pub interrupted: u64,
    /// The scenarios.
    pub scenarios: Vec<ScenarioProgress>,
}

/// Where a scenario stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScenarioProgress {
    /// The name.
    pub name: String,
    /// Whether it ended; `false` also if it was ended before its time.
    pub is_done: bool,
    /// The share that is done, from 0 to 1.
    pub share: f64,
    /// What it does now, such as `3/4 VUs  1.0s/2.0s`.
    pub state: String,
}

impl Progress {
    /// Returns the line about the run.
    pub fn line(&self) -> String {
        let Self { elapsed, longest, active, vus, complete, interrupted, .. } = self;
        let elapsed = fixed(*elapsed, *longest);
        format!("running ({elapsed}), {active}/{vus} VUs, {complete} complete and {interrupted} interrupted iterations")
    }

    /// Returns the line about the run, and one for each scenario.
    pub fn text(&self) -> String {
        let widest = self.scenarios.iter().map(|scenario| scenario.name.chars().count()).max().unwrap_or(0);
        let lines = self.scenarios.iter().map(|scenario| {
            let ScenarioProgress { name, is_done, share, state } = scenario;
            let mark = if *is_done { "✓" } else { " " };
            let padding = " ".repeat(widest - name.chars().count());
            format!("{name}{padding} {mark} [ {:3.0}% ] {state}\n", (share * 100.0).clamp(0.0, 100.0))
        });
        format!("{}\n{}", self.line(), lines.collect::<String>())
    }
}

/// Returns a time as Go prints it: `1m30s`, `10m0s`, `500ms`.
pub fn time(duration: Duration) -> String {
    let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
    if seconds == 0 && nanos > 0 {
        return match nanos {
            1_000_000.. => format!("{}ms", f64::from(nanos) / 1e6),
            1000.. => format!("{}µs", f64::from(nanos) / 1e3),
            _ => format!("{nanos}ns"),
        };
    }
    let rest = (seconds % 60) as f64 + f64::from(nanos) / 1e9;
    match (seconds / 3600, seconds / 60 % 60) {
        (0, 0) => format!("{rest}s"),
        (0, minutes) => format!("{minutes}m{rest}s"),
        (hours, minutes) => format!("{hours}h{minutes}m{rest}s"),
    }
}

/// Returns a time of tenths of a second, as wide as the longest will be.
pub fn fixed(duration: Duration, longest: Duration) -> String {
    let tenths = (duration.as_millis() + 50) / 100;
    let (seconds, tenth) = (tenths / 10, tenths % 10);
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match longest.as_secs() {
        3600.. => format!("{hours}h{minutes:02}m{rest:02}.{tenth}s"),
        60.. => format!("{:02}m{rest:02}.{tenth}s", hours * 60 + minutes),
        _ => format!("{:02}.{tenth}s", seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn the_banner_describes_each_scenario() {
        let line = |name: &str, work, exec: Option<&str>, start_time| ScenarioLine {
            name: name.to_owned(),
            work,
            exec: exec.map(str::to_owned),
            start_time: seconds(start_time),
            graceful_stop: seconds(30.0),
        };
        let ten = seconds(600.0);
        let banner = Banner {
            script: "s.js".to_owned(),
            outputs: vec!["json (a.json)".to_owned()],
            most_vus: 14,
            longest: seconds(630.0),
            scenarios: vec![
                line("a", ScenarioWork::SharedIterations { iterations: 3, vus: 1, max_duration: ten }, None, 0.0),
                line("b", ScenarioWork::PerVuIterations { iterations: 3, vus: 2, max_duration: ten }, Some("one"), 0.3),
                line("c", ScenarioWork::ConstantVus { vus: 10, duration: seconds(30.0) }, None, 0.0),
                line(
                    "d",
                    ScenarioWork::RampingVus {
                        most: 4,
                        stages: 2,
                        duration: seconds(2.0),
                        graceful_ramp_down: seconds(30.0),
                    },
                    None,
                    0.0,
                ),
                line(
                    "e",
                    ScenarioWork::ConstantRate { per_second: 50.0, duration: seconds(30.0), vus: (10, 50) },
                    None,
                    0.0,
                ),
                line(
                    "f",
                    ScenarioWork::RampingRate { most_per_second: 0.5, stages: 3, duration: seconds(90.0), vus: (5, 5) },
                    None,
                    0.0,
                ),
            ],
        };
        let expected = "
     execution: local
        script: s.js
        output: json (a.json)

     scenarios: (100.00%) 6 scenarios, 14 max VUs, 10m30s max duration (incl. graceful stop):
              * a: 3 iterations shared among 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)
              * b: 3 iterations for each of 2 VUs (maxDuration: 10m0s, exec: one, startTime: 300ms, gracefulStop: 30s)
              * c: 10 looping VUs for 30s (gracefulStop: 30s)
              * d: Up to 4 looping VUs for 2s over 2 stages (gracefulRampDown: 30s, gracefulStop: 30s)
              * e: 50.00 iterations/s for 30s (maxVUs: 10-50, gracefulStop: 30s)
              * f: Up to 0.50 iterations/s for 1m30s over 3 stages (maxVUs: 5, gracefulStop: 30s)

";
        assert_eq!(banner.text(), expected);
    }

    #[test]
    fn progress_has_a_line_for_the_run_and_for_each_scenario() {
        let progress = Progress {
            elapsed: seconds(1.04),
            longest: seconds(32.0),
            active: 3,
            vus: 4,
            complete: 38,
            interrupted: 0,
            scenarios: vec![
                ScenarioProgress {
                    name: "default".to_owned(),
                    is_done: false,
                    share: 0.5,
                    state: "3/4 VUs  1.0s/2.0s".to_owned(),
                },
                ScenarioProgress { name: "b".to_owned(), is_done: true, share: 1.0, state: "1 VUs".to_owned() },
            ],
        };
        let expected = "running (01.0s), 3/4 VUs, 38 complete and 0 interrupted iterations
default   [  50% ] 3/4 VUs  1.0s/2.0s
b       ✓ [ 100% ] 1 VUs
";
        assert_eq!(progress.text(), expected);
        let times =
            [(0.1, 630.0), (61.0, 630.0), (3661.25, 7200.0)].map(|(now, most)| fixed(seconds(now), seconds(most)));
        assert_eq!(times, ["00m00.1s", "01m01.0s", "1h01m01.3s"]);
    }
}
