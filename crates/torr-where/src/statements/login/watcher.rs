//! The watch of a database by a login, on a thread of its own.

use super::mysql::MySqlView;
use super::observed::Observed;
use super::postgres::PostgresView;
use super::redis::RedisView;
use super::url::Login;
use super::view::View;
use crate::statements::database::Database;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// The pause between two samples.
const PAUSE: Duration = Duration::from_millis(50);

/// How long the database may take to accept the login, to show its sessions, and for the last look.
const CONNECT: Duration = Duration::from_secs(5);
const SAMPLE: Duration = Duration::from_secs(5);
const END: Duration = Duration::from_secs(6);

/// A watch that runs.
#[derive(Debug)]
pub(crate) struct Watcher {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Observed, String>>,
}

impl Watcher {
    /// Connects, and begins to watch. It returns when the login is accepted or refused.
    pub(crate) fn start(login: Login) -> Result<Self, String> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let (sender, connected) = sync_channel(1);
        let run = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| error.to_string())?;
            let url = login.secret_url();
            runtime.block_on(async {
                match login.database() {
                    Database::Postgres => watch::<PostgresView>(url, &stopped, &sender).await,
                    Database::MySql => watch::<MySqlView>(url, &stopped, &sender).await,
                    Database::Redis => watch::<RedisView>(url, &stopped, &sender).await,
                }
            })
        };
        let thread = thread::Builder::new().name("torr-login".into()).spawn(run).map_err(|error| error.to_string())?;
        if connected.recv().is_ok() {
            return Ok(Self { stop, thread });
        }
        // The thread ended before it was connected.
        Err(join(thread).err().unwrap_or_else(|| "the connection ended".into()))
    }

    /// Begins to end the watch.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Ends the watch.
    pub(crate) fn finish(self) -> Result<Observed, String> {
        self.stop();
        join(self.thread)
    }
}

fn join(thread: JoinHandle<Result<Observed, String>>) -> Result<Observed, String> {
    thread.join().unwrap_or_else(|_| Err("the thread of the login ended too early".into()))
}

async fn watch<V: View>(url: &str, stop: &AtomicBool, connected: &SyncSender<()>) -> Result<Observed, String> {
    let late = |_| "the database did not respond in time".to_owned();
    let mut view = timeout(CONNECT, V::connect(url)).await.map_err(late)??;
    // The receiver may have ended.
    let _ = connected.send(());
    let (began, mut observed) = (Instant::now(), Observed::default());
    while !stop.load(Ordering::Relaxed) {
        timeout(SAMPLE, view.sample(&mut observed)).await.map_err(late)??;
        sleep(PAUSE).await;
    }
    // The last look begins with the counts.
    observed.elapsed = began.elapsed();
    // What was sampled is right without the last look.
    if let Err(error) = timeout(END, view.end(&mut observed)).await.map_err(late).flatten() {
        observed.errors.push(error);
    }
    Ok(observed)
}
