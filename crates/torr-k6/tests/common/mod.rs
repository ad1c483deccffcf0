//! Helpers of the tests: a script runs, and what it has logged and measured is at hand.

// Each test program uses a part of these.
#![allow(dead_code)]

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use torr_k6::log::{Log, LogSettings};
use torr_k6::run::{RunSettings, RunShared, ScriptSource, SummarySettings, Test, TestEnd};
use torr_k6::summary::data::Values;
use torr_k6::summary::text::Mode;
use torr_test_support::script::Client;

/// A run that has ended.
pub struct Ended {
    pub end: TestEnd,
    pub log: String,
}

impl Ended {
    /// Returns the sum of a counter; 0 if there is none.
    pub fn count(&self, metric: &str) -> f64 {
        match self.end.summary.metrics.get(metric).map(|metric| &metric.values) {
            Some(Values::Counter { count, .. }) => *count,
            _ => 0.0,
        }
    }

    /// Checks that the run has succeeded and has logged nothing.
    #[track_caller]
    pub fn assert_quiet(&self) {
        assert_eq!((self.end.exit_code, &*self.log), (0, ""));
    }

    /// Returns the number of samples of a trend; 0 if there is none.
    pub fn samples(&self, metric: &str) -> u64 {
        match self.end.summary.metrics.get(metric).map(|metric| &metric.values) {
            Some(Values::Trend(values)) => {
                values.iter().find(|(name, _)| name == "count").map_or(0, |(_, n)| *n as u64)
            }
            _ => 0,
        }
    }

    /// Returns the value of a rate; NaN if there is none.
    pub fn rate(&self, metric: &str) -> f64 {
        match self.end.summary.metrics.get(metric).map(|metric| &metric.values) {
            Some(Values::Rate { rate, .. }) => *rate,
            _ => f64::NAN,
        }
    }
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no thread panics with it").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a script that sees a URL as `__ENV.URL`.
pub fn run(script: &str, url: &str) -> Ended {
    run_with(script, url, |_| {})
}

/// Runs a script while `meanwhile` runs on a thread of its own.
pub fn run_with(script: &str, url: &str, meanwhile: impl FnOnce(Arc<RunShared>) + Send) -> Ended {
    run_source(of_text(script), None, url, None, meanwhile)
}

/// Runs a script on so many load threads.
pub fn run_on(threads: usize, script: &str, url: &str) -> Ended {
    run_source(of_text(script), None, url, Some(threads), |_| {})
}

fn of_text(script: &str) -> ScriptSource {
    ScriptSource::Text(script.as_bytes().to_vec())
}

/// Runs a script that has files of its own. With a mode its summary is delivered.
pub fn run_file(script: &Path, mode: Option<Mode>, url: &str) -> Ended {
    run_source(ScriptSource::File(script.to_path_buf()), mode, url, None, |_| {})
}

/// Loads a script that sees a URL as `__ENV.URL`.
pub fn loaded(script: &str, url: &str) -> Test {
    loaded_from(of_text(script), url)
}

/// Loads a script, and keeps the files that it reads.
pub fn loaded_from(script: ScriptSource, url: &str) -> Test {
    let settings = RunSettings { keeps_files: true, ..settings(script, None, url, None) };
    let log = Log::to(LogSettings::default(), None, false);
    Test::load_with(settings, None, |_| Err("no network".to_owned()), log)
        .unwrap_or_else(|error| panic!("{error}\n{}", error.stack))
}

fn settings(script: ScriptSource, mode: Option<Mode>, url: &str, threads: Option<usize>) -> RunSettings {
    let summary = SummarySettings { mode, ..SummarySettings::default() };
    let env = [("URL".to_owned(), url.to_owned())].into();
    RunSettings { script, env, summary, threads, ..RunSettings::default() }
}

fn run_source(
    script: ScriptSource,
    mode: Option<Mode>,
    url: &str,
    threads: Option<usize>,
    meanwhile: impl FnOnce(Arc<RunShared>) + Send,
) -> Ended {
    run_settings(settings(script, mode, url, threads), meanwhile)
}

/// Runs a script with settings of the test's own.
pub fn run_as(script: &str, url: &str, own: RunSettings) -> Ended {
    run_as_with(script, url, own, |_| {})
}

/// Runs a script with settings of the test's own while `meanwhile` runs on a thread of its own.
pub fn run_as_with(script: &str, url: &str, own: RunSettings, meanwhile: impl FnOnce(Arc<RunShared>) + Send) -> Ended {
    let RunSettings { script, env, .. } = settings(of_text(script), None, url, None);
    run_settings(RunSettings { script, env, ..own }, meanwhile)
}

fn run_settings(settings: RunSettings, meanwhile: impl FnOnce(Arc<RunShared>) + Send) -> Ended {
    let lines = Lines::default();
    let log = Log::to(LogSettings::default(), Some(Box::new(lines.clone())), false);
    let test = Test::load_with(settings, None, |_| Err("no network".to_owned()), log)
        .unwrap_or_else(|error| panic!("{error}\n{}", error.stack));
    let shared = test.shared().clone();
    let end = std::thread::scope(|scope| {
        scope.spawn(|| meanwhile(shared));
        test.run(|_| {}).expect("the test runs")
    });
    let log = String::from_utf8_lossy(&lines.0.lock().expect("no thread panics with it")).into_owned();
    Ended { end, log }
}

/// Returns a server that responds with the content of each request.
pub fn echo() -> impl Fn(&mut Client) + Send + Sync + 'static {
    |client| {
        while let Some(request) = client.request() {
            let at = request.windows(4).position(|window| window == b"\r\n\r\n").map_or(0, |at| at + 4);
            let body = &request[at..];
            client.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes());
            client.send(body);
        }
    }
}
