//! The lines that k6 prints before a run and during it.

use std::time::Duration;

/// Returns what is printed before a run: `plan` has a line about the whole, then one for each scenario.
pub fn banner(script: &str, outputs: &[String], plan: &[String]) -> String {
    let output = if outputs.is_empty() { "-".to_owned() } else { outputs.join(", ") };
    let mut text = format!("\n     execution: local\n        script: {script}\n        output: {output}\n\n");
    let mut indent = "     ";
    for line in plan {
        text += &format!("{indent}{line}\n");
        indent = "              ";
    }
    text + "\n"
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
    fn the_banner_has_the_plan_indented() {
        let plan = ["scenarios: (100.00%) 1 scenario, 1 max VUs, 31s max duration:", "* a: 1 looping VUs for 1s"];
        let expected = "
     execution: local
        script: s.js
        output: json (a.json)

     scenarios: (100.00%) 1 scenario, 1 max VUs, 31s max duration:
              * a: 1 looping VUs for 1s

";
        let plan = plan.map(str::to_owned);
        assert_eq!(banner("s.js", &["json (a.json)".to_owned()], &plan), expected);
        assert!(banner("-", &[], &[]).contains("output: -"));
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
