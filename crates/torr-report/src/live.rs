//! One line on the terminal while a run goes on.

use crate::{human, terminal};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, WeakProgressBar};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use torr_gauge::collector::Progress;

/// The lines that may be shown now, for a program that ends at once.
static SHOWN: Mutex<Vec<WeakProgressBar>> = Mutex::new(Vec::new());

/// Registers a line to be cleared by [`clear_all`].
fn shown(bar: &ProgressBar) {
    let mut all = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|bar| bar.upgrade().is_some());
    all.push(bar.downgrade());
}

/// Takes all lines away, for a program that ends without dropping its values. Nothing is drawn afterwards.
pub fn clear_all() {
    let all = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().filter_map(WeakProgressBar::upgrade).for_each(|bar| bar.finish_and_clear());
}

/// A line on stderr that is drawn anew as things change, and gone at the end. Nothing is drawn where stderr is no
/// terminal, or if it is not wanted.
#[derive(Debug)]
pub struct LiveProgress(ProgressBar);

impl LiveProgress {
    /// The line of work of known or unknown length.
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

    /// Shows where a run stands.
    pub fn progress(&self, progress: &Progress) {
        self.at(progress.elapsed_s, summary(progress));
    }

    /// Shows where a run stands that began after other work, which took so many seconds.
    pub fn within(&self, before_s: f64, what: &str, progress: &Progress) {
        self.at(before_s + progress.elapsed_s, format!("{what}: {}", summary(progress)));
    }

    /// Shows what begins, so many seconds after the beginning.
    pub fn begin(&self, before_s: f64, what: &str) {
        self.at(before_s, what.to_owned());
    }

    fn at(&self, seconds: f64, message: String) {
        if let Some(length) = self.0.length() {
            self.0.set_position(((seconds * 1e3) as u64).min(length));
        }
        self.0.set_message(message);
    }

    /// Takes the line away.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}

/// A bar for tables that are being filled, drawn as soon as there is something to show and stderr is a terminal.
#[derive(Debug, Default)]
pub struct FillProgress(Option<ProgressBar>);

impl FillProgress {
    /// So many rows of a table are there.
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

    /// Takes the line away.
    pub fn clear(&self) {
        self.0.iter().for_each(|bar| bar.finish_and_clear());
    }
}

fn summary(progress: &Progress) -> String {
    let p99 = progress.p99_us.map_or("-".into(), |us| human::micros(us as f64));
    format!("{} requests/s  p99 {p99}  {} errors", human::rate(progress.rps), human::count(progress.errors))
}
