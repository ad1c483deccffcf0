//! What is known of a run in words, for every view of it.

use crate::view::{Phase, View};
use torr_gauge::RunResult;
use torr_press::Steerable;
use torr_report::human::{count, micros, percent, rate};

/// What stands for a figure that is not known yet.
pub const NONE: &str = "-";

/// Returns where the run stands.
pub fn state(view: &View) -> &'static str {
    match view.phase {
        Phase::Ending => "ENDING",
        _ if view.is_warming_up() => "WARMING UP",
        _ if view.state.paused => "PAUSED",
        Phase::Starting => "STARTING",
        Phase::Running => "RUNNING",
    }
}

/// Returns the time since the measurement began, and its length if that is known.
pub fn time(view: &View) -> String {
    match view.load.length_s {
        Some(length) => format!("{} of {}", clock(view.measured_s()), clock(length)),
        None => clock(view.measured_s()),
    }
}

/// Returns the load, with what was changed about it.
pub fn load(view: &View) -> String {
    match changed(view) {
        Some(changed) => format!("{changed}; planned: {}", view.load.words),
        None => view.load.words.clone(),
    }
}

/// Returns what was changed about the load.
pub fn changed(view: &View) -> Option<String> {
    match view.load.steerable {
        Steerable::Rate(_) if view.state.rate == 1.0 => None,
        Steerable::Rate(Some(planned)) => Some(format!("now {} {}/s", rate(planned * view.state.rate), view.load.unit)),
        Steerable::Rate(None) => Some(format!("now {:.0}% of the stages", view.state.rate * 100.0)),
        Steerable::Connections { planned, .. } if planned == view.state.connections => None,
        Steerable::Connections { .. } => Some(format!("now {} connections", count(view.state.connections as u64))),
        Steerable::Nothing | Steerable::Remote | Steerable::Script | Steerable::Times => None,
    }
}

/// Returns the errors so far.
pub fn errors(view: &View) -> String {
    view.result.as_deref().map_or_else(|| NONE.to_owned(), errors_of)
}

fn errors_of(result: &RunResult) -> String {
    let errors = result.errors.total();
    let failed = result.sessions.as_ref().map_or(0, |sessions| sessions.failed);
    let requests = match errors {
        0 if failed == 0 => return "none".into(),
        0 => None,
        _ => Some(format!("{} ({} of requests)", count(errors), percent(errors as f64 / result.started.max(1) as f64))),
    };
    let noun = if failed == 1 { "session" } else { "sessions" };
    let sessions = (failed > 0).then(|| format!("{} {noun} failed", count(failed)));
    requests.into_iter().chain(sessions).collect::<Vec<_>>().join(", ")
}

/// Whether the responses of the run are streams of events, as far as it has come.
pub fn is_of_streams(view: &View) -> bool {
    view.result.as_ref().is_some_and(|result| result.streams.is_some())
}

/// Returns the connections that are open, and those that were opened.
pub fn connections(view: &View) -> String {
    let (Some(progress), Some(result)) = (&view.progress, &view.result) else { return NONE.to_owned() };
    format!("{} open, {} opened", count(progress.connections), count(result.connections.opened))
}

/// Returns what the generator used in the last second.
pub fn generator(view: &View) -> String {
    let Some(progress) = &view.progress else { return NONE.to_owned() };
    let cores = progress.cpu.and_then(|cpu| cpu.generator_cores());
    let cores = match view.load.steerable {
        Steerable::Remote => String::new(),
        _ => cores.map_or_else(|| format!("{NONE} CPUs, "), |cores| format!("{cores:.2} CPUs, ")),
    };
    format!("{cores}busiest {}", progress.busy_share.map_or_else(|| NONE.to_owned(), percent))
}

/// Returns what the server used in the last second.
pub fn server(view: &View) -> String {
    let Some(progress) = &view.progress else { return NONE.to_owned() };
    let (Some(cores), Some(share)) =
        (progress.cpu.and_then(|cpu| cpu.server_cores()), progress.cpu.and_then(|cpu| cpu.cpu_share()))
    else {
        return "not visible from here".into();
    };
    let of = view.result.as_ref().and_then(|result| result.host.as_ref()).map(|host| format!(" of {}", host.cores));
    format!("{cores:.2}{} CPUs, machine {}", of.unwrap_or_default(), percent(share))
}

/// Returns a response time.
pub fn response_time(us: Option<u64>) -> String {
    us.map_or_else(|| NONE.to_owned(), |us| micros(us as f64))
}

/// Returns a text with a capital letter.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns whole seconds as `12 s`, or from ten minutes on as `12:30`.
pub fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0).floor() as u64;
    if whole < 600 { format!("{whole} s") } else { format!("{}:{:02}", whole / 60, whole % 60) }
}
