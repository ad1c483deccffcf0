//! What became of each request, and which disturbance explains each failure.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde_json::{Map, Value};

use super::loads::{Load, ROWS, THROUGH_LINK};

/// How much later than a disturbance's end a failure may still be its consequence: a time-out of a connection or statement.
const GRACE: f64 = 8.0;
/// What the clocks of a load and of this program may differ by in seconds, with the begin of a load's series.
const SLACK: f64 = 1.0;

/// What is done to servers, databases, links and disks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Reload,
    DatabaseRestart,
    LinkCut,
    DiskFull,
}

impl Kind {
    /// What it is called in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reload => "reload",
            Self::DatabaseRestart => "database restarted",
            Self::LinkCut => "link cut",
            Self::DiskFull => "disk full",
        }
    }

    /// Whether it may fail requests of this load: reloads and full disks may fail none.
    fn may_fail(self, load: &str) -> bool {
        match self {
            Self::Reload | Self::DiskFull => false,
            Self::DatabaseRestart => load == ROWS,
            Self::LinkCut => load == THROUGH_LINK,
        }
    }
}

/// A disturbance, in seconds since the start of the load.
#[derive(Clone, Serialize)]
pub struct Window {
    pub kind: Kind,
    pub begin: f64,
    pub end: f64,
}

impl Window {
    /// Whether anything between these times can be its consequence.
    pub fn covers(&self, begin: f64, end: f64) -> bool {
        begin <= self.end + GRACE && end >= self.begin - SLACK
    }
}

/// The requests of a load.
#[derive(Serialize)]
pub struct Outcome {
    pub load: &'static str,
    /// Requests per second of the closed loop, and of the load.
    pub limit: f64,
    pub rate: u64,
    /// Requests that were due, responses, requests that failed without a response, and those in flight at the end.
    pub requests: u64,
    pub responses: u64,
    pub failed: u64,
    pub unfinished: u64,
    /// Responses by status, and failures by kind; a status that was not expected is a failure with a response.
    pub status: Value,
    pub errors: Map<String, Value>,
    /// Failures by the disturbance that explains them.
    pub explained: BTreeMap<&'static str, u64>,
    /// All others, each with the second in which it was counted and what else went on then.
    pub unexplained: u64,
    pub unexplained_at: Vec<String>,
}

impl Outcome {
    /// Reads a result (`torr.run/1`) of a load beside the disturbances.
    pub fn of(load: &Load, result: &Value, start: SystemTime, windows: &[Window]) -> Option<Self> {
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        let began = humantime::parse_rfc3339(result["started_at"].as_str()?).ok()?;
        let offset = began.duration_since(start).map_or_else(|e| -e.duration().as_secs_f64(), |d| d.as_secs_f64());
        let status = result["status"].as_object()?;
        let errors: Map<String, Value> =
            result["errors"].as_object()?.iter().filter(|(_, count)| number(count) > 0).map(own).collect();
        let of_status = errors.get("status").map_or(0, number);
        let failures: u64 = errors.values().map(number).sum();
        let mut outcome = Self {
            load: load.name,
            limit: load.limit,
            rate: load.rate,
            requests: number(&result["asked"]),
            responses: status.values().map(number).sum(),
            failed: failures - of_status,
            unfinished: number(&result["unfinished"]),
            status: result["status"].clone(),
            errors,
            explained: BTreeMap::new(),
            unexplained: 0,
            unexplained_at: Vec::new(),
        };
        let mut begin = offset;
        for point in result["series"].as_array()? {
            let end = offset + point["t"].as_f64()?;
            outcome.explain(number(&point["errors"]), begin, end, windows);
            begin = end;
        }
        let attributed: u64 = outcome.explained.values().sum::<u64>() + outcome.unexplained;
        if failures > attributed {
            outcome.unexplained += failures - attributed;
            outcome.unexplained_at.push(format!("{} at no known time", failures - attributed));
        }
        Some(outcome)
    }

    /// Attributes failures between two times.
    fn explain(&mut self, failures: u64, begin: f64, end: f64, windows: &[Window]) {
        if failures == 0 {
            return;
        }
        let near = || windows.iter().filter(|window| window.covers(begin, end));
        match near().find(|window| window.kind.may_fail(self.load)) {
            Some(window) => *self.explained.entry(window.kind.name()).or_default() += failures,
            None => {
                let beside: Vec<_> = near().map(|window| window.kind.name()).collect();
                let beside = if beside.is_empty() { "nothing".to_owned() } else { beside.join(", ") };
                self.unexplained += failures;
                self.unexplained_at.push(format!("{failures} at {end:.0} s, beside {beside}"));
            }
        }
    }

    /// Requests of which it is not known what became; negative if something was counted twice.
    pub fn lost(&self) -> i64 {
        self.requests as i64 - (self.responses + self.failed + self.unfinished) as i64
    }

    /// Whether each request and each failure is accounted for, and there was a load at all.
    pub fn is_good(&self) -> bool {
        self.lost() == 0 && self.unexplained == 0 && self.responses > 0
    }
}

fn own((name, count): (&String, &Value)) -> (String, Value) {
    (name.clone(), count.clone())
}

/// Seconds from one time to the other.
pub fn seconds_since(start: SystemTime) -> f64 {
    start.elapsed().unwrap_or(Duration::ZERO).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outcome(name: &'static str, requests: u64, errors_at_40: u64) -> Outcome {
        let load = Load { name, arguments: String::new(), limit: 10.0, rate: 7 };
        let start = humantime::parse_rfc3339("2026-11-23T12:00:00Z").expect("a time");
        let result = json!({
            "started_at": "2026-11-23T12:00:01.5Z", "asked": requests, "unfinished": 1,
            "status": {"200": 90, "500": 4}, "errors": {"read": errors_at_40 - 4, "status": 4, "tls": 0},
            "series": [{"t": 38.5, "errors": 0}, {"t": 39.5, "errors": errors_at_40}, {"t": 60.0, "errors": 0}],
        });
        let windows = [
            Window { kind: Kind::Reload, begin: 39.0, end: 39.5 },
            Window { kind: Kind::DatabaseRestart, begin: 37.0, end: 38.0 },
        ];
        Outcome::of(&load, &result, start, &windows).expect("a result")
    }

    #[test]
    fn failures_belong_to_disturbances_that_may_cause_them() {
        let rows = outcome(ROWS, 100, 9);
        assert_eq!((rows.lost(), rows.unexplained, rows.explained["database restarted"]), (0, 0, 9));
        assert!(rows.is_good());
        let other = outcome("HTTP/2", 100, 9);
        assert_eq!(other.unexplained, 9);
        assert_eq!(other.unexplained_at, ["9 at 41 s, beside reload, database restarted"]);
        assert!(!other.is_good());
    }

    #[test]
    fn a_request_that_is_lost_is_reported() {
        assert_eq!(outcome(ROWS, 103, 9).lost(), 3);
        assert!(!outcome(ROWS, 103, 9).is_good());
    }
}
