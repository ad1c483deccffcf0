//! The report's lines on errors: when they happened, and one failed response as a sample.

use crate::human::{cut, micros, printable};
use crate::sentence;
use crate::style::{FAINT, paint};
use torr_gauge::RunResult;
use torr_gauge::error_times::ErrorSpan;
use torr_gauge::failed_response::FailedResponse;
use torr_gauge::idle_closes::IdleCloses;
use torr_gauge::verdict::Advice;

/// The most kinds and statuses whose times are shown.
const MOST_SPANS: usize = 4;
/// The most field lines of the sample that are shown.
const MOST_FIELDS: usize = 3;
/// The most characters of a line that come from the server. With the label they fit a terminal of 80 columns.
const MOST_CHARS: usize = 64;
/// Fields that frame the message or have no relation to the failure.
const PLAIN: [&str; 6] = ["connection", "content-length", "date", "keep-alive", "server", "transfer-encoding"];

/// Returns the lines, each without a label; none if nothing failed.
pub fn lines(run: &RunResult) -> Vec<String> {
    let mut lines: Vec<_> = run.error_times.iter().take(MOST_SPANS).map(span).collect();
    if run.error_times.len() > MOST_SPANS {
        lines.push(paint(FAINT, format!("and {} more kinds of errors", run.error_times.len() - MOST_SPANS)));
    }
    lines.extend(run.connections.idle_closes.iter().flat_map(idle_closes));
    lines.extend(run.failed_response.iter().flat_map(sample));
    lines
}

/// Returns the lines on requests that met the close of an idle connection, and what to do about them.
fn idle_closes(closes: &IdleCloses) -> [String; 2] {
    let time = |ms: u64| micros(ms as f64 * 1e3);
    let after = match closes.timeout_ms() {
        Some(timeout) => time(timeout),
        None => format!("{} to {}", time(closes.shortest_ms), time(closes.longest_ms)),
    };
    [sentence::idle_closes(closes.requests, Some(after)), sentence::advice(&Advice::RaiseKeepAliveTimeout)]
}

/// Returns the line of one kind or status, such as `503 from 2.90 s to 5.80 s`.
fn span(span: &ErrorSpan) -> String {
    let what = match (&span.grpc, span.status) {
        (Some(name), _) => name.to_string(),
        (None, Some(status)) => status.to_string(),
        (None, None) => span.kind.to_string(),
    };
    let at = |seconds: f64| micros(seconds * 1e6);
    match (at(span.first_s), at(span.last_s)) {
        (first, last) if first == last => format!("{what} at {first}"),
        (first, last) => format!("{what} from {first} to {last}"),
    }
}

/// Returns the lines of the sample response.
fn sample(response: &FailedResponse) -> Vec<String> {
    let short = |text: &str| cut(&printable(text), MOST_CHARS);
    let mut lines = vec![format!("{} {}", paint(FAINT, "such as"), short(&response.status_line))];
    let is_plain = |name: &str| PLAIN.iter().any(|plain| name.eq_ignore_ascii_case(plain));
    let shown = response.fields.iter().filter(|field| !is_plain(&field.name)).take(MOST_FIELDS);
    lines.extend(shown.map(|field| format!("  {}", short(&format!("{}: {}", field.name, field.value)))));
    let content = response.content.split_whitespace().collect::<Vec<_>>().join(" ");
    if !content.is_empty() {
        lines.push(format!("  {}", short(&content)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_gauge::FailureKind;
    use torr_gauge::failed_response::Field;

    #[test]
    fn a_span_has_its_first_and_last_time() {
        let of = |status, first_s, last_s| {
            span(&ErrorSpan { kind: FailureKind::Timeout, status, grpc: None, count: 2, first_s, last_s })
        };
        let call = ErrorSpan {
            kind: FailureKind::Status,
            status: None,
            grpc: Some("UNAVAILABLE".into()),
            count: 2,
            first_s: 2.9,
            last_s: 5.8,
        };
        assert_eq!(span(&call), "UNAVAILABLE from 2.90 s to 5.80 s");
        assert_eq!(of(Some(503), 2.9, 5.8), "503 from 2.90 s to 5.80 s");
        assert_eq!(of(None, 0.41, 0.41), "timeout at 410 ms");
    }

    #[test]
    fn a_close_of_idle_connections_is_named_with_its_time() {
        let closes = |requests, shortest_ms, longest_ms| idle_closes(&IdleCloses { requests, shortest_ms, longest_ms });
        assert_eq!(
            closes(8, 200, 208)[0],
            "the server closes idle connections after 200 ms; 8 requests were sent during such a close"
        );
        assert_eq!(
            closes(1, 200, 3000)[0],
            "the server closes idle connections after 200 ms to 3.00 s; 1 request was sent during such a close"
        );
    }

    #[test]
    fn what_a_server_sends_does_nothing_to_the_terminal() {
        let field = |name: &str, value: &str| Field { name: name.into(), value: value.into() };
        let response = FailedResponse {
            at_s: 1.0,
            status: 500,
            status_line: "HTTP/1.1 500 \u{1b}[2JOh".into(),
            fields: vec![field("Date", "today"), field("X-Why", "a\u{202e}b\u{7}")],
            content: format!("<p>\n  \u{1b}]0;owned\u{7}{}</p>", "long ".repeat(100)),
            complete: true,
        };
        let lines = sample(&response);
        let text = anstream::adapter::strip_str(&lines.join("\n")).to_string();
        assert!(!lines[1..].concat().contains(|c: char| c.is_control()), "{lines:?}");
        assert!(text.starts_with("such as HTTP/1.1 500 \\u{1b}[2JOh\n  X-Why: a\\u{202e}b\\u{7}\n  <p> "), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= MOST_CHARS + 8) && text.ends_with("..."), "{text}");
    }
}
