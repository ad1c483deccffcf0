//! A run as a page for browsers, which becomes its report: served by torr-serve, filled by server-sent events.
//!
//! A browser that comes late sees the past, since each event has the whole. Parts are rendered on the server's thread, once for all
//! browsers, and only while one is there: the threads of the load never wait for it.

mod events;
mod feed;
mod gate;
mod page;
mod panel;
mod panel_cache;
mod procedure;
mod routes;
mod run;
mod subject;

use crate::procedure::{About, Procedure};
use crate::subject::{Run, Steps};
use crate::view::{Load, View};
use feed::Feed;
use gate::Gate;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use subject::Subject;
use torr_gauge::RunResult;
use torr_gauge::collector::Progress;
use torr_press::Steering;
use torr_serve::{ServeError, Server, Settings, Stop, TlsSettings};

/// The longest time that browsers have to take the report when the run has ended.
const LAST: Duration = Duration::from_secs(3);
/// The limit of connections; each browser has two.
const CONNECTIONS: usize = 200;

/// The address of a dashboard, and its protection.
#[derive(Debug, Clone)]
pub struct DashboardSettings {
    /// The address to listen on.
    pub address: SocketAddr,
    /// The secret without which nothing is shown; needed beyond loopback.
    pub token: Option<String>,
    /// The certificate and its key, as PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
}

/// A feed with the server that browsers get it from.
#[derive(Debug)]
struct Served<S: Subject> {
    feed: Arc<Feed<S>>,
    url: String,
    stop: Stop,
    serving: Option<JoinHandle<Result<(), ServeError>>>,
}

impl<S: Subject> Served<S> {
    /// Serves the dashboard of a subject that began at a moment, or begins later.
    fn start(settings: DashboardSettings, subject: S, began: Option<Instant>) -> Result<Self, ServeError> {
        let feed = Arc::new(Feed::new(subject, began));
        let gate = Gate::new(settings.token.as_deref(), settings.tls.is_some());
        let mut server = Settings::default();
        server.workers = 1;
        server.blocking_threads = 1;
        server.max_connections = CONNECTIONS;
        (server.stop_timeout, server.stream_stop_timeout, server.task_stop_timeout) = (LAST, LAST, Duration::ZERO);
        // A page that is rendered for a second is no reason to have further threads.
        server.compute_after = Duration::ZERO;
        let scheme = if settings.tls.is_some() { "https" } else { "http" };
        server.tls = settings.tls.map(|(certificate, key)| TlsSettings::new(certificate, key));
        let app = routes::app(&feed, gate);
        let bound = Server::new(app).settings(server).bind(settings.address)?;
        let token = settings.token.map_or_else(String::new, |token| format!("?token={token}"));
        let url = format!("{scheme}://{}/{token}", bound.address());
        let stop = bound.stop();
        let serving = thread::Builder::new().name("dashboard".into()).spawn(move || bound.run());
        Ok(Self { feed, url, stop, serving: Some(serving?) })
    }
}

impl<S: Subject> Drop for Served<S> {
    fn drop(&mut self) {
        // Without a result pages say so, and keep what they have.
        self.feed.finish(|_| false);
        self.stop.stop();
        if let Some(serving) = self.serving.take() {
            // Browsers that have not taken the end by now are cut off. A panic there was shown already.
            let _ = serving.join();
        }
    }
}

/// The dashboard of a run. Dropping it ends its server.
#[derive(Debug)]
pub struct Dashboard(Served<Run>);

impl Dashboard {
    /// Serves the dashboard of a run that is about to begin, or of other machines' run, which begins with [`Dashboard::begins`].
    ///
    /// # Errors
    /// If the address cannot be listened on, the files of TLS cannot be read, or the system refuses a thread.
    pub fn start(settings: DashboardSettings, load: Load, steering: Arc<Steering>) -> Result<Self, ServeError> {
        let began = load.begins_at_once().then(Instant::now);
        let run = Run { view: View::new(load, steering.state()), steering };
        Served::start(settings, run, began).map(Self)
    }

    /// Returns the URL of the page, with the token if there is one.
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// Notes that a run of other machines begins now.
    pub fn begins(&self) {
        self.0.feed.begins();
    }

    /// Shows in the log what is to be known of the run.
    pub fn note(&self, line: &str) {
        self.0.feed.change(|run, _| run.view.note(line));
    }

    /// Shows in the log what happened elsewhere.
    pub fn warn(&self, line: &str) {
        self.0.feed.change(|run, _| run.view.warn(line));
    }

    /// Shows a line that a script printed.
    pub fn printed(&self, line: &str) {
        self.0.feed.change(|run, _| run.view.printed.add(line));
    }

    /// Hands over what is complete.
    pub fn update(&self, progress: &Progress, result: &Arc<RunResult>) {
        self.0.feed.update(|run| run.view.update(progress.clone(), Arc::clone(result)));
    }

    /// Hands over the result of the run, which pages show as its report from then on.
    pub fn finish(self, result: RunResult) {
        self.0.feed.finish(|run| {
            run.view.result = Some(Arc::new(result));
            true
        });
    }
}

/// The dashboard of a procedure. Dropping it ends its server.
#[derive(Debug)]
pub struct StepsDashboard(Served<Steps>);

impl StepsDashboard {
    /// Serves the dashboard of a procedure that begins now. `stop` is set where an operator ends it.
    ///
    /// # Errors
    /// As with [`Dashboard::start`].
    pub fn start(settings: DashboardSettings, about: About, stop: Arc<AtomicBool>) -> Result<Self, ServeError> {
        let steps = Steps { procedure: Procedure::new(about), result: None, stop };
        Served::start(settings, steps, Some(Instant::now())).map(Self)
    }

    /// Returns the URL of the page, with the token if there is one.
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// Notes that a step begins.
    pub fn begins(&self, name: &str, why: &str) {
        self.0.feed.change(|steps, at_s| steps.procedure.begins(at_s, name, why));
    }

    /// Hands over the progress of the step that runs.
    pub fn progress(&self, progress: &Progress) {
        self.0.feed.change(|steps, at_s| steps.procedure.progress(at_s, progress));
    }

    /// Hands over the result as JSON, which pages show as its report from then on.
    pub fn finish(self, result: Value) {
        self.0.feed.finish(|steps| {
            steps.result = Some(Arc::new(result));
            true
        });
    }
}
