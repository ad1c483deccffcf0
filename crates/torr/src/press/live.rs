//! `--live` and `--dashboard`: a run that is watched, and that its watcher may steer.

use super::dashboard;
use crate::exit::CliError;
use crate::judge::judge;
use crate::output;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver};
use torr_gauge::collector::{Measurement, Progress};
use torr_live::{Dashboard, Live, Load};
use torr_load::OutputPart;
use torr_press::{Plan, RunError, SoFar};

/// A run with its views.
pub struct WatchedRun {
    plan: Plan,
    views: Views,
}

impl WatchedRun {
    /// Shows a plan as its user wants. `None` if that is without a view, or without a terminal for the only one.
    ///
    /// # Errors
    /// If there is no dashboard.
    pub fn start(output: &OutputPart, plan: &Plan, stop: &Arc<AtomicBool>) -> Result<Option<Self>, CliError> {
        if !Views::are_wanted(output) {
            return Ok(None);
        }
        let (plan, _) = plan.clone().steered();
        let views = Views::of(output, &plan, stop)?;
        Ok(Some(Self { plan, views }))
    }

    /// Whether the terminal shows the run.
    pub fn has_screen(&self) -> bool {
        self.views.has_screen()
    }

    /// Runs the plan, with the verdict on what is complete once a second. The terminal is as before at the end; the dashboard still
    /// has to get the judged result.
    pub fn press(
        self,
        stop: &AtomicBool,
        mut watch: impl FnMut(&Progress, &SoFar<'_>),
    ) -> Result<(Measurement, Option<Dashboard>), RunError> {
        let Self { plan, views } = self;
        let run = torr_press::run_watched(&plan, stop, |progress, so_far| {
            views.update(&progress, so_far);
            watch(&progress, so_far);
        });
        let dashboard = views.close();
        let mut run = run?;
        judge(&mut run.result);
        Ok((run, dashboard))
    }
}

/// The views of a run: its screen, its dashboard.
pub struct Views {
    screen: Option<Live>,
    dashboard: Option<Dashboard>,
    /// The name of the target, where it is not that of the plan.
    target: Option<String>,
    /// What scripts in Lua print, while the screen covers the terminal.
    printed: Option<Printed>,
}

/// The lines that scripts print.
struct Printed(Receiver<String>);

impl Printed {
    fn start() -> Self {
        let (sender, lines) = mpsc::channel();
        // Without a receiver the views are closed.
        torr_script::divert(Some(Box::new(move |line| _ = sender.send(line))));
        Self(lines)
    }
}

impl Drop for Printed {
    fn drop(&mut self) {
        torr_script::divert(None);
    }
}

impl Views {
    /// Whether the user wants a view that there can be.
    pub fn are_wanted(output: &OutputPart) -> bool {
        output.dashboard.is_some() || (output.live && torr_live::is_possible())
    }

    /// Opens the views of a plan, which has a steering.
    ///
    /// # Errors
    /// If there is no dashboard.
    pub fn of(output: &OutputPart, plan: &Plan, stop: &Arc<AtomicBool>) -> Result<Self, CliError> {
        Self::of_load(output, plan, &Load::of(plan), stop)
    }

    /// Opens the views of a plan whose load has words of its own: of a script, which names its targets as it runs.
    ///
    /// # Errors
    /// If there is no dashboard.
    pub fn of_script(output: &OutputPart, plan: &Plan, load: Load, stop: &Arc<AtomicBool>) -> Result<Self, CliError> {
        let views = Self::of_load(output, plan, &load, stop)?;
        Ok(Self { target: Some(load.target), ..views })
    }

    fn of_load(output: &OutputPart, plan: &Plan, load: &Load, stop: &Arc<AtomicBool>) -> Result<Self, CliError> {
        let (dashboard, url) = dashboard::start(output, plan, load)?.unzip();
        let steering = plan.steering.clone().filter(|_| output.live && torr_live::is_possible());
        let screen = steering.map(|steering| Live::start(load.clone(), steering, Arc::clone(stop)));
        let screen = screen.and_then(|screen| {
            screen.map_err(|error| output::note(&format!("cannot show the full screen: {error}"))).ok()
        });
        if let (Some(screen), Some(url)) = (&screen, url) {
            // The screen has covered the line that was printed.
            screen.note(&format!("dashboard: {url}"));
        }
        let printed = screen.is_some().then(Printed::start);
        Ok(Self { screen, dashboard, target: None, printed })
    }

    /// Whether the terminal shows the run.
    pub fn has_screen(&self) -> bool {
        self.screen.is_some()
    }

    /// Notes that a run of other machines begins now.
    pub fn begins(&self) {
        self.screen.iter().for_each(Live::begins);
        self.dashboard.iter().for_each(Dashboard::begins);
    }

    /// Shows in the log what is to be known of the run.
    pub fn note(&self, line: &str) {
        self.screen.iter().for_each(|screen| screen.note(line));
        self.dashboard.iter().for_each(|dashboard| dashboard.note(line));
    }

    /// Shows in the log what happened elsewhere.
    pub fn warn(&self, line: &str) {
        self.screen.iter().for_each(|screen| screen.warn(line));
        self.dashboard.iter().for_each(|dashboard| dashboard.warn(line));
    }

    /// Shows a line that a script printed.
    pub fn printed(&self, line: &str) {
        self.screen.iter().for_each(|screen| screen.printed(line));
        self.dashboard.iter().for_each(|dashboard| dashboard.printed(line));
    }

    /// Shows what is complete, with the verdict on it.
    pub fn update(&self, progress: &Progress, so_far: &SoFar<'_>) {
        self.printed.iter().flat_map(|printed| printed.0.try_iter()).for_each(|line| self.printed(&line));
        let mut result = so_far.result();
        if let Some(target) = &self.target {
            result.target.clone_from(target);
        }
        judge(&mut result);
        let result = Arc::new(result);
        self.screen.iter().for_each(|screen| screen.update(progress, &result));
        self.dashboard.iter().for_each(|dashboard| dashboard.update(progress, &result));
    }

    /// Gives the terminal back, and returns the dashboard, which still has to get the judged result.
    pub fn close(self) -> Option<Dashboard> {
        let Self { screen, dashboard, printed, .. } = self;
        drop((screen, printed));
        dashboard
    }
}
