//! ApacheBench's connection times.

use crate::figures::latency;
use crate::spread::Spread;
use torr_gauge::Latency;
use torr_gauge::collector::Measurement;

/// The four rows of connection times, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// From due until the connection was open; 0 for a request on an open connection.
    pub connect: Spread,
    /// From the open connection to the last byte.
    pub processing: Spread,
    /// From the open connection to the first byte.
    pub waiting: Spread,
    /// From due to the last byte.
    pub total: Spread,
}

impl Times {
    /// Computes the times from the measurement's histograms.
    pub fn of(measured: &Measurement) -> Self {
        let sample = &measured.total;
        let (opened, answered) = (sample.opened, sample.answered.count());
        let first_byte = first_byte(measured);
        let total = latency(measured);
        let connect = Spread::with_zeros(&sample.connect, answered.saturating_sub(opened));
        // Without connects, processing is the total and waiting is the first byte.
        let (processing, waiting) = match sample.processing.count() {
            0 => (Spread::of(&total), Spread::of(&first_byte)),
            _ => (Spread::of(&sample.processing), Spread::of(&sample.waiting)),
        };
        Self { connect, processing, waiting, total: Spread::of(&total) }
    }

    /// Returns the rows with their labels.
    pub fn rows(&self) -> [(&'static str, Spread); 4] {
        [
            ("Connect:", self.connect),
            ("Processing:", self.processing),
            ("Waiting:", self.waiting),
            ("Total:", self.total),
        ]
    }
}

fn first_byte(measured: &Measurement) -> Latency {
    let mut first_byte = measured.total.answered.clone();
    first_byte.subtract(&measured.total.last_apart);
    first_byte.add(&measured.total.first_apart);
    first_byte
}

/// Formats microseconds as milliseconds, with up to three decimals as far as the column's width allows.
pub fn milliseconds(us: f64, width: usize) -> String {
    let text = |decimals: usize| format!("{:>width$.decimals$}", us / 1e3);
    if us.is_nan() {
        return format!("{:>width$}", "nan");
    }
    (0..=3).rev().map(text).find(|text| text.len() <= width).unwrap_or_else(|| text(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_fill_their_column() {
        let all = [0.0, 7.0, 123.4, 9_999.9, 12_345.0, 123_456.0, 12_345_678.0, 9e9].map(|us| milliseconds(us, 5));
        assert_eq!(all, ["0.000", "0.007", "0.123", "10.00", "12.35", "123.5", "12346", "9000000"]);
        assert_eq!((milliseconds(12_345.0, 4), milliseconds(f64::NAN, 6)), ("12.3".into(), "   nan".into()));
    }
}
