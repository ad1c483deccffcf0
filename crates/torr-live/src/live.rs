//! The full screen of a run, and that of a procedure.

use crate::draw;
use crate::keys::{Key, meaning};
use crate::log::Tone;
use crate::procedure::{About, Procedure};
use crate::show::{Show, Shown};
use crate::subject::{Run, Steps};
use crate::theme::Theme;
use crate::view::{Load, View};
use ratatui::Frame;
use ratatui::crossterm::event::KeyEvent;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use torr_gauge::RunResult;
use torr_gauge::collector::Progress;
use torr_press::{Steerable, Steering};

/// The screen of a run. Dropping it restores the terminal.
#[derive(Debug)]
pub struct Live(Show<ShownRun>);

impl Live {
    /// Shows the screen of a run that is about to begin, or of other machines' run, which begins with [`Live::begins`]. `stop` tells
    /// that the run was interrupted.
    ///
    /// # Errors
    /// If there is no terminal, or the system refuses a thread.
    pub fn start(load: Load, steering: Arc<Steering>, stop: Arc<AtomicBool>) -> io::Result<Self> {
        let began = load.begins_at_once().then(Instant::now);
        let run = Run { view: View::new(load, steering.state()), steering };
        Show::start(ShownRun { run, stop }, began).map(Self)
    }

    /// Notes that a run of other machines begins now.
    pub fn begins(&self) {
        self.0.begins();
    }

    /// Shows in the log what is to be known of the run.
    pub fn note(&self, line: &str) {
        let line = line.to_owned();
        self.0.change(move |shown, _| shown.run.view.note(&line));
    }

    /// Shows in the log what happened elsewhere.
    pub fn warn(&self, line: &str) {
        let line = line.to_owned();
        self.0.change(move |shown, _| shown.run.view.warn(&line));
    }

    /// Shows a line that a script printed.
    pub fn printed(&self, line: &str) {
        let line = line.to_owned();
        self.0.change(move |shown, _| shown.run.view.printed.add(&line));
    }

    /// Hands over what is complete.
    pub fn update(&self, progress: &Progress, result: &Arc<RunResult>) {
        let (progress, result) = (progress.clone(), Arc::clone(result));
        self.0.change(move |shown, _| shown.run.view.update(progress, result));
    }
}

/// A run as its screen shows it.
struct ShownRun {
    run: Run,
    stop: Arc<AtomicBool>,
}

impl Shown for ShownRun {
    fn at(&mut self, elapsed_s: f64) {
        self.run.at(elapsed_s);
        if self.stop.load(Ordering::Relaxed) {
            self.run.view.ending("interrupted: Ctrl-C again ends at once");
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, theme: &Theme) {
        draw::draw(frame, &self.run.view, theme);
    }

    fn key(&mut self, key: KeyEvent) -> bool {
        let view = &mut self.run.view;
        match meaning(key, view.load.steerable) {
            Some(Key::Wish(wish)) => view.fulfil(wish, &self.run.steering),
            Some(Key::Help) => view.shows_help = !view.shows_help,
            Some(Key::Redraw) => return true,
            None => {}
        }
        false
    }

    fn continued(&mut self) {
        let view = &mut self.run.view;
        let at_s = view.measured_s();
        view.log.add(at_s, "the program was suspended, and so was the load", Tone::Warn);
    }
}

/// The screen of a procedure. Dropping it restores the terminal.
#[derive(Debug)]
pub struct StepsLive(Show<Steps>);

impl StepsLive {
    /// Shows the screen of a procedure that begins now. `stop` is set where an operator ends it.
    ///
    /// # Errors
    /// As with [`Live::start`].
    pub fn start(about: About, stop: Arc<AtomicBool>) -> io::Result<Self> {
        let steps = Steps { procedure: Procedure::new(about), result: None, stop };
        Show::start(steps, Some(Instant::now())).map(Self)
    }

    /// Notes that a step begins.
    pub fn begins(&self, name: &str, why: &str) {
        let (name, why) = (name.to_owned(), why.to_owned());
        self.0.change(move |steps, at_s| steps.procedure.begins(at_s, &name, &why));
    }

    /// Hands over the progress of the step that runs.
    pub fn progress(&self, progress: &Progress) {
        let progress = progress.clone();
        self.0.change(move |steps, at_s| steps.procedure.progress(at_s, &progress));
    }

    /// Shows where the page of the procedure is, or another line about it.
    pub fn note(&self, line: &str) {
        let line = line.to_owned();
        self.0.change(move |steps, _| steps.procedure.note = Some(line));
    }
}

impl Shown for Steps {
    fn at(&mut self, elapsed_s: f64) {
        Self::at(self, elapsed_s);
    }

    fn draw(&self, frame: &mut Frame<'_>, theme: &Theme) {
        draw::draw_procedure(frame, &self.procedure, theme);
    }

    fn key(&mut self, key: KeyEvent) -> bool {
        match meaning(key, Steerable::Remote) {
            Some(Key::Wish(wish)) => self.fulfil(wish),
            Some(Key::Redraw) => return true,
            Some(Key::Help) | None => {}
        }
        false
    }

    fn continued(&mut self) {
        self.procedure.note = Some("the program was suspended, and so was the load".to_owned());
    }
}
