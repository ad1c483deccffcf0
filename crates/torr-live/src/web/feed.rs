//! What browsers are shown: the state of the run, and its parts as they were last rendered.

use super::panel_cache::{PanelCache, RenderedPanel};
use super::subject::{Found, Subject};
use crate::wish::Wish;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use torr_page::Document;

/// The share of a CPU that rendering the report may take: after each time, so many times as long is waited.
const PAUSES: u32 = 99;

/// The state of a subject for all browsers.
#[derive(Debug)]
pub struct Feed<S> {
    state: Mutex<State<S>>,
    /// The report as it was last rendered. Rendering holds this lock alone.
    report: Mutex<Report>,
    /// The state as it was last rendered, for all browsers.
    panel: PanelCache,
    /// The number of changes so far.
    changes: watch::Sender<u64>,
}

#[derive(Debug)]
struct State<S> {
    subject: S,
    /// When the load began.
    began: Option<Instant>,
    /// The number of results so far.
    results: u64,
    has_ended: bool,
}

impl<S> State<S> {
    fn elapsed_s(&self) -> f64 {
        self.began.map_or(0.0, |began| began.elapsed().as_secs_f64())
    }
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

impl<S: Subject> Feed<S> {
    /// Returns the state of a subject that began at a moment, or begins with [`Feed::begins`].
    pub fn new(subject: S, began: Option<Instant>) -> Self {
        Self {
            state: Mutex::new(State { subject, began, results: 0, has_ended: false }),
            report: Mutex::new(Report { number: 0, html: "".into(), not_before: Instant::now() }),
            panel: PanelCache::default(),
            changes: watch::Sender::new(0),
        }
    }

    /// Returns a receiver that learns of each change from now on.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Notes that a run of other machines begins now.
    pub fn begins(&self) {
        self.state().began = Some(Instant::now());
        self.changed();
    }

    /// Changes the subject, at the time in seconds since its beginning. No result follows from the change.
    pub fn change(&self, change: impl FnOnce(&mut S, f64)) {
        {
            let mut state = self.state();
            let elapsed_s = state.elapsed_s();
            change(&mut state.subject, elapsed_s);
        }
        self.changed();
    }

    /// Takes over what is complete, of which there is a new result.
    pub fn update(&self, update: impl FnOnce(&mut S)) {
        {
            let mut state = self.state();
            update(&mut state.subject);
            state.results += 1;
        }
        self.changed();
    }

    /// Takes over the end, once. `last` adds the last result, and returns whether there is one.
    pub fn finish(&self, last: impl FnOnce(&mut S) -> bool) {
        {
            let mut state = self.state();
            if state.has_ended {
                return;
            }
            state.has_ended = true;
            if last(&mut state.subject) {
                state.results += 1;
            }
        }
        self.changed();
    }

    /// Does what a browser's operator wants.
    pub fn fulfil(&self, wish: Wish) {
        self.change(|subject, _| subject.fulfil(wish));
    }

    /// Returns the page.
    pub fn page(&self) -> String {
        self.state().subject.page()
    }

    /// Returns what a browser gets next that has the report of this number.
    pub fn parts(&self, known: u64) -> Parts {
        // First: an end that is shown comes with the last report.
        let RenderedPanel { html: panel, has_ended } = self.panel();
        let (number, found, is_last) = {
            let state = self.state();
            let is_new = state.results != known;
            (state.results, is_new.then(|| state.subject.found(state.has_ended)).flatten(), state.has_ended)
        };
        let report = found.and_then(|found| self.report(number, &found, is_last));
        Parts { panel, report: report.filter(|(number, _)| *number != known), has_ended }
    }

    /// Returns the state of the run, rendered anew after a change, and for the time that has passed.
    fn panel(&self) -> RenderedPanel {
        let changes = *self.changes.borrow();
        self.panel.get(changes, || {
            let mut state = self.state();
            let (elapsed_s, has_ended) = (state.elapsed_s(), state.has_ended);
            let html = state.subject.panel(elapsed_s, has_ended).into_string().into();
            RenderedPanel { html, has_ended }
        })
    }

    /// Returns the report, rendered anew if that is not too soon after the last time; the last one is always rendered.
    fn report(&self, number: u64, found: &Found, is_last: bool) -> Option<(u64, Arc<str>)> {
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        let began = Instant::now();
        if report.number < number && (is_last || began >= report.not_before) {
            let document = Document::new("this run", found.json()?).ok()?;
            report.html = torr_page::article(&document).into_string().into();
            report.number = number;
            let pause: Duration = began.elapsed() * PAUSES;
            report.not_before = Instant::now() + pause;
        }
        Some((report.number, Arc::clone(&report.html)))
    }

    fn state(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }
}
