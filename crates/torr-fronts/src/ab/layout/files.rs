//! ApacheBench's optional files: percentages served (`-e`), and a line per request (`-g`).

use crate::figures::latency;
use crate::spread::percentile;
use std::io::{self, Write};
use std::time::SystemTime;
use torr_gauge::collector::Measurement;

/// Writes each percentage of requests with the time within which they were served, comma-separated.
///
/// # Errors
/// The errors of the writer.
pub fn percentages(out: &mut impl Write, measured: &Measurement) -> io::Result<()> {
    let total = latency(measured);
    writeln!(out, "Percentage served,Time in ms")?;
    for percent in 0..=100u8 {
        writeln!(out, "{percent},{:.3}", percentile(&total, percent.into()) / 1e3)?;
    }
    Ok(())
}

/// Writes a line for each response, the fastest first, tab-separated. Torr keeps only the total time of a single request,
/// to three digits. The start time is that of the run, and the other columns are `NaN`, which plotting programs skip.
///
/// # Errors
/// The errors of the writer.
pub fn requests(out: &mut impl Write, measured: &Measurement) -> io::Result<()> {
    let started = humantime::parse_rfc3339(&measured.result.started_at).unwrap_or(SystemTime::UNIX_EPOCH);
    let seconds = started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let started = date(started);
    writeln!(out, "starttime\tseconds\tctime\tdtime\tttime\twait")?;
    for (us, count) in measured.total.answered.counts() {
        let line = format!("{started}\t{seconds}\tNaN\tNaN\t{:.3}\tNaN\n", us as f64 / 1e3);
        for _ in 0..count {
            out.write_all(line.as_bytes())?;
        }
    }
    Ok(())
}

/// Formats a time like `Fri Nov 20 13:57:19 2026`.
fn date(time: SystemTime) -> String {
    let date = httpdate::fmt_http_date(time);
    match date.split([',', ' ']).filter(|word| !word.is_empty()).collect::<Vec<_>>()[..] {
        [weekday, day, month, year, clock, ..] => format!("{weekday} {month} {day} {clock} {year}"),
        _ => date,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_have_five_words() {
        assert_eq!(date(SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777)), "Sun Nov 06 08:49:37 1994");
    }
}
