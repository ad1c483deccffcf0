//! The sentence of each fact: the measurement, then what it is compared with.

use super::behind;
use super::early_end::early_end;
use super::experiment::{cheap, condition, experiment};
use super::parts::{counted, grew, listed, shown, was};
use super::{hidden, rate, search, streams, weather};
use crate::human::{bits, bytes, count, mean, micros, per_second, percent, plural, seconds, times};
use torr_gauge::threshold::measured_us;
use torr_gauge::verdict::{Fact, LoadUnit, SearchGoal, Unit};

/// Returns a fact as a clause, without a full stop.
pub fn fact(fact: &Fact) -> String {
    use Fact as F;
    match fact {
        // The machines.
        F::ServerCpu { used_cores, cores, busiest_thread } => {
            let of = cores.map(|cores| format!(" of {cores}"));
            let busiest = busiest_thread.map(|share| format!(", its busiest thread {} of one", percent(share)));
            format!("the server used {used_cores:.2}{} CPUs{}", shown(of), shown(busiest))
        }
        F::ServerNotVisible => "the server's processes are not visible from here: they may run on another machine, in a container, or as another user".into(),
        F::SaturatedThreads { threads: 0, .. } => "no thread of the server was saturated".into(),
        F::SaturatedThreads { threads, cores } => {
            let on = cores.map(|cores| format!(" on {}", plural(cores as u64, "CPU")));
            format!("{} of the server {} saturated{}", plural(*threads as u64, "thread"), was(*threads), shown(on))
        }
        F::MachineCpu { share, cores: Some(cores) } => {
            format!("the machine used {} of its {}", percent(*share), plural(*cores as u64, "CPU"))
        }
        F::MachineCpu { share, cores: None } => format!("the machine used {} of its CPU", percent(*share)),
        F::CpuShares { share, others_share } => {
            let (share, others) = (percent(*share), percent(*others_share));
            format!("the server, its peers and Torr used {share} of the CPU, other programs {others}")
        }
        F::OtherPrograms { programs } => format!("busiest other programs: {}", listed(programs)),
        F::Steal { share } => {
            format!("the hypervisor gave {} of this machine's CPU time to other machines", percent(*share))
        }
        F::CpuSplit { server_cores, generator_cores, cores, machine_share } => format!(
            "the server used {server_cores:.2} of {}, Torr {generator_cores:.2}; the machine used {}",
            plural(*cores as u64, "CPU"),
            percent(*machine_share)
        ),
        F::Throttled { quota_cores, share, cgroup, cores } => {
            let cgroup = cgroup.as_ref().map(|cgroup| format!(" of cgroup {cgroup}"));
            let of = cores.map(|cores| format!(" of {cores}"));
            format!(
                "the quota{} allows {quota_cores:.2}{} CPUs; the kernel throttled the server in {} of the periods",
                shown(cgroup),
                shown(of),
                percent(*share)
            )
        }
        F::ThrottledAt { rps, share } => {
            format!("at {} the kernel throttled the server in {} of the periods", per_second(*rps), percent(*share))
        }
        F::IdleWorkers { workers } => hidden::idle_workers(*workers),
        F::ThreadsStopped { share } => hidden::threads_stopped(*share),
        F::StopsEachPeriod { period_s, stopped_s } => hidden::stops(*period_s, *stopped_s),
        F::LightLoadStops { request, rps, target_rps } => hidden::light_load_stops(*request, *rps, *target_rps),
        F::BehindProxy { services } => {
            format!("this verdict is about {}, to which the server forwards requests", services.join(", "))
        }
        F::OthersChanged { least_share, most_share } => weather::others_changed(*least_share, *most_share),
        // The load generator.
        F::GeneratorBusy { share, cores } => {
            let cores = cores.map(|cores| format!("; all threads used {cores:.2} CPUs"));
            format!("Torr's busiest thread was busy {} of the time{}", percent(*share), shown(cores))
        }
        F::GeneratorCpu { share } => format!("Torr used {} of the CPU that its threads can use", percent(*share)),
        F::GeneratorStarved { share } => {
            format!("Torr's threads waited for a CPU {} of the time", percent(*share))
        }
        F::GeneratorThrottled { quota_cores, share } => {
            format!("Torr's own quota of {quota_cores:.2} CPUs throttled it in {} of the periods", percent(*share))
        }
        F::GeneratorCost { us } => format!("a request cost Torr {} of CPU time", seconds(us / 1e6)),
        F::AnotherThread { speedup } => format!("with another generator thread, {}", grew(speedup)),
        F::MoreAgents { from, to, speedup } => format!("with {to} instead of {from} agents, {}", grew(speedup)),
        F::NullService { null_rps, rps } => format!(
            "a service that does nothing reaches {} here, the target {}",
            per_second(*null_rps),
            per_second(*rps)
        ),
        F::NullConnecting { kept_rps, connecting_rps } => format!(
            "a service that does nothing reaches {} here with keep-alive, {} without",
            per_second(*kept_rps),
            per_second(*connecting_rps)
        ),
        F::AgentLost { agent, share, why } => {
            let why = why.as_ref().map(|why| format!(": {}", early_end(why)));
            format!("agent {agent} with {} of the load was lost{}", percent(*share), shown(why))
        }
        F::AgentEnded { agent, share } => {
            format!("agent {agent} with {} of the load ended before the run did", percent(*share))
        }
        F::AgentLimit { agent } => format!("agent {agent} was itself the limit"),
        F::FiguresUntil { at_s } => format!("the figures cover the first {}, with all agents", seconds(*at_s)),
        // The load and its throughput.
        F::Responses { responses } => format!("the run had only {}", plural(*responses, "response")),
        F::Events { events } => format!("the run had only {}", plural(*events, "event")),
        F::Done { unit, done, due, unfinished } => {
            let open = match (unit, unfinished) {
                (_, 0) => String::new(),
                (Unit::Request, open) => format!("; {} still in flight at the end", count(*open)),
                (Unit::Session, open) => format!("; {} still in progress at the end", count(*open)),
            };
            let what = if *unit == Unit::Request { "got a response" } else { "ended" };
            format!("{} of {} that were due {what}{open}", count(*done), counted(*unit, *due))
        }
        F::FewFailed { failed } => format!("{} failed, too few to matter", plural(*failed, "request")),
        F::RateCapped { .. }
        | F::RateLostWithAgent { .. }
        | F::RateMissed { .. }
        | F::RateLate { .. }
        | F::RateAbandoned { .. } => rate::fact(fact),
        F::Pauses { mean_s } => {
            format!("each connection paused for {} between its requests (--think)", seconds(*mean_s))
        }
        F::Utilisation { connections, rps, share } => format!(
            "{} reach {}, {} of what they would reach if no request waited for another",
            plural(*connections as u64, "connection"),
            per_second(*rps),
            percent(*share)
        ),
        F::ThroughputAtMost { rps } => format!("the highest throughput was {}", per_second(*rps)),
        F::NoGoodResponse => "no load got a response without an error".into(),
        F::GrowthPerDoubling { factor, up_to } => {
            format!("throughput grew {} with each doubling up to {up_to} connections", times(*factor))
        }
        F::ThroughputGrew { factor, from, to } => {
            format!("throughput grew {} from {from} to {to} connections", times(*factor))
        }
        F::ThroughputFlat { rps, from, to: Some(to) } => {
            format!("throughput stayed at {} from {from} to {to} connections", per_second(*rps))
        }
        F::ThroughputFlat { rps, from, to: None } => {
            format!("throughput reached {} with {}", per_second(*rps), plural(*from as u64, "connection"))
        }
        F::ThroughputSame { few_rps, few, rps, connections } => format!(
            "throughput is {} with {}, and {} with {connections}",
            per_second(*few_rps),
            plural(*few as u64, "connection"),
            per_second(*rps)
        ),
        F::Experiments { made } if made.is_empty() => "no experiment was completed".into(),
        F::Experiments { made } => {
            format!("completed experiments: {}", made.iter().map(experiment).collect::<Vec<_>>().join("; "))
        }
        // Response times.
        F::RequestAlone { seconds: alone } => format!("one request at a time takes {}", seconds(*alone)),
        F::ResponseTimes { p50_s, p99_s: Some(p99_s), .. } => {
            format!("half of the responses took at most {}, 99% at most {}", seconds(*p50_s), seconds(*p99_s))
        }
        F::ResponseTimes { p50_s, p99_s: None, max_s } => {
            format!("half of the responses took at most {}, the longest {}", seconds(*p50_s), seconds(*max_s))
        }
        F::FirstEvents { .. }
        | F::FirstEventWaits { .. }
        | F::Gaps { .. }
        | F::LongestSilence { .. }
        | F::OpenStreams { .. }
        | F::NoGap { .. }
        | F::StreamAlone { .. }
        | F::EventsAtMost { .. }
        | F::EventsFlat { .. }
        | F::EventsGrew { .. }
        | F::StreamsPace { .. }
        | F::StreamsAtATime { .. }
        | F::StreamsCapped { .. }
        | F::NullStreams { .. } => streams::fact(fact),
        F::Quartiles { p50_s, p75_s } => format!(
            "half of the responses took at most {}, three quarters at most {}",
            seconds(*p50_s),
            seconds(*p75_s)
        ),
        F::LongestResponse { seconds: longest } => format!("the longest response time was {}", seconds(*longest)),
        F::Tail { p50_s, p99_s } => hidden::tail(*p50_s, *p99_s),
        F::Stalls { stalls, longest_s, share } => hidden::stalls(*stalls, *longest_s, *share),
        F::Silence { from_s, to_s } => {
            format!("no response from {} to {} of the run", seconds(*from_s), seconds(*to_s))
        }
        F::NoQueueing { median_s, min_s } => format!(
            "the median response time, {}, is close to the shortest, {}: requests do not wait for each other",
            seconds(*median_s),
            seconds(*min_s)
        ),
        F::ConnectionsBound { min_s, connections, rps } => format!(
            "at the shortest response time, {}, {} cannot exceed {}",
            seconds(*min_s),
            plural(*connections as u64, "connection"),
            per_second(*rps)
        ),
        F::Waiting { mean_s, min_s, at_a_time } => format!(
            "the mean response time was {}, the shortest {}; if each request took the shortest, {} would be in service at a \
             time",
            seconds(*mean_s),
            seconds(*min_s),
            mean(*at_a_time)
        ),
        F::AtATime { connections, rps, alone_s, at_a_time, range } => format!(
            "throughput stops growing at {} and {}; at {} per request, {} requests are in service at a time",
            plural(*connections as u64, "connection"),
            per_second(*rps),
            seconds(*alone_s),
            weather::measured(*at_a_time, *range)
        ),
        F::LessThanOne { alone_s, at_a_time } => format!(
            "one request at a time takes {}, so one connection could reach {}: only {} requests are in service at a time",
            seconds(*alone_s),
            per_second(1.0 / alone_s),
            mean(*at_a_time)
        ),
        F::Burst { pause_s, responses, expected } => hidden::burst(*pause_s, *responses, *expected),
        F::Handler { request, seconds: took, target_s } => {
            format!(
                "{} takes {}, the target {}: the difference is the handler's work",
                cheap(*request),
                seconds(*took),
                seconds(*target_s)
            )
        }
        F::LightLoad { connections, request, response_s, alone_s, waits } => {
            let response = response_s.map_or("got no response".into(), |s| format!("took {}", seconds(s)));
            let so = if *waits { "other requests wait too" } else { "other requests do not wait" };
            format!(
                "beside {}, {} {response}, alone {}: {so}",
                plural(*connections as u64, "connection"),
                cheap(*request),
                seconds(*alone_s)
            )
        }
        F::InService { requests, of } => match of - requests {
            others if others >= 0.5 => format!(
                "the server processed {requests:.0} of {of:.0} requests at a time; it had not read the other {others:.0} from \
                 their sockets"
            ),
            _ => format!("the server had read all {of:.0} requests from their sockets"),
        },
        F::ThreadsBlocked { threads } => format!(
            "{} of the server {} blocked with a request most of the time",
            plural(*threads as u64, "thread"),
            was(*threads)
        ),
        F::ThreadsTakeTurns { threads } => {
            format!("{threads} threads of the server ran in turns: each waited, as for a lock, most of the time")
        }
        // The network.
        F::RoundTrip { rtt_s, response_s } => format!(
            "the round trip takes {} of the {} of a request ({})",
            seconds(*rtt_s),
            seconds(*response_s),
            percent(rtt_s / response_s)
        ),
        F::RoundTripShare { share } => format!("the round trip takes {} of a request's time", percent(*share)),
        F::RoundTripGrew { from_s, to_s } => {
            format!("the round-trip time grew from {} to {}: packets queue", seconds(*from_s), seconds(*to_s))
        }
        F::RoundTripBound { connections, rps } => format!(
            "{} cannot exceed {} at this round-trip time",
            plural(*connections as u64, "connection"),
            per_second(*rps)
        ),
        F::Traffic { received_bytes_per_s, sent_bytes_per_s } => {
            format!("Torr received {} and sent {}", bits(*received_bytes_per_s), bits(*sent_bytes_per_s))
        }
        F::ConnectDelay { seconds: delay } => {
            format!("connecting, which involves only the kernels, took {} longer under load", seconds(*delay))
        }
        F::SmallerResponses { bytes: small, usual_bytes, speedup } => {
            format!("with {} per response instead of {}, {}", bytes(*small), bytes(*usual_bytes), grew(speedup))
        }
        F::PacedResponses { share } => {
            format!("{} of a single response's time passes between its first and its last byte", percent(*share))
        }
        F::ConnectionRate { bytes_per_s, rtt_s } => {
            format!("each connection receives {}/s, at a round-trip time of {}", bytes(*bytes_per_s), seconds(*rtt_s))
        }
        F::DelayedAcks { per_response } => {
            format!("the kernel delayed {} acknowledgements per response", mean(*per_response))
        }
        F::DelayedAckTimes => "each response waits up to 40 ms for a delayed acknowledgement".into(),
        F::AckedAtOnce { before_s, after_s, speedup } => {
            let speedup = speedup.as_ref().map(|speedup| format!(": {}", grew(speedup)));
            format!(
                "with immediate acknowledgements a single response took {} instead of {}{}",
                seconds(*after_s),
                seconds(*before_s),
                shown(speedup)
            )
        }
        F::LoadAckedAtOnce { speedup } => format!("with immediate acknowledgements of your load, {}", grew(speedup)),
        // Connections.
        F::ConnectionsOpened { per_response, offered } => {
            let offered = match offered {
                None => "",
                Some(true) => ", although Torr offered keep-alive",
                Some(false) => ", as you requested",
            };
            format!("{per_response:.2} connections were opened for each response{offered}")
        }
        F::ConnectionEach => {
            "each request opens a connection, which costs both sides more than the request itself".into()
        }
        F::ClosedByServer { closed, opened, responses_each } => format!(
            "the server closed {} of {} connections after {} responses each, although Torr offered keep-alive",
            count(*closed),
            count(*opened),
            mean(*responses_each)
        ),
        F::ClosesAfter { requests } => {
            format!("the server closes each connection after about {}", plural(*requests, "request"))
        }
        F::ClosesIdle { seconds: idle } => {
            format!("the server closes a connection after {} without a request", seconds(*idle))
        }
        F::IdleCloses { requests, idle_s } => idle_closes(*requests, idle_s.map(seconds)),
        F::KeepAliveDepends { condition: is, kept } => {
            let verb = if *kept { "keeps connections alive only" } else { "does not keep connections alive" };
            format!("the server {verb} {}", condition(*is))
        }
        F::NotKept => "the server does not keep connections alive".into(),
        F::KeptIf { condition: is, speedup } => {
            format!("the server keeps connections alive {}: {}", condition(*is), grew(speedup))
        }
        F::KeepAliveOffered { speedup } => format!("with keep-alive, {}", grew(speedup)),
        F::KeepAliveNotOffered { speedup } => format!("when Torr did not offer keep-alive, {}", grew(speedup)),
        F::ConnectingCost { share, of_machine: true } => {
            format!("opening connections took {} of the machine's CPU time", percent(*share))
        }
        F::ConnectingCost { share, of_machine: false } => {
            format!("connecting took {} of a single request's time", percent(*share))
        }
        F::HandshakeShare { share, of_single } => {
            let whole = if *of_single { "a single request's time" } else { "the response times" };
            format!("TLS handshakes took {} of {whole}", percent(*share))
        }
        F::Resumed { resumed: 0, handshakes } => {
            format!("none of {} resumed an earlier session", plural(*handshakes, "handshake"))
        }
        F::Resumed { resumed, handshakes } => {
            format!("{} of {} resumed an earlier session", count(*resumed), plural(*handshakes, "handshake"))
        }
        F::NoPort { requests } => format!("{} found no free local port", plural(*requests, "request")),
        F::Opened { connections, responses } => format!(
            "{} {} opened for {}",
            plural(*connections, "connection"),
            was(*connections as usize),
            plural(*responses, "response")
        ),
        F::FewerPorts { failed: None, .. } => "after that, no connection found a free port".into(),
        F::FewerPorts { connections, failed: Some(0) } => {
            format!("with {connections} kept-alive connections, each request found a port")
        }
        F::FewerPorts { connections, failed: Some(failed) } => {
            format!("with {connections} kept-alive connections, {} found no port", plural(*failed, "request"))
        }
        F::LateConnections { count: late, share, few, few_share } => format!(
            "{} ({}) failed or took over a second, after which the kernel sends a SYN again; with {} at a time, {}",
            plural(*late, "connection"),
            percent(*share),
            plural(*few as u64, "connection"),
            percent(*few_share)
        ),
        F::SlowestConnect { seconds: slowest } => {
            format!("connecting took up to {}; the kernel sends a SYN again after a second", seconds(*slowest))
        }
        F::ConnectTail { p50_s, p99_s } => hidden::connect_tail(*p50_s, *p99_s),
        F::ListenOverflows { count: overflows, few } => {
            let few = few.map(|(few, n)| format!(", {} with {}", count(n), plural(few as u64, "connection")));
            format!("the kernel counted {} of the accept queue{}", plural(*overflows, "overflow"), shown(few))
        }
        F::AcceptQueue { backlog, queued } => {
            format!("the accept queue has room for {}; {queued} were queued", plural(*backlog, "connection"))
        }
        F::PeerQueueFull { peer, backlog, queued } => hidden::peer_queue(peer, *backlog, *queued),
        F::PortsTaken { time_wait, ports } => hidden::ports_taken(*time_wait, *ports),
        F::NothingInService => "hardly any accepted request waited: the service was idle".into(),
        F::UnevenConnections { rps, usual_rps } => format!(
            "in one experiment, one worker of the server got nearly all connections, and throughput was {} instead of {}; \
             SO_REUSEPORT (nginx: 'listen ... reuseport') spreads them",
            per_second(*rps),
            per_second(*usual_rps)
        ),
        F::NotConnected { why } => why.clone(),
        F::OpenFiles { process, pid, open, limit } => {
            format!("{process} ({pid}) has {} of at most {} files open", count(*open), count(*limit))
        }
        // Failures.
        F::Failed { failed, started } => {
            let share = percent(*failed as f64 / (*started).max(1) as f64);
            format!("{} of {} failed ({share})", count(*failed), plural(*started, "request"))
        }
        F::FailedShare { share, alone_share } => format!(
            "{} of the requests under your load failed, and {} of those sent one at a time",
            percent(*share),
            percent(*alone_share)
        ),
        F::ErrorsBegin { clean, connections, share } => hidden::errors_begin(*clean, *connections, *share),
        F::ErrorsStay { connections, share } => hidden::errors_stay(*connections, *share),
        F::Cause { count: n, kind, what } => format!("{} x {kind}: {what}", count(*n)),
        F::StatusCount { status, count: n } => format!("{} with status {status}", plural(*n, "response")),
        F::Unanswered { requests, seconds: waited } => {
            let waited = waited.map(|waited| format!(" for up to {}", seconds(waited)));
            format!("{} waited for a response{}", plural(*requests, "request"), shown(waited))
        }
        F::AloneUnanswered => "a single request got no response either".into(),
        F::TimedOut { requests, timeout_s } => {
            format!("{} had no response within {}", plural(*requests, "request"), seconds(*timeout_s))
        }
        F::SessionsFailed { failed, started } => {
            let share = percent(*failed as f64 / (*started).max(1) as f64);
            format!("{} of {} failed ({share})", count(*failed), plural(*started, "session"))
        }
        F::SessionsEnded { sessions, entry, file, line } => {
            format!("{} ended at '{entry}' ({file}:{line})", plural(*sessions, "session"))
        }
        F::Refused { share, status, alone_share } => {
            let alone = alone_share.map(|share| format!("; of single requests, {}", percent(share)));
            format!(
                "the service refused {} of the requests, most with status {status}{}",
                percent(*share),
                shown(alone)
            )
        }
        F::Accepted { rps } => format!("the service accepted {}", per_second(*rps)),
        F::Offered { offered_rps, accepted_rps, twice_rps } => format!(
            "the service accepted {1} of {0} offered, and {2} of twice as many",
            per_second(*offered_rps),
            per_second(*accepted_rps),
            per_second(*twice_rps)
        ),
        F::TwoAddresses { factor, apart: true } => {
            format!("two client addresses get {} as much as one: each address has its own limit", times(*factor))
        }
        F::TwoAddresses { apart: false, .. } => {
            "two client addresses get no more than one: the limit is shared by all clients".into()
        }
        // The search for a limit.
        F::RateFailed { rps: None, why } => failed("one request at a time", why.as_deref()),
        F::RateFailed { rps: Some(rps), why } => failed(&search::load(*rps, LoadUnit::Requests), why.as_deref()),
        F::StreamsFailed { streams, why } => {
            failed(&search::load(*streams as f64, LoadUnit::Streams), why.as_deref())
        }
        F::NoResponse => "the service responded to no request".into(),
        F::StatusShare { status, share } => format!("{} of the requests got status {status}", percent(*share)),
        F::CauseShare { kind, what, share } => {
            format!("{} of the requests failed ({kind}: {what})", percent(*share))
        }
        F::ObjectiveMissed { objective, measured: Some(measured) } => {
            let name = objective.split(['<', ' ']).next().unwrap_or_default();
            format!("{name} was {}", measured_us(measured).map_or_else(|| measured.clone(), micros))
        }
        F::ObjectiveMissed { objective, measured: None } => {
            format!("too many of the few responses were slower than {objective} allows")
        }
        F::FellBehind { share } => {
            format!("the service fell behind: it responded to {} of the requests that were due", percent(*share))
        }
        F::QueueGrew { seconds_per_s } => {
            format!("response times grew by {} each second: requests queue", seconds(*seconds_per_s))
        }
        F::EndedEarly => "the step failed so clearly that Torr ended it early".into(),
        F::ClientFailures { what } => format!("requests failed on Torr's side: {what}"),
        F::SendLag { p99_s } => format!("Torr sent 1% of the requests at least {} late", seconds(*p99_s)),
        F::GeneratorMostCpu => "Torr used most of the machine's CPU".into(),
        F::MaxRateReached => "--max-rate allows no more".into(),
        F::GeneratorLimit { why } => {
            let why = why.as_deref().map(|why| format!(" ({})", self::fact(why)));
            format!("above this rate Torr was the limit{}, so the service may sustain more", shown(why))
        }
        F::ConnectionLimit => "all of --max-connections were busy, and more of them would raise throughput".into(),
        F::SearchEnded { interrupted, before } => {
            let ended = if *interrupted { "the search was interrupted" } else { "the budget was used up" };
            let before = match before {
                SearchGoal::AnyRate => "a rate was tried",
                SearchGoal::SustainedRate => "a rate was sustained",
                SearchGoal::FailedRate => "a rate failed",
                SearchGoal::CloserLimit => "the limit was known more closely",
            };
            format!("{ended} before {before}")
        }
        F::OtherRates { .. } | F::OtherStreams { .. } => search::other_loads(fact),
        F::DisturbedSteps { others_share, stolen_share, steps, failed, of } => {
            let who = search::others(*others_share, *stolen_share);
            let failed = if *failed == 0 { "none".into() } else { failed.to_string() };
            format!("{who}, in {steps} of {of} steps; {failed} of these failed")
        }
        F::Overload(effect) => search::overload(effect),
        F::ConnectionsNeeded { connections, busy, waiting, all } => {
            search::connections(*connections, *busy, *waiting, *all)
        }
        F::Knee { connections } => format!(
            "throughput stops growing at about {}: fewer leave the service idle, more of them mostly wait",
            plural(*connections, "connection")
        ),
        F::ScalabilityLaw { good: false, off, .. } => {
            format!("the universal scalability law does not fit: the nearest curve is {} off", percent(*off))
        }
        F::ScalabilityLaw { lambda, sigma, kappa, r2, off, peak, .. } => {
            let peak = peak.map(|peak| format!("; most at {}", plural(peak.round().max(1.0) as u64, "connection")));
            let law = search::law(*lambda, *sigma, *kappa);
            format!("{law}, {} off, R2 {r2:.3}{}", percent(*off), shown(peak))
        }
        // Proxies and what stands behind the server.
        F::WithoutProxy { service, addresses, speedup } => match service {
            Some(service) => format!(
                "without the proxy, {service} at {} gives the same responses: {}",
                addresses.join(", "),
                grew(speedup)
            ),
            None => format!("without the proxy, {}", grew(speedup)),
        },
        F::ProxyCpu { proxy, cores, saturated_threads } => {
            let proxy = proxy.as_ref().map(|proxy| format!(", {proxy},"));
            let threads = saturated_threads.map(|threads| match threads {
                0 => "; no thread of it was saturated".to_owned(),
                _ => format!("; {} of it {} saturated", plural(threads as u64, "thread"), was(threads)),
            });
            format!("the proxy{} used {cores:.2} CPUs{}", shown(proxy), shown(threads))
        }
        F::BehindCpu { service, cores } => format!("{service}, behind the proxy, used {cores:.2} CPUs"),
        F::UpstreamOpens { peer: Some(peer), per_request } => {
            format!("{per_request:.2} connections to {peer} were opened for each request")
        }
        F::UpstreamOpens { peer: None, per_request } => {
            format!("{per_request:.2} connections were opened on this machine for each request, besides Torr's")
        }
        F::UpstreamKept { share } => {
            format!("only {} of the proxy's connections to the service were still open a moment later", percent(*share))
        }
        F::PeerConnections { peer, mean: open, most } => {
            format!("the server had {} connections to {peer}, at most {most}", mean(*open))
        }
        F::PeerInFlight { peer, mean: busy, connections } => format!(
            "{} of {} connections to {peer} had a request in flight on average",
            mean(*busy),
            mean(*connections)
        ),
        F::PeerCpu { peer, cores, server_cores } => {
            format!("{peer} used {cores:.2} CPUs, the server {server_cores:.2}")
        }
        F::PeerThrottled { peer } => format!("{peer} was throttled by its own CPU quota"),
        F::Messages { peer, per_request } => {
            format!("the server sent {per_request:.0} messages to {peer} for each request")
        }
        F::TripTime { alone_s, each_s } => {
            format!("one request at a time takes {}: {} for each message", seconds(*alone_s), seconds(*each_s))
        }
        F::BytesFetched { peer, bytes: fetched, response_bytes } => format!(
            "{peer} sent {} for each request, and the client received {}",
            bytes(*fetched),
            bytes(*response_bytes)
        ),
        F::RelayAlone { through_s, direct_s } => behind::relay_alone(*through_s, *direct_s),
        F::WorkerProcesses { name, processes } => behind::worker_processes(name, *processes),
        F::PeerQueue { peer, accepted, unread, queued } => behind::peer_queue(peer, *accepted, *unread, *queued),
        F::PoolerConnections { pooler, database, mean, most, in_flight } => {
            behind::pooler_connections([pooler, database], *mean, *most, *in_flight)
        }
        // What requests wait for.
        F::WaitsIn { what, threads } => behind::waits_in(*what, *threads),
        F::HeldDuringCall { database, connections, querying, peer, in_flight } => {
            behind::held_during_call([database, peer], *connections, *querying, *in_flight)
        }
        F::NamesResolved { lookups } => behind::names_resolved(*lookups),
        F::LoopBlocked { requests } => behind::loop_blocked(*requests),
        F::OtherNamespace => behind::OTHER_NAMESPACE.into(),
    }
}

/// Returns that a load failed, and why.
fn failed(what: &str, why: Option<&Fact>) -> String {
    let why = why.map(|why| format!(": {}", fact(why)));
    format!("{what} failed{}", shown(why))
}

/// Returns that requests met the close of an idle connection. `after` says how long that was idle, if it is known.
pub(crate) fn idle_closes(requests: u64, after: Option<String>) -> String {
    let after = shown(after.map(|after| format!(" after {after}")));
    let requests = format!("{} {}", plural(requests, "request"), was(requests as usize));
    format!("the server closes idle connections{after}; {requests} sent during such a close")
}
