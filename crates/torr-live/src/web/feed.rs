//! What browsers are shown: the state of the run, and its parts as they were last rendered.

use super::panel;
use super::panel_cache::{PanelCache, RenderedPanel};
use crate::view::{Load, View};
use crate::wish::Wish;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use torr_gauge::RunResult;
use torr_gauge::collector::Progress;
use torr_page::Document;
use torr_press::Steering;

/// The share of a CPU that rendering the report may take: after each time, so many times as long is waited.
const PAUSES: u32 = 99;

/// The state of a run for all browsers.
#[derive(Debug)]
pub struct Feed {
    run: Mutex<Run>,
    /// The report as it was last rendered. Rendering holds this lock alone.
    report: Mutex<Report>,
    /// The state as it was last rendered, for all browsers.
    panel: PanelCache,
    steering: Arc<Steering>,
    /// The number of changes so far.
    changes: watch::Sender<u64>,
}

#[derive(Debug)]
struct Run {
    view: View,
    /// When the run began.
    began: Option<Instant>,
    /// The number of results so far.
    results: u64,
    has_ended: bool,
}

#[derive(Debug)]
struct Report {
    /// The number of the result, 0 for none.
    number: u64,
    html: Arc<str>,
    not_before: Instant,
}

/// What a browser gets next.
pub struct Parts {
    /// The state of the run, without its report. Browsers that ask between two changes share it.
    pub panel: Arc<str>,
    /// The report and its number, unless the browser has it.
    pub report: Option<(u64, Arc<str>)>,
    /// Whether nothing will follow.
    pub has_ended: bool,
}

impl Feed {
    /// Returns the state of a run that begins now, or of other machines' run, which begins with [`Feed::begins`].
    pub fn new(view: View, steering: Arc<Steering>) -> Self {
        let now = Instant::now();
        Self {
            run: Mutex::new(Run {
                began: view.load.begins_at_once().then_some(now),
                view,
                results: 0,
                has_ended: false,
            }),
            report: Mutex::new(Report { number: 0, html: "".into(), not_before: now }),
            panel: PanelCache::default(),
            steering,
            changes: watch::Sender::new(0),
        }
    }

    /// Returns a receiver that learns of each change from now on.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Notes that a run of other machines begins now.
    pub fn begins(&self) {
        self.run().began = Some(Instant::now());
        self.changed();
    }

    /// Notes what happened elsewhere.
    pub fn note(&self, line: &str) {
        self.run().view.note(line);
        self.changed();
    }

    /// Takes over what is complete.
    pub fn update(&self, progress: Progress, result: Arc<RunResult>) {
        {
            let mut run = self.run();
            run.view.update(progress, result);
            run.results += 1;
        }
        self.changed();
    }

    /// Takes over the end of the run, once.
    pub fn finish(&self, result: Option<Arc<RunResult>>) {
        {
            let mut run = self.run();
            if run.has_ended {
                return;
            }
            run.has_ended = true;
            if result.is_some() {
                run.view.result = result;
                run.results += 1;
            }
        }
        self.changed();
    }

    /// Does what a browser's operator wants.
    pub fn fulfil(&self, wish: Wish) {
        self.run().view.fulfil(wish, &self.steering);
        self.changed();
    }

    /// Returns the load of the run.
    pub fn load(&self) -> Load {
        self.run().view.load.clone()
    }

    /// Returns what a browser gets next that has the report of this number.
    pub fn parts(&self, known: u64) -> Parts {
        // First: an end that is shown comes with the last report.
        let RenderedPanel { html: panel, has_ended } = self.panel();
        let (number, result, is_last) = {
            let run = self.run();
            // A verdict of the first seconds would be a guess.
            let is_known = run.has_ended || run.view.can_judge();
            let result = run.view.result.as_ref().filter(|_| run.results != known).map(|result| match is_known {
                true => Arc::clone(result),
                false => Arc::new(RunResult { verdict: None, ..RunResult::clone(result) }),
            });
            (run.results, result, run.has_ended)
        };
        let report = result.and_then(|result| self.report(number, &result, is_last));
        Parts { panel, report: report.filter(|(number, _)| *number != known), has_ended }
    }

    /// Returns the state of the run, rendered anew after a change, and for the time that has passed.
    fn panel(&self) -> RenderedPanel {
        let changes = *self.changes.borrow();
        self.panel.get(changes, || {
            let mut run = self.run();
            let elapsed_s = run.began.map_or(0.0, |began| began.elapsed().as_secs_f64());
            run.view.at(elapsed_s);
            run.view.state = self.steering.state();
            let html = panel::panel(&run.view, run.has_ended).into_string().into();
            RenderedPanel { html, has_ended: run.has_ended }
        })
    }

    /// Returns the report, rendered anew if that is not too soon after the last time; the last one is always rendered.
    fn report(&self, number: u64, result: &RunResult, is_last: bool) -> Option<(u64, Arc<str>)> {
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        let began = Instant::now();
        if report.number < number && (is_last || began >= report.not_before) {
            let value = serde_json::to_value(result).ok()?;
            let document = Document::new("this run", value).ok()?;
            report.html = torr_page::article(&document).into_string().into();
            report.number = number;
            let pause: Duration = began.elapsed() * PAUSES;
            report.not_before = Instant::now() + pause;
        }
        Some((report.number, Arc::clone(&report.html)))
    }

    fn run(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }
}
