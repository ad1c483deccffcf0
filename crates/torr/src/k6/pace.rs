//! The load of a command line as options of a script of k6.

use crate::exit::CliError;
use serde_json::{Map, Value, json};
use std::time::Duration;
use torr_load::PacePart;

/// The time unit of rates in seconds: k6 counts whole iterations in a time unit.
const UNIT_S: u32 = 1_000;
/// The duration of a rate that has none, as that of a URL.
const DURATION: Duration = Duration::from_secs(10);
/// The number of virtual users of a rate that exist before the run, where more are created as needed.
const USERS_BEFORE: usize = 50;

/// Returns the options that the flags of a load set.
///
/// # Errors
/// For a rate with a number of iterations.
pub fn options(pace: &PacePart) -> Result<Map<String, Value>, CliError> {
    let (connections, duration) = (pace.connections.as_deref().copied(), pace.duration.as_deref().copied());
    let mut options = Map::new();
    let mut set = |name: &str, value: Value| _ = options.insert(name.to_owned(), value);
    let text = |duration: Duration| format!("{}ms", duration.as_millis());
    if let Some(schedule) = pace.rate.as_deref() {
        if pace.requests.is_some() {
            return Err(CliError::Usage("-n is not supported with -r for a k6 script: use -d".into()));
        }
        let most = pace.connections();
        let before = if pace.max_connections.is_some() { most.min(USERS_BEFORE) } else { most };
        let scenario = json!({
            "executor": "constant-arrival-rate",
            "rate": ((schedule.peak() * f64::from(UNIT_S)).round() as u64).max(1),
            "timeUnit": format!("{UNIT_S}s"),
            "duration": text(duration.unwrap_or(DURATION)),
            "preAllocatedVUs": before,
            "maxVUs": most,
        });
        set("scenarios", json!({ "default": scenario }));
        return Ok(options);
    }
    if let Some(connections) = connections {
        set("vus", connections.into());
    }
    if let Some(requests) = pace.requests.as_deref() {
        set("iterations", (*requests).into());
    }
    if let Some(duration) = duration {
        set("duration", text(duration).into());
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use torr_load::Load;

    #[derive(Debug, Parser)]
    struct Only {
        #[command(flatten)]
        load: Load,
    }

    fn options_of(words: &[&str]) -> Result<Value, CliError> {
        let only = Only::try_parse_from([&["torr", "x.js"], words].concat());
        let load = only.unwrap_or_else(|error| panic!("{words:?}: {error}")).load;
        options(&load.pace).map(Value::Object)
    }

    #[test]
    fn flags_are_options_of_the_script() {
        assert_eq!(options_of(&[]), Ok(json!({})));
        let all = options_of(&["-c", "3", "-n", "7", "-d", "1.5s"]);
        assert_eq!(all, Ok(json!({"vus": 3, "iterations": 7, "duration": "1500ms"})));
    }

    #[test]
    fn a_rate_is_that_of_iterations() {
        let scenario = |words: &[&str]| options_of(words).map(|options| options["scenarios"]["default"].clone());
        let expected = json!({"executor": "constant-arrival-rate", "rate": 2_500, "timeUnit": "1000s", "duration": "10000ms",
            "preAllocatedVUs": 100, "maxVUs": 100});
        assert_eq!(scenario(&["-r", "2.5"]), Ok(expected));
        let users = |words: &[&str]| {
            scenario(words).map(|scenario| [scenario["preAllocatedVUs"].clone(), scenario["maxVUs"].clone()])
        };
        assert_eq!(users(&["-r", "10", "-c", "7"]), Ok([json!(7), json!(7)]));
        assert_eq!(users(&["-r", "10", "--max-connections", "300"]), Ok([json!(50), json!(300)]));
        assert!(options_of(&["-r", "10", "-n", "5"]).is_err_and(|why| why.into_line().contains("use -d")));
    }
}
