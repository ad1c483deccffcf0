//! A log format in the syntax of nginx' `log_format`.

use crate::logged::Line;
use crate::time::Stamp;
use memchr::memmem;
use std::borrow::Cow;
use thiserror::Error;

/// The most variables of a format.
const MOST_VARIABLES: usize = 128;

/// A log format in the syntax of nginx' `log_format`: variables such as `$request` with text between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The text before the first variable.
    front: String,
    /// The variables, each with the text that follows it.
    parts: Vec<(Variable, String)>,
    /// Whether lines may go on behind the last part.
    is_open: bool,
    /// Whether times are those at which requests began.
    is_start: bool,
}

/// What a variable's value is used for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Variable {
    Request,
    Method,
    Target,
    Host,
    Status,
    /// The response time in seconds; several are added.
    Seconds,
    /// A response time in seconds, which counts if there is no other.
    UpstreamSeconds,
    /// The response time in milliseconds.
    Milliseconds,
    Epoch,
    CommonTime,
    IsoTime,
    Field(String),
    Other,
}

/// What is wrong with a log format.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    /// Two variables stand without text between them.
    #[error("${0} and ${1} need text between them")]
    Adjacent(String, String),
    /// A part that every request needs is missing.
    #[error("missing {0}")]
    Lacks(&'static str),
    /// It has too many variables.
    #[error("must have at most {MOST_VARIABLES} variables")]
    Long,
    /// A `$` stands without a name.
    #[error("expected a variable's name after '$'")]
    Nameless,
}

impl Pattern {
    /// Compiles a format, which must have a time and a request.
    ///
    /// # Errors
    /// If the format is none, or lacks what a request needs.
    pub fn parse(format: &str) -> Result<Self, PatternError> {
        let pattern = Self::compile(format)?;
        let has = |wanted: &[Variable]| pattern.parts.iter().any(|(variable, _)| wanted.contains(variable));
        if !(has(&[Variable::Request]) || has(&[Variable::Method]) && has(&[Variable::Target])) {
            return Err(PatternError::Lacks("$request, or $request_method and $request_uri"));
        }
        if !has(&[Variable::Epoch, Variable::CommonTime, Variable::IsoTime]) {
            return Err(PatternError::Lacks("a time: $time_local, $time_iso8601 or $msec"));
        }
        Ok(pattern)
    }

    fn compile(format: &str) -> Result<Self, PatternError> {
        // Three variables side by side that together are one.
        let format = format.trim().replace("$uri$is_args$args", "$request_uri");
        let mut pieces = format.split('$');
        let front = pieces.next().unwrap_or_default().to_owned();
        let mut parts: Vec<(Variable, String)> = Vec::new();
        let mut last: Option<String> = None;
        for piece in pieces {
            let (name, text) = match piece.strip_prefix('{') {
                Some(braced) => braced.split_once('}').ok_or(PatternError::Nameless)?,
                None => {
                    let end = piece.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(piece.len());
                    piece.split_at(end)
                }
            };
            if name.is_empty() {
                return Err(PatternError::Nameless);
            }
            if let (Some(last), Some((_, between))) = (&last, parts.last())
                && between.is_empty()
            {
                return Err(PatternError::Adjacent(last.clone(), name.to_owned()));
            }
            parts.push((Variable::of(name), text.to_owned()));
            last = Some(name.to_owned());
            if parts.len() > MOST_VARIABLES {
                return Err(PatternError::Long);
            }
        }
        Ok(Self { front, parts, is_open: false, is_start: false })
    }

    /// Returns the pattern of a format that is known to be one. Its lines may have more behind it.
    pub(crate) fn known(format: &str, is_start: bool) -> Self {
        Self { is_open: true, is_start, ..Self::compile(format).expect("the formats of this crate are such") }
    }

    /// Returns what a line holds, `None` if it is not of this format.
    pub(crate) fn line(&self, text: &str) -> Option<Line> {
        let mut line = Line { is_start: self.is_start, ..Line::default() };
        let mut rest = text.trim_end().strip_prefix(self.front.as_str())?;
        let mut upstream = None;
        for (at, (variable, behind)) in self.parts.iter().enumerate() {
            let is_last = at + 1 == self.parts.len();
            let end = match (behind.is_empty(), is_last && self.is_open) {
                (true, true) => rest.find(' ').unwrap_or(rest.len()),
                (true, false) => rest.len(),
                (false, _) => end_of(rest, behind)?,
            };
            let value = &rest[..end];
            rest = &rest[end + behind.len()..];
            match variable {
                Variable::UpstreamSeconds => upstream = seconds(value),
                variable => variable.read(value, &mut line)?,
            }
        }
        line.took = line.took.or(upstream);
        ((self.is_open || rest.is_empty()) && line.is_whole()).then_some(line)
    }
}

impl Variable {
    fn of(name: &str) -> Self {
        match name {
            "request" => Self::Request,
            "request_method" => Self::Method,
            "request_uri" | "uri" => Self::Target,
            "host" | "http_host" => Self::Host,
            "status" => Self::Status,
            "request_time" | "part_seconds" => Self::Seconds,
            "upstream_response_time" => Self::UpstreamSeconds,
            "duration_ms" => Self::Milliseconds,
            "msec" => Self::Epoch,
            "time_local" => Self::CommonTime,
            "time_iso8601" => Self::IsoTime,
            _ => match name.strip_prefix("http_") {
                Some(field) => Self::Field(field.replace('_', "-")),
                None => Self::Other,
            },
        }
    }

    /// Takes over the value of a variable. Returns `None` if it has none that a request can do without.
    fn read(&self, value: &str, line: &mut Line) -> Option<()> {
        match self {
            Self::Request => return line.set_request(&unescaped(value)),
            Self::Method => return line.set_method(value),
            Self::Target => return line.set_target(&unescaped(value)),
            Self::Host => line.set_host(value),
            Self::Status => line.status = value.parse().ok().filter(|status| (100..1000).contains(status)),
            Self::Seconds => {
                if let Some(part) = seconds(value) {
                    line.took = Some(line.took.unwrap_or(0).saturating_add(part));
                }
            }
            Self::Milliseconds => line.took = seconds(value).map(|nanos| nanos / 1000),
            Self::Epoch => line.stamp = Some(Stamp::epoch(value)?),
            // One that is more exact may stand beside it.
            Self::CommonTime if line.stamp.is_none_or(|stamp| stamp.is_whole) => {
                line.stamp = Some(Stamp::common(value)?);
            }
            Self::IsoTime if line.stamp.is_none_or(|stamp| stamp.is_whole) => line.stamp = Some(Stamp::iso(value)?),
            Self::Field(name) => line.set_field(name, &unescaped(value)),
            Self::CommonTime | Self::IsoTime | Self::UpstreamSeconds | Self::Other => {}
        }
        Some(())
    }
}

/// Returns where a value ends that this text follows. A quote behind a backslash does not end a value.
fn end_of(rest: &str, behind: &str) -> Option<usize> {
    let finder = memmem::Finder::new(behind.as_bytes());
    let mut from = 0;
    loop {
        let at = from + finder.find(&rest.as_bytes()[from..])?;
        let slashes = rest.as_bytes()[..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
        if !behind.starts_with('"') || slashes % 2 == 0 {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Returns nanoseconds of seconds such as `0.012`; of several, as upstream servers have, their sum. `None` for `-` and less than 0.
fn seconds(text: &str) -> Option<u64> {
    let parts = text.split([',', ':']).filter_map(|part| part.trim().parse::<f64>().ok());
    let parts = parts.filter(|seconds| seconds.is_finite() && (0.0..1e9).contains(seconds));
    parts.fold(None, |sum, seconds| Some(sum.unwrap_or(0) + (seconds * 1e9).round() as u64))
}

/// Returns a value without the escapes of nginx and Apache: `\xHH`, `\"` and `\\`.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let hex = match behind {
            [b'x', high, low, ..] if *first == b'\\' => {
                (*high as char).to_digit(16).zip((*low as char).to_digit(16)).map(|(high, low)| (high * 16 + low) as u8)
            }
            _ => None,
        };
        match (hex, behind) {
            (Some(byte), _) => {
                bytes.push(byte);
                rest = &rest[4..];
            }
            (None, [quoted @ (b'"' | b'\\' | b'/'), ..]) if *first == b'\\' => {
                bytes.push(*quoted);
                rest = &rest[2..];
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_of_the_user_is_read() {
        let format = r#"$remote_addr [$time_local] $msec "$request" $status $request_time $upstream_response_time $host "$http_x_trace" ${body_bytes_sent}b"#;
        let pattern = Pattern::parse(format).expect("it is a format");
        let text = r#"10.0.0.1 [29/Nov/2026:10:00:00 +0000] 1795946400.123 "GET /a?q=\x22x\x22 HTTP/1.1" 304 0.250 - shop.example "abc \"d\"" 12b"#;
        let line = pattern.line(text).expect("it is a line");
        assert_eq!((&*line.method, &*line.target), ("GET", "/a?q=\"x\""));
        assert_eq!((line.status, line.took), (Some(304), Some(250_000_000)));
        assert_eq!(line.stamp.map(|stamp| (stamp.at % 1_000_000_000, stamp.is_whole)), Some((123_000_000, false)));
        assert_eq!(line.host.as_deref(), Some("shop.example"));
        assert_eq!(line.fields, [("x-trace".to_owned(), "abc \"d\"".to_owned())]);
        assert_eq!(pattern.line(&format!("{text} more")), None);
        assert_eq!(pattern.line(&text.replace("GET /a", "junk")), None);
        let upstream = Pattern::parse("$msec $request_method $uri$is_args$args $upstream_response_time").expect("one");
        let line = upstream.line("1.5 GET /a?b 0.1, 0.2").expect("a line");
        assert_eq!((&*line.target, line.took), ("/a?b", Some(300_000_000)));
    }

    #[test]
    fn a_format_that_cannot_be_read_is_refused() {
        for (format, mistake) in [
            ("$time_local$request", PatternError::Adjacent("time_local".into(), "request".into())),
            ("$time_local", PatternError::Lacks("$request, or $request_method and $request_uri")),
            ("$request", PatternError::Lacks("a time: $time_local, $time_iso8601 or $msec")),
            ("$ $request", PatternError::Nameless),
            ("${request", PatternError::Nameless),
            ("", PatternError::Lacks("$request, or $request_method and $request_uri")),
        ] {
            assert_eq!(Pattern::parse(format), Err(mistake), "{format}");
        }
    }
}
