//! Runs a command line as a process that ends with its call.

use crate::tools::{HURL, Line};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::future::Future;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::{sleep, timeout};

/// How long a command may take to end once it was interrupted.
const LEAVING: Duration = Duration::from_secs(5);
/// The file of a result.
const RESULT: &str = "result.json";
/// The exit code of a command whose thresholds, checks or requests failed: it has a result.
const NOT_MET: i32 = 1;
/// What a result has beside its figures, which few calls need.
const LONG: [&str; 4] = ["latency_histogram", "series", "signals", "trail"];

/// What came of a call.
#[derive(Debug)]
pub(crate) struct Ended {
    /// What a person would read.
    pub text: String,
    /// The result as JSON, if the command has one.
    pub result: Option<Value>,
    /// Whether there is no result.
    pub failed: bool,
}

/// Runs a command line of a program, until it ends or `cancelled` does.
///
/// # Errors
/// If it cannot be started, was cancelled, or takes longer than it may.
pub(crate) async fn run(program: &Path, line: &Line, cancelled: impl Future<Output = ()>) -> Result<Ended, String> {
    let failed = |error: std::io::Error| format!("cannot run the command: {error}");
    let folder = tempfile::Builder::new().prefix("torr-mcp-").tempdir().map_err(failed)?;
    if let Some(text) = &line.hurl {
        std::fs::write(folder.path().join(HURL), text).map_err(failed)?;
    }
    let mut command = Command::new(program);
    command.args(&line.words).current_dir(folder.path());
    if line.has_result {
        command.arg("--quiet").arg("--json").arg(RESULT);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let child = command.spawn().map_err(failed)?;
    let process = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let output = child.wait_with_output();
    tokio::pin!(output);
    let why = tokio::select! {
        ended = &mut output => {
            let ended = ended.map_err(failed)?;
            let read = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (mut text, said) = (read(&ended.stdout), read(&ended.stderr));
            let failed = !matches!(ended.status.code(), Some(0 | NOT_MET));
            if failed || text.is_empty() {
                text.push_str(&said);
            }
            let result = std::fs::read(folder.path().join(RESULT)).ok();
            let result = result.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let result = if line.is_whole { result } else { result.map(shortened) };
            return Ok(Ended { text, result, failed });
        }
        () = cancelled => "the call was cancelled".to_owned(),
        () = sleep(line.limit) => format!("the command took longer than {} s", line.limit.as_secs()),
    };
    // It is not reaped yet, so that the number is still its own. What does not end then is killed when this returns.
    let _ = process.map(|process| kill_process(process, Signal::INT));
    let _ = timeout(LEAVING, output).await;
    Err(why)
}

/// Leaves out what is long, and says so.
fn shortened(mut result: Value) -> Value {
    if let Some(object) = result.as_object_mut() {
        let left_out: Vec<_> = LONG.into_iter().filter(|name| object.remove(*name).is_some()).collect();
        if !left_out.is_empty() {
            object.insert("left_out".into(), left_out.into());
        }
    }
    result
}
