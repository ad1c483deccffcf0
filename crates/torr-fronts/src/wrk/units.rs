//! Numbers with units in wrk's format.

/// A series of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Microseconds, up to seconds and more.
    Micros,
    /// Whole seconds, up to minutes.
    Seconds,
    /// Multiples of 1,000.
    Count,
    /// Multiples of 1,024, without the `B`.
    Bytes,
}

impl Unit {
    /// Formats a measured number: times from a second on have seconds or minutes.
    pub fn measure(self, n: f64) -> String {
        if self == Self::Micros { time(n) } else { self.text(n) }
    }

    /// Formats a number with the largest unit of which it is at least 0.85.
    pub fn text(self, n: f64) -> String {
        let (scale, base, larger, decimals): (f64, _, &[&str], usize) = match self {
            Self::Micros => (1e3, "us", &["ms"], 2),
            Self::Seconds => (60.0, "s", &["m"], 0),
            Self::Count => (1e3, "", &["k", "M", "G", "T"], 2),
            Self::Bytes => (1024.0, "", &["K", "M", "G", "T"], 2),
        };
        let (mut n, mut unit) = (n, base);
        for next in larger {
            if n < scale * 0.85 {
                break;
            }
            n /= scale;
            unit = next;
        }
        format!("{n:.decimals$}{unit}")
    }
}

/// Formats a measured time given in microseconds.
pub fn time(us: f64) -> String {
    match us {
        us if us < 1e6 => Unit::Micros.text(us),
        us if us < 51e6 => format!("{:.2}s", us / 1e6),
        us => format!("{:.2}m", us / 60e6),
    }
}

/// Pads a number to a column in which digits align whether the unit has two letters, one or none.
pub fn column(number: &str, width: usize) -> String {
    let letters = number.chars().rev().take(2).filter(char::is_ascii_alphabetic).count();
    let padding = 2 - letters;
    format!("{number:>0$}{1:2$}", width - padding, "", padding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_wrk() {
        let times = [0.0, 849.0, 850.0, 999_999.0, 1e6, 50.9e6, 51e6, 7200e6].map(time);
        assert_eq!(times, ["0.00us", "849.00us", "0.85ms", "1000.00ms", "1.00s", "50.90s", "0.85m", "120.00m"]);
        assert_eq!([5.0, 300.0, 7200.0].map(|s| Unit::Seconds.text(s)), ["5s", "5m", "120m"]);
        assert_eq!([849.0, 53_010.0, 2e9].map(|n| Unit::Count.text(n)), ["849.00", "53.01k", "2.00G"]);
        assert_eq!([100.0, 1024.0, 17_594_057.0].map(|n| Unit::Bytes.text(n)), ["100.00", "1.00K", "16.78M"]);
    }

    #[test]
    fn columns_leave_room_for_two_letters() {
        assert_eq!(column("192.25us", 8), "192.25us");
        assert_eq!(column("5.84s", 9), "   5.84s ");
        assert_eq!(column("53.00", 10), "   53.00  ");
    }
}
