//! The result in one sentence, and its reason.

use super::ask::Load;
use super::outcome::{ResultKind, Sustained};
use super::reading::Reading;
use super::slo::Slo;

/// Returns the result and its reason in a sentence.
pub(super) fn summary(kind: ResultKind, sustained: Option<&Sustained>, slo: &Slo, reason: &str) -> String {
    let rate = sustained.map_or(0.0, |sustained| sustained.rate);
    match kind {
        ResultKind::Never => format!("It does not keep to {slo} at all: {reason}."),
        ResultKind::Unknown => format!("There is no result: {reason}."),
        ResultKind::Limit => format!("It sustains {} requests/s under {slo}: {reason}.", figure(rate)),
        _ => format!("It sustains at least {} requests/s under {slo}: {reason}.", figure(rate)),
    }
}

/// Returns the reason of a result.
pub(super) fn reason(kind: ResultKind, failed: Option<&Reading>, interrupted: bool) -> String {
    let early = if interrupted { "it was interrupted" } else { "the budget was used up" };
    let failure = failed.and_then(|reading| reading.failure.as_deref()).unwrap_or("it failed");
    let fails = match failed.map(|reading| reading.load) {
        Some(Load::Rate(rate)) => format!("at {} requests/s {failure}", figure(rate)),
        _ => format!("one request at a time, {failure}"),
    };
    match kind {
        ResultKind::Limit | ResultKind::Never => fails,
        ResultKind::AtLeastMaxRate => "--max-rate permits no more".into(),
        ResultKind::AtLeastGenerator => {
            let why = failed.and_then(|reading| reading.generator.as_deref()).unwrap_or("it was too busy");
            format!("above that it is the generator that fails ({why}), so the service may sustain more")
        }
        ResultKind::AtLeastConnections => {
            "all of --max-connections were busy, and more of them would bring more".into()
        }
        ResultKind::AtLeastTime if failed.is_some() => format!("{early} before it was known how much more; {fails}"),
        ResultKind::AtLeastTime => format!("{early} before a rate failed"),
        ResultKind::Unknown if failed.is_some() => format!("{early} before a rate was kept to; {fails}"),
        ResultKind::Unknown => format!("{early} before a rate was tried"),
    }
}

/// Returns a rate with its significant digits.
fn figure(rate: f64) -> String {
    if rate >= 100.0 { format!("{rate:.0}") } else { format!("{rate:.1}") }
}
