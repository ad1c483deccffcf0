//! The run before, with a link to its page.

use super::moment::moment;
use crate::run_before::RunBefore;
use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use torr_report::human::difference;

/// All but the unreserved characters of RFC 3986, section 2.3.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the line that names the run before and what differs from it.
pub fn before(before: &RunBefore) -> Markup {
    // A name is never taken for a scheme or a path.
    let href = format!("./{}", utf8_percent_encode(&before.linked, RESERVED));
    html! {
        p.sub {
            "The run before: " a href=(href) { (moment(&before.started_at)) }
            @if !before.is_same_load { ", with another load" }
            @for (what, by) in [("throughput", before.rps), ("p99", before.p99)] {
                @if let Some(by) = by { ", " (what) " " (signed(by)) " since" }
            }
            @if before.is_same_load { ". Two runs show no trend: " code { "torr history" } " finds one in six or more." }
        }
    }
}

fn signed(by: f64) -> String {
    let sign = if by < 0.0 { "\u{2212}" } else { "+" };
    format!("{sign}{}", difference(by.abs()))
}

#[cfg(test)]
mod tests {
    use super::{RunBefore, before};
    use serde_json::{Value, json};

    fn run(started_at: &str, rps: f64, connections: u64) -> Value {
        json!({
            "schema": "torr.run/1", "target": "http://127.0.0.1/", "started_at": started_at, "rps": rps,
            "plan": {"connections": connections}, "latency_us": {"p99": 100.0}
        })
    }

    fn line(own: &Value, other: &Value, page: Option<&str>) -> Option<String> {
        let found = RunBefore::of(own, other, "a.json".into(), page.map(str::to_owned));
        found.map(|found| before(&found).into_string())
    }

    #[test]
    fn an_earlier_run_of_the_same_target_is_the_run_before() {
        let (first, second) = (run("2026-11-27T10:00:00Z", 1000.0, 8), run("2026-11-28T10:00:00Z", 900.0, 8));
        let shown = line(&second, &first, None).expect("it began before");
        assert!(shown.contains("href=\"./a.json\"") && shown.contains("throughput \u{2212}10"), "{shown}");
        assert!(shown.contains("p99 +0"), "{shown}");
        assert_eq!(line(&first, &second, None), None);
        assert_eq!(line(&first, &first, None), None);
        let mut elsewhere = first;
        elsewhere["target"] = "http://127.0.0.2/".into();
        assert_eq!(line(&second, &elsewhere, None), None);
    }

    #[test]
    fn of_another_load_there_is_only_the_link() {
        let (first, second) = (run("2026-11-27T10:00:00Z", 1000.0, 8), run("2026-11-28T10:00:00Z", 900.0, 9));
        let shown = line(&second, &first, None).expect("it began before");
        assert!(shown.contains("another load") && !shown.contains("throughput"), "{shown}");
    }

    #[test]
    fn a_name_of_a_file_is_no_scheme() {
        let (first, second) = (run("2026-11-27T10:00:00Z", 1000.0, 8), run("2026-11-28T10:00:00Z", 900.0, 8));
        let shown = line(&second, &first, Some("javascript:alert(1).html")).expect("it began before");
        assert!(shown.contains("href=\"./javascript%3Aalert%281%29.html\""), "{shown}");
    }
}
