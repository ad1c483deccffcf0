//! Progress lines on the terminal.

use crate::{human, terminal};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, WeakProgressBar};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use torr_gauge::collector::Progress;

/// The lines that may be on the terminal, for a program that exits without dropping them.
static SHOWN: Mutex<Vec<WeakProgressBar>> = Mutex::new(Vec::new());

/// Registers a line to be cleared by [`clear_all`].
fn shown(bar: &ProgressBar) {
    let mut all = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|bar| bar.upgrade().is_some());
    all.push(bar.downgrade());
}

/// Clears all lines, for a program that exits without dropping its values. Nothing is drawn afterwards.
pub fn clear_all() {
    let all = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().filter_map(WeakProgressBar::upgrade).for_each(|bar| bar.finish_and_clear());
}

/// A line on stderr that is redrawn as the run progresses, and cleared at the end. Nothing is drawn if stderr is not a
/// terminal.
#[derive(Debug)]
pub struct LiveProgress(ProgressBar);

impl LiveProgress {
    /// Returns the line for work of a known or unknown length. Nothing is drawn unless it is `wanted`.
    pub fn new(length: Option<Duration>, wanted: bool) -> Self {
        let template = match length {
            Some(_) => "{spinner} {bar:24} {elapsed}/{prefix}  {wide_msg}",
            None => "{spinner} {elapsed}  {wide_msg}",
        };
        let target = if wanted { terminal::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(length.map(|l| l.as_millis() as u64), target);
        let style = ProgressStyle::with_template(template).expect("the templates are constants that indicatif takes");
        bar.set_style(style.progress_chars("━━ ").tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "));
        bar.set_prefix(format!("{:.0}s", length.unwrap_or_default().as_secs_f64()));
        bar.set_message("connecting");
        bar.enable_steady_tick(Duration::from_millis(100));
        shown(&bar);
        Self(bar)
    }

    /// Shows a run's progress.
    pub fn progress(&self, progress: &Progress) {
        self.at(progress.elapsed_s, summary(progress));
    }

    /// Shows the progress of a run that began `before_s` seconds after the work.
    pub fn within(&self, before_s: f64, what: &str, progress: &Progress) {
        self.at(before_s + progress.elapsed_s, format!("{what}: {}", summary(progress)));
    }

    /// Shows the name of what begins `before_s` seconds after the work.
    pub fn begin(&self, before_s: f64, what: &str) {
        self.at(before_s, what.to_owned());
    }

    fn at(&self, seconds: f64, message: String) {
        if let Some(length) = self.0.length() {
            self.0.set_position(((seconds * 1e3) as u64).min(length));
        }
        self.0.set_message(message);
    }

    /// Clears the line.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}

/// A progress bar for filling tables, drawn at the first progress if stderr is a terminal.
#[derive(Debug, Default)]
pub struct FillProgress(Option<ProgressBar>);

impl FillProgress {
    /// Shows how many rows of a table are written.
    pub fn at(&mut self, table: &str, done: u32, of: u32) {
        let bar = self.0.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, terminal::stderr());
            shown(&bar);
            let style = ProgressStyle::with_template("{bar:24} {pos}/{len} rows  {wide_msg}");
            bar.with_style(style.expect("the template is a constant that indicatif takes").progress_chars("━━ "))
        });
        bar.set_length(of.into());
        bar.set_position(done.into());
        bar.set_message(format!("filling the table {table}"));
    }

    /// Clears the bar.
    pub fn clear(&self) {
        self.0.iter().for_each(|bar| bar.finish_and_clear());
    }
}

fn summary(progress: &Progress) -> String {
    let p99 = progress.p99_us.map_or("-".into(), |us| human::micros(us as f64));
    let (rate, errors) = (human::rate(progress.rps), human::count(progress.errors));
    if progress.events > 0 {
        return format!("{} events/s  {rate} requests/s  {errors} errors", human::rate(progress.events_per_s));
    }
    let sessions = match (progress.sessions.finished + progress.sessions.failed, progress.sessions.failed) {
        (0, _) => return format!("{rate} requests/s  p99 {p99}  {errors} errors"),
        (ended, 0) => format!("{} sessions", human::count(ended)),
        (ended, failed) => format!("{} sessions ({} failed)", human::count(ended), human::count(failed)),
    };
    // A narrow terminal cuts the end off.
    format!("{sessions}  {rate} requests/s  {errors} errors  p99 {p99}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_gauge::Latency;
    use torr_gauge::sessions::SessionsEnded;

    #[test]
    fn sessions_are_counted_where_there_are_any() {
        let line = |finished, failed| {
            let sessions = SessionsEnded { finished, failed };
            let (latency, p99_us) = (Latency::default(), Some(1500));
            let (connections, busy_share, cpu) = (1, None, None);
            summary(&Progress {
                elapsed_s: 1.0,
                requests: 9,
                ended: 9,
                errors: 0,
                sessions,
                events: 0,
                events_per_s: 0.0,
                rps: 9.0,
                p99_us,
                connections,
                busy_share,
                cpu,
                latency,
            })
        };
        assert_eq!(line(0, 0), "9.00 requests/s  p99 1.50 ms  0 errors");
        assert_eq!(line(1234, 0), "1,234 sessions  9.00 requests/s  0 errors  p99 1.50 ms");
        assert_eq!(line(3, 2), "5 sessions (2 failed)  9.00 requests/s  0 errors  p99 1.50 ms");
    }
}
