//! What settings take: each reads a value's text, and gives none for one that is not sound.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use torr_load::values::duration;
use torr_serve::LogTarget;

pub fn within<T: FromStr + PartialOrd>(text: &str, range: RangeInclusive<T>) -> Option<T> {
    text.parse().ok().filter(|number| range.contains(number))
}

/// A name that would make a message of several lines is none, as with the access log.
pub fn path(text: &str) -> Option<PathBuf> {
    (!text.is_empty() && !text.chars().any(char::is_control)).then(|| text.into())
}

/// Files with commas between them; none is an empty text.
pub fn files(text: &str) -> Option<Vec<PathBuf>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    text.split(',').map(|name| path(name.trim())).collect()
}

pub fn listed(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>().join(",")
}

pub fn time(text: &str) -> Option<Duration> {
    duration(text).ok()
}

/// A duration above 0, or 0 for none.
pub fn time_or_0(text: &str) -> Option<Duration> {
    if text == "0" { Some(Duration::ZERO) } else { time(text) }
}

/// What the databases take for a time limit.
pub fn limit(text: &str) -> Option<Duration> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    time(text).filter(|time| *time <= DAY)
}

pub fn file(text: &str) -> Option<Option<PathBuf>> {
    if text.is_empty() { Some(None) } else { path(text).map(Some) }
}

/// A text of one line; none is an empty one.
pub fn line(text: &str) -> Option<Option<String>> {
    // What comes from a file of secrets often has the file's last line end.
    let text = text.trim();
    let sound = !text.chars().any(char::is_control);
    sound.then(|| (!text.is_empty()).then(|| text.to_owned()))
}

pub fn shown(time: Duration) -> String {
    humantime::format_duration(time).to_string()
}

pub fn shown_or_0(time: Duration) -> String {
    if time.is_zero() { "0".to_owned() } else { shown(time) }
}

/// A host and a port. Whether the host is one turns out when it is listened on.
pub fn address(text: &str) -> Option<String> {
    let (host, port) = text.rsplit_once(':')?;
    let bare = !host.contains(':') || (host.starts_with('[') && host.ends_with(']'));
    let host = !host.is_empty() && bare && host.bytes().all(|byte| byte.is_ascii_graphic());
    let port = port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    (host && port).then(|| text.to_owned())
}

/// A field value that needs no care. It is kept for as long as the program runs.
pub fn name(text: &str) -> Option<&'static str> {
    let sound = (1..=100).contains(&text.len()) && text.trim() == text;
    let sound = sound && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    sound.then(|| &*String::leak(text.to_owned()))
}

/// Where the access log goes, if anywhere.
pub fn log(text: &str) -> Option<Option<LogTarget>> {
    if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for good in ["127.0.0.1:0", "localhost:65535", "[::1]:80", "0.0.0.0:8080"] {
            assert_eq!(address(good).as_deref(), Some(good));
        }
        for bad in ["", "nowhere", ":80", "a:", "a:65536", "a:+1", "::1:80", "[::1]", "a b:80", "a:80\n"] {
            assert_eq!(address(bad), None, "{bad:?}");
        }
    }
}
