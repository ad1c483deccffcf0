//! The answer in one sentence.

use super::outcome::{Answer, Sustained};
use super::reading::Reading;
use super::slo::Slo;

/// What was found, for people.
pub(super) fn summary(
    answer: Answer,
    sustained: Option<&Sustained>,
    failed: Option<&Reading>,
    slo: &Slo,
    interrupted: bool,
) -> String {
    let rate = sustained.map_or(0.0, |sustained| sustained.rate);
    let failure = failed.and_then(|reading| reading.failure.as_deref()).unwrap_or("it failed");
    let at = failed.and_then(Reading::rate).unwrap_or(0.0);
    let least = format!("It sustains at least {} requests/s under {slo}", figure(rate));
    let fails = format!("at {} requests/s {failure}", figure(at));
    let early = if interrupted { "it was interrupted" } else { "the budget was used up" };
    match answer {
        Answer::Limit => format!("It sustains {} requests/s under {slo}; {fails}.", figure(rate)),
        Answer::AtLeastMaxRate => format!("{least}: --max-rate asks for no more."),
        Answer::AtLeastGenerator => {
            let why = failed.and_then(|reading| reading.generator.as_deref()).unwrap_or("it was too busy");
            format!("{least}: above that it is the generator that fails ({why}), so the service may sustain more.")
        }
        Answer::AtLeastConnections => {
            format!("{least}: all connections of --max-connections were busy, and more of them would bring more.")
        }
        Answer::AtLeastTime if failed.is_some() => {
            format!("{least}, and less than {}: {fails}, and {early}.", figure(at))
        }
        Answer::AtLeastTime => format!("{least}: {early} before a rate failed."),
        Answer::Never => format!("It does not keep to {slo} at all: {fails}."),
        Answer::Unknown => format!("There is no answer: {early} before the first step was done."),
    }
}

/// A rate in as many digits as it is known to.
fn figure(rate: f64) -> String {
    if rate >= 100.0 { format!("{rate:.0}") } else { format!("{rate:.1}") }
}
