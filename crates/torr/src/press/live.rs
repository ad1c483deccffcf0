//! `--live` and `--dashboard`: a run that is watched, and that its watcher may steer.

use super::dashboard::DashboardArgs;
use crate::exit::CliError;
use crate::output;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use torr_gauge::collector::{Measurement, Progress};
use torr_live::{Dashboard, Live, Load};
use torr_press::{Plan, RunError};

/// A run with its views.
pub struct WatchedRun {
    plan: Plan,
    screen: Option<Live>,
    dashboard: Option<Dashboard>,
}

impl WatchedRun {
    /// Shows a plan as its user wants. `None` if that is without a view, or without a terminal for the only one.
    ///
    /// # Errors
    /// If there is no dashboard.
    pub fn start(
        live: bool,
        dashboard: &DashboardArgs,
        plan: &Plan,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<Self>, CliError> {
        let has_screen = live && torr_live::is_possible();
        if !has_screen && dashboard.dashboard.is_none() {
            return Ok(None);
        }
        let (plan, steering) = plan.clone().steered();
        let dashboard = dashboard.start(&plan)?;
        let screen = has_screen.then(|| Live::start(Load::of(&plan), steering, Arc::clone(stop)));
        let screen =
            screen.and_then(|screen| screen.map_err(|error| output::note(&format!("no full screen: {error}"))).ok());
        Ok(Some(Self { plan, screen, dashboard }))
    }

    /// Whether the terminal shows the run.
    pub fn has_screen(&self) -> bool {
        self.screen.is_some()
    }

    /// Runs the plan, with the verdict on what is complete once a second. The terminal is as before at the end; the dashboard still
    /// has to get the judged result.
    pub fn press(
        self,
        stop: &AtomicBool,
        mut watch: impl FnMut(&Progress),
    ) -> Result<(Measurement, Option<Dashboard>), RunError> {
        let Self { plan, screen, dashboard } = self;
        let run = torr_press::run_watched(&plan, stop, |progress, so_far| {
            let mut result = so_far.result();
            result.verdict = Some(torr_doctor::passive(&result));
            let result = Arc::new(result);
            if let Some(screen) = &screen {
                screen.update(&progress, &result);
            }
            if let Some(dashboard) = &dashboard {
                dashboard.update(&progress, &result);
            }
            watch(&progress);
        });
        drop(screen);
        let mut run = run?;
        run.result.verdict = Some(torr_doctor::passive(&run.result));
        Ok((run, dashboard))
    }
}
