//! The name and the question of each experiment.

use crate::human::{per_second, plural};
use torr_gauge::verdict::{CheapRequest, ExperimentId, ExperimentLabel, KeepAliveCondition};

/// Returns the name of an experiment.
pub fn experiment(label: &ExperimentLabel) -> String {
    use ExperimentId as Id;
    let connections = match label.streams {
        Some(streams) => plural(streams as u64, "stream"),
        None => plural(label.connections as u64, "connection"),
    };
    match label.id {
        Id::Rung(_) | Id::Full | Id::Double => return connections,
        Id::FullUndisturbed | Id::DoubleConnected | Id::FullWithoutErrors => return format!("{connections}, again"),
        // It may follow a load that was repeated already.
        Id::FullSpread => return format!("{connections}, opened again"),
        Id::LightStops(request) => return format!("{}, sampled every 10 ms", cheap(request)),
        Id::Beside(request) => return format!("{connections}, and beside them {}", cheap(request)),
        Id::LightLoad(request) => return format!("light load: {}", cheap(request)),
        Id::FewerPorts => return format!("{connections}, kept alive"),
        Id::Offered | Id::OfferedTwice | Id::Gentle => {
            return format!("an offered rate of {}", per_second(label.rate.unwrap_or(0.0)));
        }
        Id::Threads(threads) => return plural(threads as u64, "generator thread"),
        Id::Agents(agents) => return plural(agents as u64, "agent"),
        Id::Upstream(address) => return format!("three requests to {address}"),
        Id::KeptIf(is) => return format!("keep-alive {}", condition(is)),
        Id::WithCondition(is) => return format!("your load {}", condition(is)),
        Id::StartServer
        | Id::StartedAlone
        | Id::FirstRun
        | Id::WorkersTurn
        | Id::ProxyTurn
        | Id::TlsTurn
        | Id::PathsTurn
        | Id::VersionLimit
        | Id::SameVersionTurn
        | Id::VersionsTurn => return label.variant.clone().unwrap_or_default(),
        Id::Cheap(request) => cheap(request),
        Id::Alone if label.streams.is_some() => "one stream at a time",
        Id::AloneLonger if label.streams.is_some() => "one stream at a time, for longer",
        Id::Alone => "one request at a time",
        Id::AloneLonger => "one request at a time, for longer",
        Id::AloneUndisturbed => "one request at a time, after a pause",
        Id::AloneAcked => "one request at a time, immediate acknowledgements",
        Id::AloneAckedLonger => "one request at a time, immediate acknowledgements, for longer",
        Id::Null => "a service that does nothing",
        Id::NullConnecting => "a service that does nothing, one connection per request",
        Id::AckedAsUsual => "usual acknowledgements",
        Id::AckedAtOnce => "immediate acknowledgements",
        Id::LoadAckedAsUsual => "your load, usual acknowledgements",
        Id::LoadAckedAtOnce => "your load, immediate acknowledgements",
        Id::Idle => "an idle connection",
        Id::EachConnects => "your load, one connection per request",
        Id::KeptAlive => "your load, connections kept alive",
        Id::AsRequested => "your load, unchanged",
        Id::KeepAliveOffered => "your load, keep-alive offered",
        Id::KeepAliveNotOffered => "your load, keep-alive not offered",
        Id::FewConnections => "the fewest connections that saturate the service",
        Id::ConnectForHeads => "header sections only, one connection per request",
        Id::WholeResponses => "complete responses",
        Id::HeadsOnly => "header sections only",
        Id::TwoAddresses => "your load from two client addresses",
        Id::AfterPause => "your load after a pause",
        Id::Sampled => "your load, the server sampled",
        Id::Stops => "your load, sampled every 10 ms",
        Id::ThroughProxy => "your load through the proxy",
        Id::Direct => "your load without the proxy",
        Id::Pause => "a pause",
    }
    .to_owned()
}

/// Returns the question that an experiment settles, or why it is repeated.
pub fn question(label: &ExperimentLabel) -> &'static str {
    use ExperimentId as Id;
    match label.id {
        Id::Alone if label.streams.is_some() => "what is the pace of one stream?",
        Id::AloneLonger if label.streams.is_some() => "again, so that events and streams are seen",
        Id::Rung(_) if label.streams.is_some() => "where do events per second stop growing?",
        Id::Full if label.streams.is_some() => "how many events per second have your streams?",
        Id::Double if label.streams.is_some() => "do more streams have more events?",
        Id::Alone | Id::StartedAlone => "what is the response time without load?",
        Id::AloneAcked => "what is the response time without delayed acknowledgements?",
        Id::AloneLonger | Id::AloneAckedLonger => "again: the first try got too few responses",
        Id::AloneUndisturbed => "again: the first try was disturbed",
        Id::Cheap(_) => "does this request cost the server little?",
        Id::Rung(_) => "where does throughput stop growing?",
        Id::Full => "what is the throughput under your load?",
        Id::FullUndisturbed => "again: other programs used the machine",
        Id::FullSpread => "again: one worker of the server had nearly all connections",
        Id::Double => "do more connections raise throughput?",
        Id::DoubleConnected => "again: some connections opened late",
        Id::Null => "what throughput can Torr reach on this machine?",
        Id::NullConnecting => "what does opening a connection cost on this machine?",
        Id::Beside(_) | Id::LightLoad(_) => "do other requests wait while the target is saturated?",
        Id::AckedAsUsual | Id::AckedAtOnce => "do responses wait for acknowledgements?",
        Id::LoadAckedAsUsual | Id::LoadAckedAtOnce => "does your load wait for acknowledgements?",
        Id::KeptIf(_) => "does the server keep such connections alive?",
        Id::Idle => "how long does the server keep an idle connection?",
        Id::EachConnects | Id::KeptAlive => "does keep-alive raise throughput?",
        Id::AsRequested | Id::WithCondition(_) => "does keep-alive depend on this condition?",
        Id::KeepAliveOffered | Id::KeepAliveNotOffered => "does it matter whether Torr offers keep-alive?",
        Id::FewerPorts => "do fewer connections find free local ports?",
        Id::FewConnections => "are connections dropped under this load too?",
        Id::FullWithoutErrors => "what limits the service below the load at which errors begin?",
        Id::ConnectForHeads => "are connections dropped when responses are small too?",
        Id::Offered | Id::OfferedTwice => "does the service accept more when more is offered?",
        Id::TwoAddresses => "does the limiter count each client address separately?",
        Id::Gentle => "does the quota throttle at less than half the load too?",
        Id::WholeResponses | Id::HeadsOnly => "do smaller responses raise throughput?",
        Id::AfterPause => "do more requests pass after a pause?",
        Id::Sampled => "which function, lock or statement takes the time?",
        Id::Stops => "does the service stop at the same point of each period?",
        Id::LightStops(_) => "does it stop for other requests too?",
        Id::Threads(_) => "does another generator thread raise throughput?",
        Id::Agents(_) => "do more agents raise throughput?",
        Id::Upstream(_) => "does the server behind the proxy give the same responses?",
        Id::ThroughProxy | Id::Direct | Id::ProxyTurn => "how much throughput does the proxy cost?",
        Id::Pause => "nothing is sent before the next experiment",
        Id::StartServer => "does the server start and respond?",
        Id::FirstRun => "does it respond? This run also warms it up",
        Id::WorkersTurn => "what is the throughput with this number of workers?",
        Id::TlsTurn => "how much throughput do TLS and its handshakes cost?",
        Id::PathsTurn => "how do the paths differ?",
        Id::VersionLimit => "what throughput can it reach? This run also warms it up",
        Id::SameVersionTurn => "A against A: how much do equal servers differ?",
        Id::VersionsTurn => "do A and B differ? They run in random order",
    }
}

/// Returns what keep-alive depends on, as the end of a sentence.
pub(super) fn condition(condition: KeepAliveCondition) -> &'static str {
    match condition {
        KeepAliveCondition::AcceptsGzip => "if the client accepts gzip",
        KeepAliveCondition::ConnectionField => "if the request has 'Connection: keep-alive'",
        KeepAliveCondition::Uncompressed => "if the client accepts no compression",
        KeepAliveCondition::Http10 => "over HTTP/1.0",
    }
}

/// Returns a request that a server responds to without the work of its handlers.
pub(super) fn cheap(request: CheapRequest) -> &'static str {
    match request {
        CheapRequest::AbsentPath => "a path that returns 404",
        CheapRequest::WithoutHost => "a request without a Host field",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_experiment_has_a_name_of_its_own() {
        use ExperimentId as Id;
        let of_load = [Id::Full, Id::FullUndisturbed, Id::FullSpread].map(|id| (id, 4));
        let of_double = [Id::Double, Id::DoubleConnected].map(|id| (id, 8));
        let named = |(id, connections)| {
            experiment(&ExperimentLabel { id, connections, streams: None, rate: None, variant: None })
        };
        let mut names: Vec<_> = of_load.into_iter().chain(of_double).map(named).collect();
        names.sort();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "{names:?}");
    }
}
