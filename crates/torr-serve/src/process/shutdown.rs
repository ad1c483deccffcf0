//! The shutdown of a server: its time limits, and reports of what it waits for.

use crate::observe::notice;
use crate::process::inherited::worker_number;
use crate::settings::Settings;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task;
use tokio::time::sleep;

/// The time after which a line reports what a shutdown waits for, and the time between later lines.
const FIRST_LINE: Duration = Duration::from_secs(1);
const NEXT_LINE: Duration = Duration::from_secs(5);
/// The time limit above which a line does not mention the limit.
const LONG: Duration = Duration::from_secs(24 * 3600);
/// The first and the longest pause between two looks whether a runtime's last task has ended.
const LOOK: Duration = Duration::from_millis(1);
const LOOK_AT_MOST: Duration = Duration::from_millis(20);

/// The shutdown of one process, shared by its worker threads.
#[derive(Debug)]
pub(crate) struct Shutdown {
    stop_timeout: Duration,
    stream_stop_timeout: Duration,
    task_stop_timeout: Duration,
    /// The time at which the shutdown began.
    began: OnceLock<Instant>,
    /// The time at which an urgent shutdown began: a stop, not the drain of a reload.
    urgent: OnceLock<Instant>,
    /// The work that each worker thread waits for. The last entry is the background runtime's.
    remaining: Mutex<Vec<Remaining>>,
    /// The number of tasks that did not end in time.
    dropped: Mutex<usize>,
}

/// The work that a worker thread waits for in a shutdown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Remaining {
    /// Requests that are being received or handled, or whose response of known length is being sent.
    pub requests: usize,
    /// Responses of unknown length that are being sent.
    pub streams: usize,
    /// Connections that were upgraded from HTTP: WebSockets, tunnels.
    pub upgraded: usize,
    /// Connections of HTTP/2.
    pub http2: usize,
    /// Connections of HTTP/3.
    pub http3: usize,
    /// Tasks that handlers have spawned, and that outlive their connections.
    pub tasks: usize,
    /// 1 if the thread waits for calls of `spawn_blocking` or of blocking handlers, whose number is unknown.
    pub blocking: usize,
}

impl Remaining {
    fn add(self, other: &Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            streams: self.streams + other.streams,
            upgraded: self.upgraded + other.upgraded,
            http2: self.http2 + other.http2,
            http3: self.http3 + other.http3,
            tasks: self.tasks + other.tasks,
            blocking: self.blocking + other.blocking,
        }
    }

    /// Returns the time limits in words, that of streams and upgraded connections and that of all else. Empty for limits above
    /// [`LONG`].
    fn until(&self, of_streams: Duration, of_all: Duration) -> String {
        let seconds = |left: Duration| left.as_secs_f64().ceil();
        let streams = self.streams + self.upgraded;
        let others = self.requests + self.http2 + self.http3 + self.tasks + self.blocking;
        // Streams whose time is up are about to end.
        let streams_first = streams > 0 && !of_streams.is_zero() && of_streams < of_all.min(LONG);
        match (streams_first, of_all < LONG) {
            (true, _) if others == 0 && streams == 1 => format!("; it will be closed in {} s", seconds(of_streams)),
            (true, _) if others == 0 => format!("; they will be closed in {} s", seconds(of_streams)),
            (true, false) => format!("; streams will be closed in {} s", seconds(of_streams)),
            (true, true) => {
                format!(
                    "; streams will be closed in {} s, everything else in {} s",
                    seconds(of_streams),
                    seconds(of_all)
                )
            }
            (false, true) => format!("; the rest will be closed in {} s", seconds(of_all)),
            (false, false) => String::new(),
        }
    }

    /// Returns in words what is waited for, `None` if there is nothing.
    fn in_words(&self) -> Option<String> {
        let count = |n: usize, one: &str, many: &str| match n {
            0 => None,
            1 => Some(format!("1 {one}")),
            n => Some(format!("{n} {many}")),
        };
        let parts = [
            count(self.streams, "stream", "streams"),
            count(self.upgraded, "WebSocket or other upgraded connection", "WebSockets or other upgraded connections"),
            count(self.http2, "HTTP/2 connection", "HTTP/2 connections"),
            count(self.http3, "HTTP/3 connection", "HTTP/3 connections"),
            count(self.requests, "request", "requests"),
            count(self.tasks, "task spawned by a handler", "tasks spawned by handlers"),
            count(self.blocking, "worker with blocking calls", "workers with blocking calls"),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

impl Shutdown {
    /// Returns a shutdown that has not begun, of a number of worker threads.
    pub fn new(settings: &Settings, workers: usize) -> Self {
        Self {
            stop_timeout: settings.stop_timeout,
            stream_stop_timeout: settings.stream_stop_timeout,
            task_stop_timeout: settings.task_stop_timeout,
            began: OnceLock::new(),
            urgent: OnceLock::new(),
            remaining: Mutex::new(vec![Remaining::default(); workers + 1]),
            dropped: Mutex::default(),
        }
    }

    /// Begins the shutdown. Returns whether this call was the first.
    pub fn begin(&self, is_urgent: bool) -> bool {
        if is_urgent {
            self.urgent.get_or_init(Instant::now);
        }
        self.began.set(Instant::now()).is_ok()
    }

    /// Returns the time left to requests in flight; zero before the shutdown has begun.
    pub fn left(&self) -> Duration {
        self.began.get().map_or(Duration::ZERO, |began| self.stop_timeout.saturating_sub(began.elapsed()))
    }

    /// Returns the time left to responses of unknown length and upgraded connections. In a reload it is that of all else.
    pub fn left_of_streams(&self) -> Duration {
        let limit = self.urgent.get().map(|since| self.stream_stop_timeout.saturating_sub(since.elapsed()));
        limit.unwrap_or(Duration::MAX).min(self.left())
    }

    /// Returns whether responses of unknown length and upgraded connections have to end.
    pub fn streams_are_over(&self) -> bool {
        self.began.get().is_some() && self.left_of_streams().is_zero()
    }

    /// Notes what the worker thread of this number waits for.
    pub fn waits_for(&self, worker: usize, remaining: Remaining) {
        if let Some(entry) = self.remaining.lock().unwrap_or_else(PoisonError::into_inner).get_mut(worker) {
            *entry = remaining;
        }
    }

    /// Returns the number of the background runtime, which follows those of the worker threads.
    pub fn background(&self) -> usize {
        self.remaining.lock().unwrap_or_else(PoisonError::into_inner).len() - 1
    }

    /// Returns the time left to tasks that outlive their connections, if it begins now.
    pub fn left_of_tasks(&self) -> Duration {
        self.left().min(self.task_stop_timeout)
    }

    /// Drives the current runtime until its last task and upgraded connection have ended, or time is up. Sends `cutoff` to upgraded
    /// connections when they have to end. Returns the deadline of blocking calls.
    pub async fn finish(&self, worker: usize, cutoff: &watch::Sender<bool>) -> Instant {
        let tokio = Handle::current().metrics();
        let (mut pause, mut deadline) = (LOOK, None);
        loop {
            // Aborted tasks end when they are polled next.
            task::yield_now().await;
            let (tasks, upgraded) = (tokio.num_alive_tasks(), cutoff.receiver_count());
            if self.streams_are_over() {
                cutoff.send_replace(true);
            }
            if upgraded == 0 || self.streams_are_over() {
                deadline.get_or_insert_with(|| Instant::now() + self.left_of_tasks());
            }
            let left = deadline.map_or(self.left(), |deadline| deadline.saturating_duration_since(Instant::now()));
            if tasks == 0 && upgraded == 0 || left.is_zero() {
                *self.dropped.lock().unwrap_or_else(PoisonError::into_inner) += tasks;
                self.waits_for(worker, Remaining::default());
                return deadline.unwrap_or_else(Instant::now);
            }
            // Most upgraded connections are held by one task.
            let tasks = tasks.saturating_sub(upgraded);
            self.waits_for(worker, Remaining { upgraded, tasks, ..Remaining::default() });
            sleep(pause.min(left)).await;
            pause = LOOK_AT_MOST.min(2 * pause);
        }
    }

    /// Notes that the worker thread of this number waits for blocking calls while `end` runs.
    pub fn while_blocking(&self, worker: usize, end: impl FnOnce()) {
        self.waits_for(worker, Remaining { blocking: 1, ..Remaining::default() });
        end();
        self.waits_for(worker, Remaining::default());
    }

    /// Waits until all senders of `ended` are dropped. From a second after the first message, lines report what is waited for.
    pub fn report(&self, ended: &Receiver<()>) {
        self.report_from(ended, None);
    }

    /// Waits until all senders of `ended` are dropped, in a shutdown that has begun. Lines report what is waited for.
    pub fn report_on(&self, ended: &Receiver<()>) {
        self.report_from(ended, Some(Instant::now() + FIRST_LINE));
    }

    fn report_from(&self, ended: &Receiver<()>, mut wait: Option<Instant>) {
        loop {
            let message = match wait {
                None => ended.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => ended.recv_timeout(Instant::saturating_duration_since(&until, Instant::now())),
            };
            match message {
                Ok(()) => _ = wait.get_or_insert_with(|| Instant::now() + FIRST_LINE),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    self.report_remaining();
                    wait = Some(Instant::now() + NEXT_LINE);
                }
            }
        }
    }

    /// Reports in a line what is waited for.
    fn report_remaining(&self) {
        let all = self.remaining.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let all = all.iter().fold(Remaining::default(), Remaining::add);
        if let Some(words) = all.in_words() {
            let until = all.until(self.left_of_streams(), self.left());
            notice::warn(&format!("{}stopping: waiting for {words}{until}", who()));
        }
    }

    /// Reports the tasks that did not end in time.
    pub fn report_dropped(&self) {
        let tasks = *self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(words) = (Remaining { tasks, ..Remaining::default() }).in_words()
            // With a limit of zero that is expected.
            && !self.task_stop_timeout.is_zero()
        {
            notice::warn(&format!("{}stopped before {words} ended: the time limit was reached", who()));
        }
    }
}

/// Returns the prefix of a line that names the worker process, where there are several.
fn who() -> String {
    worker_number().map_or_else(String::new, |number| format!("worker {number}: "))
}

/// The sender of a worker thread or the background runtime to [`Shutdown::report`], whose drop signals the thread's end.
#[derive(Debug, Clone)]
pub(crate) struct Ended(pub Sender<()>);

impl Ended {
    /// Sends that the shutdown has begun.
    pub fn begins(&self) {
        // The receiver may be gone.
        let _ = self.0.send(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_waited_for_is_reported_in_words() {
        assert_eq!(Remaining::default().in_words(), None);
        let some = Remaining { streams: 2, upgraded: 1, requests: 3, ..Remaining::default() };
        let words = "2 streams, 1 WebSocket or other upgraded connection, 3 requests";
        assert_eq!(some.in_words().as_deref(), Some(words));
        let all = some.add(&Remaining { streams: 1, http2: 1, tasks: 2, ..Remaining::default() });
        let words = "3 streams, 1 WebSocket or other upgraded connection, 1 HTTP/2 connection, 3 requests, 2 tasks \
                     spawned by handlers";
        assert_eq!(all.in_words().as_deref(), Some(words));
        let (four, thirty) = (Duration::from_millis(3_500), Duration::from_secs(30));
        assert_eq!(all.until(four, thirty), "; streams will be closed in 4 s, everything else in 30 s");
        assert_eq!(all.until(four, Duration::MAX), "; streams will be closed in 4 s");
        assert_eq!(all.until(Duration::ZERO, thirty), "; the rest will be closed in 30 s");
        assert_eq!(all.until(thirty, thirty), "; the rest will be closed in 30 s");
        let requests = Remaining { requests: 1, ..Remaining::default() };
        assert_eq!(requests.until(four, thirty), "; the rest will be closed in 30 s");
        assert_eq!(requests.until(Duration::MAX, Duration::MAX), "");
        let streams = Remaining { upgraded: 1, ..Remaining::default() };
        assert_eq!(streams.until(four, thirty), "; it will be closed in 4 s");
        let streams = Remaining { upgraded: 1, streams: 1, ..Remaining::default() };
        assert_eq!(streams.until(four, thirty), "; they will be closed in 4 s");
    }

    #[test]
    fn streams_have_less_time_than_requests_unless_it_is_a_reload() {
        let mut settings = Settings::default();
        (settings.stop_timeout, settings.stream_stop_timeout) = (Duration::from_secs(100), Duration::ZERO);
        let shutdown = Shutdown::new(&settings, 1);
        assert!(shutdown.left().is_zero() && !shutdown.streams_are_over(), "it has not begun");
        assert!(shutdown.begin(false));
        assert!(!shutdown.left().is_zero() && !shutdown.streams_are_over(), "a reload");
        assert!(!shutdown.begin(true));
        assert!(!shutdown.left().is_zero() && shutdown.streams_are_over(), "a stop after a reload");
    }
}
