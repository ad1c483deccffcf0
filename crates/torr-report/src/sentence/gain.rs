//! The words of a promised gain.

use crate::human::times;
use torr_gauge::Gain;
use torr_gauge::verdict::{Change, Promise, UnknownGain};

/// The factor of throughput below which a change brings nothing worth its effort.
const NOTHING: f64 = 1.05;

/// Returns a promise with its words.
pub fn gain(promise: &Promise) -> Gain {
    let Promise { low, high, unknown, .. } = *promise;
    let change = change(promise.change);
    let summary = match (low, high) {
        (Some(_), Some(high)) if high < NOTHING => format!("no more throughput {change}"),
        (Some(low), Some(high)) => match (times(low), times(high)) {
            (low, high) if low == high => format!("{high} the throughput {change}"),
            (low, high) => format!("{low} to {high} the throughput {change}"),
        },
        (Some(low), None) => format!("at least {} the throughput {change}", times(low)),
        (None, _) => format!("more throughput {change}"),
    };
    Gain { low, high, reason: unknown.map(|why| reason(why).to_owned()), summary }
}

/// Returns a gain in one line, as reports show it.
pub fn line(gain: &Gain) -> String {
    match (&gain.reason, gain.low) {
        (None, _) => gain.summary.clone(),
        (Some(reason), Some(_)) => format!("{}: {reason}", gain.summary),
        (Some(reason), None) => format!("{}; how much is unknown: {reason}", gain.summary),
    }
}

fn change(change: Change) -> String {
    use Change as C;
    match change {
        C::Connections(connections) => return format!("with {connections} connections"),
        C::MoreWorkers { by_free_cpu, elsewhere } => {
            let here = if by_free_cpu { "here, with the CPU that is free" } else { "with as many workers" };
            let elsewhere = elsewhere.map(|factor| format!("; up to {} with Torr on another machine", times(factor)));
            return format!("{here}{}", elsewhere.unwrap_or_default());
        }
        C::KeptConnections => "with connections that are kept alive",
        C::PortForEach => "with connections that are kept alive, and a port for each",
        C::MorePorts => "with more ports",
        C::AllAccepted => "with all connections accepted at once",
        C::NoLimiter => "without the limiter",
        C::NoFailures => "without failures",
        C::GeneratorCpu => "from a load generator with more CPU",
        C::AnotherThread => "with another generator thread",
        C::CpuOfGenerator => "with the load generator's CPU",
        C::HalfTheBytes => "with half the bytes, or a link twice as fast",
        C::WholeMachine => "with all of the machine's CPU, in proportion to the quota",
        C::CheaperQueries => "with queries that cost half",
        C::CheaperRequests => "with requests that cost half the CPU",
        C::CheaperEvents => "with events that cost half the CPU",
        C::OneQuery => "with one query for each request",
        C::RawDriver => "with the raw driver",
        C::CheaperProxy => "with a proxy that costs little",
        C::MoreConnections => "with more connections",
        C::NoNetworkDelay => "with the same connections and no network delay",
        C::SameConnections => "with the same connections",
        C::TwiceTheLimit => "with a limit twice as large",
        C::TwiceThePool => "with a pool twice as large",
        C::AdvisedWorkers => "with as many workers as advised",
        C::TwiceTheWorkers => "with twice as many workers",
        C::NoLock => "without the lock",
    }
    .to_owned()
}

fn reason(why: UnknownGain) -> &'static str {
    use UnknownGain as U;
    match why {
        U::CpuNotVisible => "the CPU of the server's machine is not visible",
        U::OthersUseCpu => "other programs use the CPU of the server's machine",
        U::NextLimitNotReached => "the next limit of the service was not reached",
        U::ServiceNotAtLimit => "the service was not at its limit",
        U::NothingServed => "the service responded to no request of the full load",
        U::ConnectionCost => "the cost of a connection was not measured",
        U::HardlyConnected => "hardly any connection was opened",
        U::AcceptedNotSeen => "the throughput with all connections accepted was not observed",
        U::FailuresTellLittle => "failed requests show little about the others",
        U::NoMoreTried => "no experiment tried more",
        U::QueryCost => "the cost of a request without its queries was not measured",
        U::NotTried => "no experiment tried it",
        U::ProxyCost => "the least cost of a proxy was not measured",
        U::ConcurrencyNotSeen => "the number of requests that the server could process then was not observed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_agree() {
        let why = UnknownGain::ServiceNotAtLimit;
        for (promise, words) in [
            (Promise::between(1.82, 2.21, Change::Connections(8)), "1.82x to 2.21x the throughput with 8 connections"),
            (Promise::between(3.996, 4.004, Change::NoLock), "4.00x the throughput without the lock"),
            (Promise::between(8.51, 53.7, Change::NoLock), "8.51x to 53.7x the throughput without the lock"),
            (Promise::between(1.0, 1.04, Change::NoLock), "no more throughput without the lock"),
            (
                Promise::at_least(1.3, Change::AnotherThread, why),
                "at least 1.30x the throughput with another generator thread: the service was not at its limit",
            ),
            (
                Promise::unknown(Change::MorePorts, why),
                "more throughput with more ports; how much is unknown: the service was not at its limit",
            ),
        ] {
            assert_eq!(line(&gain(&promise)), words);
        }
    }
}
