//! `torr k6`: scripts of k6 by k6's command line.

mod fetch;
pub mod fleet;
mod load;
mod pace;
mod progress;
mod sessions;
mod settings;
mod watched;

pub use load::{check, check_settings, once, only_runs, run_load};
pub use sessions::K6Sessions;

use crate::exit::CliError;
use crate::{interrupt, output};
use progress::Shown;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use torr_fronts::k6::{OutputArg, RunArgs, layout};
use torr_k6::ScriptError;
use torr_k6::run::{RunShared, StopCause, Test};

/// How often an interruption is looked for.
const INTERRUPT_POLL: Duration = Duration::from_millis(50);

/// Runs a script, or prints its options. Returns the exit code of k6.
pub fn run(args: RunArgs, inspects: bool) -> Result<ExitCode, CliError> {
    let shown = Shown::of(&args);
    let (script, outputs) = (args.script.clone(), args.outputs.iter().map(OutputArg::shown).collect::<Vec<_>>());
    let ended = settings::of(args).and_then(|settings| {
        let test = Test::load(settings, settings::cache(), fetch::get)?;
        if inspects {
            output::print(&format!("{:#}\n", test.options().shown()));
            return Ok(0);
        }
        shown.print(&layout::banner(&script, &outputs, &test.plan().description()));
        let shared = test.shared().clone();
        let is_over = Arc::new(AtomicBool::new(false));
        let watching = watch_interrupts(shared, is_over.clone());
        let mut last = String::new();
        let ended = test.run(|conductor| {
            let text = progress::text(conductor);
            if last != text {
                shown.print(&format!("\n{text}"));
                last = text;
            }
        });
        is_over.store(true, Ordering::Relaxed);
        watching.map_err(|error| ScriptError::new(torr_k6::ErrorKind::Other, error.into_line()))?;
        Ok(ended?.exit_code)
    });
    match ended {
        Ok(code) => Ok(ExitCode::from(code)),
        Err(error) => {
            output::note(&format!("k6: {error}"));
            Ok(ExitCode::from(error.kind.exit_code()))
        }
    }
}

/// Ends the run at the first interruption; the second one ends the program. Returns the flag that the first one sets.
fn watch_interrupts(shared: Arc<RunShared>, is_over: Arc<AtomicBool>) -> Result<Arc<AtomicBool>, CliError> {
    let flag = interrupt::flag_before(torr_k6::ErrorKind::Interrupted.exit_code())?;
    let stop = Arc::clone(&flag);
    let watch = move || {
        while !is_over.load(Ordering::Relaxed) {
            if stop.load(Ordering::Relaxed) {
                shared.control.stop(StopCause::Interrupted);
                return;
            }
            thread::sleep(INTERRUPT_POLL);
        }
    };
    let started = thread::Builder::new().name("k6-interrupt".into()).spawn(watch);
    started.map(|_| flag).map_err(|error| CliError::Failed(format!("cannot start a thread: {error}")))
}
