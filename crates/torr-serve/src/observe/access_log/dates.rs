//! The time in a line, formatted once a second.

use super::settings::LogFormat;
use std::time::{Duration, SystemTime};

/// The formatted text of the current second.
#[derive(Debug)]
pub(super) struct Dates {
    format: LogFormat,
    second: u64,
    text: String,
}

/// The Unix time of the end of the year 9999, the last that these formats can hold.
const LAST: u64 = 253_402_300_799;

impl Dates {
    pub fn new(format: LogFormat) -> Self {
        let mut dates = Self { format, second: 0, text: String::new() };
        dates.make();
        dates
    }

    /// Returns the text for milliseconds since the Unix epoch: Apache's `[10/Oct/2000:13:55:36 +0000]`, always in UTC, so that no
    /// hour occurs twice; or RFC 3339's `2000-10-10T13:55:36` without fraction and zone.
    pub fn of(&mut self, unix_ms: u64) -> &str {
        let second = (unix_ms / 1000).min(LAST);
        if second != self.second {
            self.second = second;
            self.make();
        }
        &self.text
    }

    fn make(&mut self) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(self.second);
        self.text = if self.format == LogFormat::Json {
            let text = humantime::format_rfc3339_seconds(time).to_string();
            text.trim_end_matches('Z').to_owned()
        } else {
            // `Tue, 10 Oct 2000 13:55:36 GMT` (RFC 9110, section 5.6.7), of fixed length.
            let date = httpdate::fmt_http_date(time);
            format!("[{}/{}/{}:{} +0000]", &date[5..7], &date[8..11], &date[12..16], &date[17..25])
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_both_forms() {
        let (mut apache, mut json) = (Dates::new(LogFormat::Common), Dates::new(LogFormat::Json));
        for (unix_ms, a, b) in [
            (0, "[01/Jan/1970:00:00:00 +0000]", "1970-01-01T00:00:00"),
            (999, "[01/Jan/1970:00:00:00 +0000]", "1970-01-01T00:00:00"),
            (971_186_136_123, "[10/Oct/2000:13:55:36 +0000]", "2000-10-10T13:55:36"),
            (1_709_251_199_000, "[29/Feb/2024:23:59:59 +0000]", "2024-02-29T23:59:59"),
            (u64::MAX, "[31/Dec/9999:23:59:59 +0000]", "9999-12-31T23:59:59"),
        ] {
            assert_eq!((apache.of(unix_ms), json.of(unix_ms)), (a, b));
        }
    }
}
