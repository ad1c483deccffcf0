//! The sentences of a search: its result, the reason, and why a step failed.

use torr_doctor::limit::{GeneratorFault, Load, Outcome, Reading, ResultKind, StepFailure};
use torr_gauge::threshold::measured_us;
use torr_report::human::{micros, percent, rate, seconds};

/// Returns the result and its reason in a sentence.
pub fn summary(outcome: &Outcome) -> String {
    let (reason, slo) = (reason(outcome), outcome.slo.join(","));
    let sustained = outcome.sustained.as_ref().map_or(0.0, |sustained| sustained.rate);
    let sustained = rate(sustained);
    match outcome.kind {
        ResultKind::Never => format!("The service does not meet {slo} at any rate: {reason}."),
        ResultKind::Unknown => format!("No rate was found: {reason}."),
        ResultKind::Limit => format!("The service sustains {sustained} requests/s under {slo}: {reason}."),
        _ => format!("The service sustains at least {sustained} requests/s under {slo}: {reason}."),
    }
}

/// Returns the reason of a result.
pub fn reason(outcome: &Outcome) -> String {
    let early = if outcome.interrupted { "the search was interrupted" } else { "the budget was used up" };
    let failed = outcome.failed.as_ref();
    let fails = failed.map(fails);
    match (outcome.kind, fails) {
        (ResultKind::Limit | ResultKind::Never, fails) => fails.unwrap_or_else(|| "a step failed".into()),
        (ResultKind::AtLeastMaxRate, _) => "--max-rate allows no more".into(),
        (ResultKind::AtLeastGenerator, _) => {
            let why = failed.and_then(|reading| reading.generator.as_ref());
            let why = why.map_or("it was too busy".into(), generator);
            format!("above that Torr itself was the limit ({why}), so the service may sustain more")
        }
        (ResultKind::AtLeastConnections, _) => {
            "all of --max-connections were busy, and more of them would raise throughput".into()
        }
        (ResultKind::AtLeastTime, Some(fails)) => format!("{early} before the limit was known more closely; {fails}"),
        (ResultKind::AtLeastTime, None) => format!("{early} before a rate failed"),
        (ResultKind::Unknown, Some(fails)) => format!("{early} before a rate was sustained; {fails}"),
        (ResultKind::Unknown, None) => format!("{early} before a rate was tried"),
    }
}

fn fails(reading: &Reading) -> String {
    let failure = reading.failure.as_ref().map_or("the step failed".into(), failure);
    match reading.load {
        Load::Rate(offered) => format!("at {} requests/s {failure}", rate(offered)),
        Load::Connections(_) => format!("with one request at a time, {failure}"),
    }
}

/// Returns how the service fell short.
pub fn failure(failure: &StepFailure) -> String {
    match failure {
        StepFailure::Unreachable(why) => why.clone(),
        StepFailure::NoResponse => "the service responded to no request".into(),
        StepFailure::Failing { what, share } => format!("{what} for {} of the requests", percent(*share)),
        StepFailure::Missed { objective, measured: Some(measured) } => {
            let name = objective.split(['<', ' ']).next().unwrap_or_default();
            format!("{name} was {}", measured_us(measured).map_or_else(|| measured.clone(), micros))
        }
        StepFailure::Missed { objective, measured: None } => {
            format!("too many of the few responses were too slow for {objective}")
        }
        StepFailure::FellBehind(share) => {
            format!("the service fell behind: it responded to {} of the due requests", percent(*share))
        }
        StepFailure::QueueGrew(s) => format!("the response time grew by {} each second", seconds(*s)),
        StepFailure::EndedEarly => "the step clearly failed".into(),
    }
}

/// Returns why the generator may have caused a failure.
pub fn generator(fault: &GeneratorFault) -> String {
    match fault {
        GeneratorFault::ClientFailures(what) => format!("requests failed on this side: {what}"),
        GeneratorFault::Busy(share) => format!("Torr's busiest thread was busy {} of the time", percent(*share)),
        GeneratorFault::SendLag(s) => format!("99% of the requests were sent up to {} late", seconds(*s)),
        GeneratorFault::Finding => "Torr used most of the machine's CPU".into(),
    }
}
