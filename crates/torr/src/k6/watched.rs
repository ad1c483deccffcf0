//! `--live` and `--dashboard` of a script's run.

use crate::press::live::Views;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use torr_gauge::collector::Progress;
use torr_k6::options::Executor;
use torr_k6::run::{RunShared, Test};
use torr_live::{Dashboard, Load};
use torr_press::{SoFar, Steerable};

/// Returns the load of a script in words.
pub fn words(path: &Path, test: &Test) -> Load {
    let description = test.plan().description();
    let first = description.first().map_or("", |line| line.trim_end_matches(':'));
    let counts =
        |executor: &Executor| matches!(executor, Executor::SharedIterations { .. } | Executor::PerVuIterations { .. });
    let counts_iterations = test.plan().scenarios.iter().any(|scenario| counts(&scenario.executor));
    Load {
        target: path.display().to_string(),
        words: first.trim_start_matches("scenarios: (100.00%) ").to_owned(),
        length_s: (!counts_iterations).then(|| test.plan().max_duration.as_secs_f64()),
        warmup_s: 0.0,
        stages: Vec::new(),
        unit: "requests",
        steerable: Steerable::Script,
    }
}

/// The views of a script's run. While the screen covers the terminal, lines that the script prints go to a pane of the views.
pub struct Watched {
    views: Views,
    shared: Arc<RunShared>,
    lines: Option<Receiver<String>>,
}

impl Watched {
    /// Returns the views of a run.
    pub fn of(views: Views, shared: Arc<RunShared>) -> Self {
        let lines = views.has_screen().then(|| {
            let (sender, lines) = mpsc::channel();
            shared.log.divert(Box::new(Lines(sender)));
            lines
        });
        Self { views, shared, lines }
    }

    /// Shows what is complete.
    pub fn update(&self, progress: &Progress, so_far: &SoFar<'_>) {
        self.note_lines();
        self.views.update(progress, so_far);
    }

    fn note_lines(&self) {
        self.lines.iter().flat_map(Receiver::try_iter).for_each(|line| self.views.printed(&line));
    }

    /// Gives the terminal back, and returns the dashboard, which still has to get the judged result.
    pub fn close(self) -> Option<Dashboard> {
        self.note_lines();
        if self.lines.is_some() {
            self.shared.log.divert(Box::new(io::stderr()));
        }
        self.views.close()
    }
}

/// Lines of a log on their way to the views.
struct Lines(Sender<String>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Each call has a whole line. Without a receiver the views are closed.
        let _ = self.0.send(String::from_utf8_lossy(bytes).trim_end().to_owned());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
