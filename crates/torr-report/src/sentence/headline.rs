//! The sentence of each headline.

use crate::human::{per_second, percent, plural, seconds};
use torr_gauge::verdict::{Headline, KeptRate, WorkerCount};

/// Returns the verdict in one sentence.
pub fn headline(headline: &Headline) -> String {
    use Headline as H;
    match headline {
        H::RateKept(rate) => return kept(rate, "nothing limited this run"),
        H::RateKeptWithTail(rate) => return kept(rate, "nothing limited throughput, but 1% of the responses were slow"),
        H::RateKeptThrottled(rate) => return kept(rate, "nothing limited throughput, but a quota throttled the server"),
        H::MachineFull { server_share, peers_share, generator_share } => {
            let peers = match *peers_share {
                0.0 => String::new(),
                share => format!("{} by its peers, ", percent(share)),
            };
            let (server, generator) = (percent(*server_share), percent(*generator_share));
            return format!("The machine's CPU is saturated: {server} by the server, {peers}{generator} by Torr.");
        }
        H::MachineFullWith { server, is_proxy } => {
            let which = if *is_proxy { format!("the proxy, {server}") } else { format!("{server}, behind the proxy") };
            return format!("The machine's CPU is saturated; of the two servers, {which}, uses the most.");
        }
        H::WorkersBlocked(Some(count)) => {
            return format!("{} workers are blocked, while CPU is free.", all_of(count));
        }
        H::RelayWorkers(WorkerCount::Exactly(1)) => {
            "The relay has one worker, which waits for the service behind the relay, while CPU is free."
        }
        H::RelayWorkers(count) => {
            return format!(
                "{} workers of the relay wait for the service behind the relay, while CPU is free.",
                all_of(count)
            );
        }
        H::AllAllowed => "The service kept the highest rate that --max-rate allows.",
        H::Unclear => "The evidence does not single out one limit.",
        H::UnclearNow => "This run does not show what limits the service.",
        H::Interrupted => "The diagnosis was interrupted before it found a limit.",
        H::FewEvents => "A few events do not show what limits the service.",
        H::EventsSteady => "Nothing limited this run: streams began without a wait, and their events came at an even pace.",
        H::EventsUneven => "Events came at an uneven pace; this run does not show whether the service is made so or limited.",
        H::FirstEventsWait => "Streams wait for their first event; this run does not show what for.",
        H::StreamsPaced { streams, gap_s } => {
            return format!(
                "Nothing limits {}: the service sends an event each {} on each, as it does on one alone.",
                plural(*streams, "stream"),
                seconds(*gap_s)
            );
        }
        H::EventsHeld => {
            "More streams bring no more events, although nothing is busy; the evidence does not show what events wait for."
        }
        H::StreamsAtATime { streams } => {
            return format!(
                "The service sends events on {} at a time; what the others wait for is not visible from here.",
                plural(*streams, "stream")
            );
        }
        H::StreamWorkers { streams } => {
            return format!(
                "All workers have a stream: events come on {} at a time, and the others wait for a worker, while CPU is free.",
                plural(*streams, "stream")
            );
        }
        H::StreamPool { streams } => {
            return format!(
                "A semaphore or a pool inside the server lets {} have events at a time; the others wait for it while the \
                 CPUs are idle.",
                plural(*streams, "stream")
            );
        }
        H::StreamsRefused { streams } => {
            return format!("The service has {} open at a time, and refuses further ones.", plural(*streams, "stream"));
        }
        H::StreamsHoldConnections => "Open streams hold all connections, so requests that are due wait for one.",
        H::FewRequests => "A few requests do not show what limits the service.",
        H::Silence => "The service stopped responding for a while, and caught up afterwards.",
        H::AgentLost => "An agent was lost, so this run does not show what limits the service.",
        H::LoadEndedEarly => "A part of the load ended early, so this run does not show what limits the service.",
        H::OthersUseCpu => {
            "Other programs used most of the CPU, so this run shows neither the server's limit nor Torr's."
        }
        H::Unavailable => {
            "The service responded 503: a limiter, an overload, or a missing dependency such as its database."
        }
        H::SomethingConnects => {
            "A connection is opened for each request: by a proxy to the service, or by the service to its peers."
        }
        H::TimeoutTooShort => "Requests take longer than the budget allows for one, so the limit is unknown.",
        H::Unseen => {
            "The service processes a fixed number of requests at a time; whether it works or waits is not visible from here."
        }
        H::Generator => "The load generator is the limit: the service may handle more.",
        H::GeneratorHere => "The load generator is the limit: the service may handle more than this machine can send.",
        H::Agents => "The agents are the limit: the service may handle more than they can send.",
        H::GeneratorFillsMachine => "The machine's CPU is saturated, most of it by the load generator.",
        H::OutOfPorts => "This machine ran out of local ports, so the service never got the whole load.",
        H::NetworkTime => "The network takes most of each request's time.",
        H::LinkFull => "The link to the service is saturated.",
        H::PacedResponses => "The server limits the rate at which it sends each response.",
        H::DelayedAck => "Each response waits for an acknowledgement that the client's kernel delays by 40 ms.",
        H::MoreConnections => "More connections raise throughput: nothing is saturated, and no request queues.",
        H::Handshakes => "TLS handshakes are most of the work: few connections carry a second request.",
        H::HandshakeEach => "A TLS handshake for each request is most of the work.",
        H::ConnectionEach => "A connection for each request is most of the work.",
        H::ServerCloses => "The server closes connections that could be reused, so nearly every request opens one.",
        H::ConnectionsDropped => {
            "The kernel drops connections before the service accepts them; clients retry after a second or more."
        }
        H::AllCpu => "The server uses all CPU that is available to it.",
        H::OneThread { cpu_is_free: true } => {
            "One thread of the server does all the work and is saturated, while other CPUs are idle."
        }
        H::OneThread { cpu_is_free: false } => {
            "One thread of the server does all the work and is saturated: the server can use one CPU only."
        }
        H::OneCpuShared => "The server's threads use one CPU together, though more are idle: they run one at a time.",
        H::UnevenWorkers => "One worker of the server has nearly all connections and is saturated; others are idle.",
        H::ThreadsSaturated => "All busy threads of the server are saturated, while CPU is free.",
        H::CpuQuota => "A CPU quota throttles the server.",
        H::HiddenQuota => "The server stops in each period of 100 ms, as under a CPU quota that is not visible from here.",
        H::OneWorker => "One worker processes one request at a time, and blocks while it has one.",
        H::WorkersBlocked(None) => "All workers are blocked, while CPU is free.",
        H::Lock => "Requests wait for a lock: one runs at a time while the CPUs are idle.",
        H::Pool { size } => {
            return format!(
                "A semaphore or a pool inside the server lets about {size:.0} requests run at a time; the others wait for \
                 it while the CPUs are idle."
            );
        }
        H::SerialisedComputation => {
            "Serialised computation: the server's threads compute one at a time, as under a lock, and use one CPU together."
        }
        H::LimiterRefuses => "A rate limiter refuses the requests above its rate.",
        H::LimiterDelays => "A rate limiter delays requests: they wait although nothing is busy.",
        H::Proxy => "The proxy in front of the service is the limit.",
        H::ProxyOutOfPorts => {
            "The proxy in front of the service opened a connection to it for each request, and ran out of local ports."
        }
        H::ProxyConnects => "The proxy in front of the service opens a connection to it for each request.",
        H::DatabaseBusy => "The database behind the service is busy with its queries.",
        H::PoolInUse => "Requests wait for a connection to the database: the whole pool is in use, while CPU is free.",
        H::PoolerInUse => {
            "Requests wait in the pooler in front of the database: all of its connections to the database are in use."
        }
        H::ManyQueries => "Each request queries the database many times, as an ORM does that loads rows one by one.",
        H::RowsForLittle => "The server is busy with rows of the database, most of which it does not send.",
        H::NoResponses => "The service responded to no request.",
        H::TooManyFailed => "Too many requests failed for the throughput to mean much.",
        H::AlwaysFail => "Requests fail even one at a time, so the throughput means little.",
        H::FailUnderLoad => "Requests fail under load, so the throughput means little.",
        H::SessionsFailed => "Too many sessions failed for the throughput to mean much.",
    }
    .to_owned()
}

fn all_of(count: &WorkerCount) -> String {
    match count {
        WorkerCount::Exactly(workers) => format!("All {workers}"),
        WorkerCount::About(workers) => format!("All of about {workers:.0}"),
    }
}

fn kept(rate: &KeptRate, so: &str) -> String {
    let rate = match rate {
        KeptRate::Planned(rps) => format!("your rate of {}", per_second(*rps)),
        KeptRate::Sessions(rps) => format!("your rate of {} for sessions", per_second(*rps)),
        KeptRate::Steered => "the rates that you set during the run".into(),
        KeptRate::Stages => "the rates of your stages".into(),
        KeptRate::Logged => "the pace of the log".into(),
        KeptRate::Cap(rps) => {
            let so = so.replacen("nothing", "nothing else", 1);
            return format!("The service kept the {} of --max-rate: {so}.", per_second(*rps));
        }
    };
    format!("The service kept {rate}: {so}.")
}
