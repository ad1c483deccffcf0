//! Moments as people read them.

/// Returns a moment of RFC 3339 as people read it: without `T` and fractions of a second.
pub fn moment(at: &str) -> String {
    let is_moment = at.len() >= 20 && at.is_ascii() && at.as_bytes()[10] == b'T' && at.ends_with('Z');
    if is_moment { format!("{} {} UTC", &at[..10], &at[11..19]) } else { at.to_owned() }
}

/// The time of day at which the measurement of a run began, from which that of its other moments follows.
#[derive(Debug, Clone, Copy)]
pub struct TimeOfDay(f64);

impl TimeOfDay {
    /// Returns the time of a moment of RFC 3339 in UTC, and this many seconds later; `None` for other texts.
    pub fn after(at: &str, seconds: f64) -> Option<Self> {
        let (_, time) = at.strip_suffix('Z')?.split_once('T')?;
        let mut parts = time.split(':').map(str::parse::<f64>);
        let mut part = || parts.next()?.ok().filter(|part| (0.0..61.0).contains(part));
        Some(Self(part()? * 3600.0 + part()? * 60.0 + part()? + seconds))
    }

    /// Returns the time of day of a moment in seconds since then, such as `08:00:05`.
    pub fn at(self, seconds: f64) -> String {
        let whole = (self.0 + seconds).rem_euclid(86_400.0) as u64;
        format!("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::{TimeOfDay, moment};

    #[test]
    fn times_of_day_begin_after_the_warm_up() {
        let begun = TimeOfDay::after("2026-11-27T23:59:40.600Z", 10.0).expect("it is a moment");
        assert_eq!([0.0, 9.5, 3600.0].map(|seconds| begun.at(seconds)), ["23:59:50", "00:00:00", "00:59:50"]);
        assert!(["", "now", "2026-11-27", "2026-11-27T1:xZ"].iter().all(|at| TimeOfDay::after(at, 0.0).is_none()));
    }

    #[test]
    fn moments_are_readable() {
        assert_eq!(moment("2026-11-27T20:59:40.401Z"), "2026-11-27 20:59:40 UTC");
        assert_eq!(
            ["now", "2026-11-27", "ünnnnnnnnnnnnnnnnnnnnnnZ"].map(moment),
            ["now", "2026-11-27", "ünnnnnnnnnnnnnnnnnnnnnnZ"]
        );
    }
}
