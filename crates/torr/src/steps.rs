//! The views of a procedure of several loads: `--live` and `--dashboard` of `torr doctor` and `torr limit`.

use crate::exit::CliError;
use crate::output;
use crate::press::dashboard;
use crate::report;
use clap::Args;
use serde::Serialize;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use torr_gauge::collector::Progress;
use torr_live::{About, StepsDashboard, StepsLive};
use torr_load::values::address;

/// How a procedure is watched.
#[derive(Debug, Clone, Default, Args)]
pub struct ViewArgs {
    /// Show the progress on the whole screen, with a key to end it; without a terminal, show the progress line
    #[arg(long, conflicts_with = "quiet")]
    pub live: bool,
    /// Show the progress as a page in browsers, which becomes the report; beyond loopback, the page needs TLS and the token in the
    /// printed URL [default ADDR: a free port of 127.0.0.1]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true, default_missing_value = "127.0.0.1:0",
          value_parser = address)]
    pub dashboard: Option<SocketAddr>,
    /// Use this certificate for the dashboard (PEM) [default beyond loopback: a certificate made for the run]
    #[arg(long, value_name = "FILE", requires_all = ["dashboard", "dashboard_key"])]
    pub dashboard_cert: Option<PathBuf>,
    /// Read the key of the dashboard's certificate from this file (PEM)
    #[arg(long, value_name = "FILE", requires_all = ["dashboard", "dashboard_cert"])]
    pub dashboard_key: Option<PathBuf>,
}

impl ViewArgs {
    /// Whether there is to be a view.
    pub fn are_wanted(&self) -> bool {
        self.live || self.dashboard.is_some()
    }
}

/// The views of a procedure.
pub struct StepViews {
    screen: Option<StepsLive>,
    dashboard: Option<StepsDashboard>,
}

impl StepViews {
    /// Opens the views that are wanted of a procedure that begins now. `stop` is set where an operator ends it.
    ///
    /// # Errors
    /// If there is no dashboard.
    pub fn open(args: &ViewArgs, about: &About, stop: &Arc<AtomicBool>) -> Result<Self, CliError> {
        let given = args.dashboard_cert.clone().zip(args.dashboard_key.clone());
        let start = |settings| StepsDashboard::start(settings, about.clone(), Arc::clone(stop));
        let dashboard = args.dashboard.map(|address| dashboard::open(address, given, start, StepsDashboard::url));
        let (dashboard, url) = dashboard.transpose()?.unzip();
        let is_shown = args.live && torr_live::is_possible();
        let screen = is_shown.then(|| StepsLive::start(about.clone(), Arc::clone(stop)));
        let screen = screen.and_then(|screen| {
            screen.map_err(|error| output::note(&format!("cannot show the full screen: {error}"))).ok()
        });
        if let (Some(screen), Some(url)) = (&screen, url) {
            // The screen has covered the line that was printed.
            screen.note(&format!("dashboard: {url}"));
        }
        Ok(Self { screen, dashboard })
    }

    /// Whether the terminal shows the procedure.
    pub fn has_screen(&self) -> bool {
        self.screen.is_some()
    }

    /// Notes that a step begins, and the question that it is to decide.
    pub fn begins(&self, name: &str, why: &str) {
        self.screen.iter().for_each(|screen| screen.begins(name, why));
        self.dashboard.iter().for_each(|dashboard| dashboard.begins(name, why));
    }

    /// Shows the progress of the step that runs.
    pub fn progress(&self, progress: &Progress) {
        self.screen.iter().for_each(|screen| screen.progress(progress));
        self.dashboard.iter().for_each(|dashboard| dashboard.progress(progress));
    }

    /// Gives the terminal back; the dashboard still has to get the result.
    pub fn close_screen(&mut self) {
        self.screen = None;
    }

    /// Shows the result, whose report pages become.
    pub fn finish(self, result: &impl Serialize) {
        if let (Some(dashboard), Ok(result)) = (self.dashboard, report::json_of(result)) {
            dashboard.finish(result);
        }
    }
}
