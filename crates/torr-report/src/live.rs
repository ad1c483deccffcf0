//! One line on the terminal while a run goes on.

use crate::human;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;
use torr_gauge::collector::Progress;

/// A line on stderr that is drawn anew as things change, and gone at the end. Nothing is drawn where stderr is no
/// terminal, or if it is not wanted.
#[derive(Debug)]
pub struct Live(ProgressBar);

impl Live {
    /// The line of one run of known or unknown length.
    pub fn run(length: Option<Duration>, wanted: bool) -> Self {
        let template = match length {
            Some(_) => "{spinner} {bar:24} {elapsed}/{prefix}  {msg}",
            None => "{spinner} {elapsed}  {msg}",
        };
        let live = Self::new(length.map(|l| l.as_millis() as u64), template, wanted);
        live.0.set_prefix(format!("{:.0}s", length.unwrap_or_default().as_secs_f64()));
        live.0.set_message("connecting");
        live
    }

    /// The line of work of so many steps.
    pub fn steps(steps: u64, wanted: bool) -> Self {
        Self::new(Some(steps), "{spinner} {bar:24} {pos}/{len}  {msg}", wanted)
    }

    fn new(length: Option<u64>, template: &str, wanted: bool) -> Self {
        let target = if wanted { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(length, target);
        let style = ProgressStyle::with_template(template).expect("the templates are constants that indicatif takes");
        bar.set_style(style.progress_chars("━━ ").tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "));
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// Shows where a run stands.
    pub fn progress(&self, progress: &Progress) {
        if let Some(length) = self.0.length() {
            self.0.set_position(((progress.elapsed_s * 1e3) as u64).min(length));
        }
        self.0.set_message(summary(progress));
    }

    /// Shows what a run does within work of many steps.
    pub fn within(&self, step: &str, progress: &Progress) {
        self.0.set_message(format!("{step}: {}", summary(progress)));
    }

    /// Begins a step.
    pub fn step(&self, step: &str) {
        self.0.set_message(step.to_owned());
    }

    /// A step is done.
    pub fn done(&self) {
        self.0.inc(1);
    }

    /// Takes the line away.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}

fn summary(progress: &Progress) -> String {
    let p99 = progress.p99_us.map_or("-".into(), |us| human::micros(us as f64));
    format!("{} requests/s  p99 {p99}  {} errors", human::rate(progress.rps), human::count(progress.errors))
}
