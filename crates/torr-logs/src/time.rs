//! Times of logs.

/// The number of nanoseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000_000;
/// The number of seconds of a day.
pub(crate) const DAY: i64 = 86_400;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A time as a log has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Nanoseconds since the Unix epoch.
    pub at: i64,
    /// The seconds by which the log's clock is ahead of UTC.
    pub offset: i32,
    /// Whether the log has whole seconds only.
    pub is_whole: bool,
}

impl Stamp {
    /// Parses a time as `29/Nov/2026:10:00:00 +0100`, with or without brackets.
    pub fn common(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('[').trim_end_matches(']');
        let (time, zone) = text.split_once(' ').unwrap_or((text, "+0000"));
        let mut parts = time.splitn(4, ['/', ':']);
        let (day, month, year, clock) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))? as i64 + 1;
        Self::of(days(number(year)?, month, number(day)?)?, clock, zone)
    }

    /// Parses a time as `2026-11-29T10:00:00.123+01:00` (RFC 3339), also with a space and without a zone, which then is UTC.
    pub fn iso(text: &str) -> Option<Self> {
        let (date, rest) = text.trim().split_once(['T', ' '])?;
        let end = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
        let (clock, zone) = rest.split_at(end);
        let mut parts = date.splitn(3, '-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        Self::of(days(number(year)?, number(month)?, number(day)?)?, clock.trim(), zone)
    }

    /// Parses seconds since the Unix epoch, such as `1700000000.123`.
    pub fn epoch(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let at = number(whole)?.checked_mul(SECOND)?.checked_add(nanos(fraction)?)?;
        Some(Self { at, offset: 0, is_whole: fraction.is_empty() })
    }

    /// Returns the time of seconds since the Unix epoch.
    pub fn seconds(seconds: f64) -> Option<Self> {
        let is_one = seconds.is_finite() && (0.0..4e9).contains(&seconds);
        is_one.then(|| Self { at: (seconds * 1e6).round() as i64 * 1000, offset: 0, is_whole: seconds.fract() == 0.0 })
    }

    fn of(days: i64, clock: &str, zone: &str) -> Option<Self> {
        let (clock, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, ""));
        let second = time_of_day(clock)?;
        let offset = zone_offset(zone)?;
        let at = (days * DAY + second - i64::from(offset)).checked_mul(SECOND)?.checked_add(nanos(fraction)?)?;
        Some(Self { at, offset, is_whole: fraction.is_empty() })
    }
}

/// Parses `10:00`, or `10:00:30`, to seconds of the day.
pub(crate) fn time_of_day(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let (hour, minute) = (number(parts.next()?)?, number(parts.next()?)?);
    let second = parts.next().map_or(Some(0), number)?;
    // A leap second is 60.
    (parts.next().is_none() && hour < 24 && minute < 60 && second <= 60).then_some(hour * 3600 + minute * 60 + second)
}

fn zone_offset(zone: &str) -> Option<i32> {
    if matches!(zone, "" | "Z" | "z") {
        return Some(0);
    }
    let (sign, digits) = match zone.as_bytes().first()? {
        b'+' => (1, &zone[1..]),
        b'-' => (-1, &zone[1..]),
        _ => return None,
    };
    let digits = digits.replace(':', "");
    let all = i32::try_from(number(&digits)?).ok().filter(|_| digits.len() == 4)?;
    Some(sign * ((all / 100) * 3600 + (all % 100) * 60))
}

/// Parses at most ten digits.
fn number(text: &str) -> Option<i64> {
    let is_one = (1..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_one { text.parse().ok() } else { None }
}

/// Returns the nanoseconds of the digits behind a point.
fn nanos(fraction: &str) -> Option<i64> {
    let digits: String = fraction.chars().take(9).collect();
    if digits.is_empty() {
        return Some(0);
    }
    Some(number(&digits)? * 10_i64.pow(9 - digits.len() as u32))
}

/// Returns the days since the Unix epoch of a date (Howard Hinnant's `days_from_civil`).
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=2200).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Returns a time in UTC (RFC 3339), to the second.
pub fn rfc3339(at: i64) -> String {
    let seconds = at.div_euclid(SECOND);
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    // Howard Hinnant's `civil_from_days`.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_formats_are_read() {
        let at = 1_795_946_400 * SECOND;
        assert_eq!(rfc3339(at), "2026-11-29T10:00:00Z");
        let stamp = |at, offset, is_whole| Some(Stamp { at, offset, is_whole });
        assert_eq!(Stamp::common("29/Nov/2026:11:00:00 +0100"), stamp(at, 3600, true));
        assert_eq!(Stamp::common("[29/Nov/2026:10:00:00 +0000]"), stamp(at, 0, true));
        assert_eq!(Stamp::iso("2026-11-29T10:00:00Z"), stamp(at, 0, true));
        assert_eq!(Stamp::iso("2026-11-29T04:30:00.250-05:30"), stamp(at + SECOND / 4, -19_800, false));
        assert_eq!(Stamp::epoch("1795946400.001"), stamp(at + SECOND / 1000, 0, false));
        assert_eq!(Stamp::seconds(1_795_946_400.5), stamp(at + SECOND / 2, 0, false));
        for wrong in ["", "-", "29/Foo/2026:11:00:00 +0100", "29/Nov/2026:25:00:00 +0100", "99999999999999"] {
            assert_eq!((Stamp::common(wrong), Stamp::iso(wrong), Stamp::epoch(wrong)), (None, None, None), "{wrong}");
        }
        for day in [0, 58, 59, 60, 365, 11_016, 20_000] {
            let text = rfc3339(day * DAY * SECOND);
            assert_eq!(Stamp::iso(&text).map(|stamp| stamp.at), Some(day * DAY * SECOND), "{text}");
        }
    }
}
