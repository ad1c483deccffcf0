//! The answer in one sentence, and its reason.

use super::ask::Load;
use super::outcome::{Answer, Sustained};
use super::reading::Reading;
use super::slo::Slo;

/// The answer, and what it rests on.
pub(super) fn summary(answer: Answer, sustained: Option<&Sustained>, slo: &Slo, reason: &str) -> String {
    let rate = sustained.map_or(0.0, |sustained| sustained.rate);
    match answer {
        Answer::Never => format!("It does not keep to {slo} at all: {reason}."),
        Answer::Unknown => format!("There is no answer: {reason}."),
        Answer::Limit => format!("It sustains {} requests/s under {slo}: {reason}.", figure(rate)),
        _ => format!("It sustains at least {} requests/s under {slo}: {reason}.", figure(rate)),
    }
}

/// Why the answer is no other.
pub(super) fn reason(answer: Answer, failed: Option<&Reading>, interrupted: bool) -> String {
    let early = if interrupted { "it was interrupted" } else { "the budget was used up" };
    let failure = failed.and_then(|reading| reading.failure.as_deref()).unwrap_or("it failed");
    let fails = match failed.map(|reading| reading.load) {
        Some(Load::Rate(rate)) => format!("at {} requests/s {failure}", figure(rate)),
        _ => format!("one request at a time, {failure}"),
    };
    match answer {
        Answer::Limit | Answer::Never => fails,
        Answer::AtLeastMaxRate => "--max-rate asks for no more".into(),
        Answer::AtLeastGenerator => {
            let why = failed.and_then(|reading| reading.generator.as_deref()).unwrap_or("it was too busy");
            format!("above that it is the generator that fails ({why}), so the service may sustain more")
        }
        Answer::AtLeastConnections => "all of --max-connections were busy, and more of them would bring more".into(),
        Answer::AtLeastTime if failed.is_some() => format!("{early} before it was known how much more; {fails}"),
        Answer::AtLeastTime => format!("{early} before a rate failed"),
        Answer::Unknown if failed.is_some() => format!("{early} before a rate was kept to; {fails}"),
        Answer::Unknown => format!("{early} before a rate was tried"),
    }
}

/// A rate in as many digits as it is known to.
fn figure(rate: f64) -> String {
    if rate >= 100.0 { format!("{rate:.0}") } else { format!("{rate:.1}") }
}
