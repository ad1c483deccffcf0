//! The sentence of each advice.

use super::experiment::condition;
use super::hypothesis::proof;
use crate::human::{plural, seconds};
use torr_gauge::verdict::Advice;

/// Returns a recommendation as a command to the reader.
pub fn advice(advice: &Advice) -> String {
    use Advice as A;
    match advice {
        A::CompareConnections { fewer, more } => {
            return format!("test with half and with twice the connections ({fewer} and {more}) and compare");
        }
        A::TestConnections { connections } => {
            return format!("test with more connections; start with {connections}");
        }
        A::TestStreams { connections } => {
            return format!("test with more streams, and see whether gaps stay as they are; start with -c {connections}");
        }
        A::MoreBudgetForStreams { seconds } => {
            return format!("events are rare here: allow more time to compare loads, with --budget {seconds:.0}s");
        }
        A::Prove { factor } => return proof(*factor),
        A::LetItEnd { seconds: most } => return format!("let it finish: it takes at most {}", seconds(*most)),
        A::TryOne { command: Some(command) } => return format!("check that the service responds at all: {command}"),
        A::StartServer { command } => {
            return format!(
                "before you run the command below, start the server again, in another terminal: {command}"
            );
        }
        A::ExportSecrets { variables } => {
            let text: Vec<_> = variables.iter().map(|(name, what)| format!("${name} ({what})")).collect();
            return format!(
                "secrets are not printed: before you run the command below, export what you gave as {}",
                text.join(", ")
            );
        }
        A::DropCondition { condition: is } => {
            return format!("remove the condition: the server keeps connections alive only {}", condition(*is));
        }
        A::MoreWorkers { workers } => return format!("run {}, one for each CPU", plural(*workers as u64, "worker")),
        A::MoreBlockingWorkers { cores: Some(cores) } => {
            return format!("run more workers: where workers block, 4 to 8 for each of the {cores} CPUs");
        }
        A::FindPool { size } => return format!("look for a semaphore or a pool of {size:.0}"),
        A::LargerPool { connections } => {
            return format!("enlarge the pool beyond {connections:.0} connections, as far as the database allows");
        }
        A::LookAtSession { file } => {
            return format!("look at one session: 'torr once {file}' with the same variables shows each response");
        }
        A::LargerPooler { connections } => {
            return format!(
                "let the pooler open more than {connections:.0} connections to the database (pgbouncer: default_pool_size), as \
                 far as the database allows"
            );
        }
        A::RaiseMaxConnections { connections } => {
            return format!("allow more connections: --max-connections {connections}");
        }
        A::RaiseBudget { seconds } => return format!("allow more time: --budget {seconds:.0}s"),
        A::SearchAgain { factor, noise } => {
            let so = if *noise { "an earlier failure was noise" } else { "the limit is higher" };
            return format!("search again with a longer --budget: the service met its objectives at {factor}x the limit, so {so}");
        }
        A::LowerObjectives => "set lower objectives with --slo",
        A::ShedLoad => "refuse excess requests early: limit the requests in flight, and respond 503 above that",
        A::BoundQueue => "bound the service's queue, and drop requests that have waited too long",
        A::FindLimit => "find the highest rate that the service sustains with 'torr limit'",
        A::Diagnose => "run 'torr doctor', which varies the load",
        A::TestBelowLimit => "test below the limit with -r, or exempt the load generator from it",
        A::RaiseRate => "raise the rate until the times to the first event grow, or gaps do",
        A::LongerRun => "run longer, or with more streams",
        A::MoreRequests => "send more requests with -n, or load for some seconds with -d",
        A::KeepAgents => "run again with agents that stay until the end",
        A::StopOthers => "stop the other programs and run again",
        A::MoreBudget => "raise --budget: no time was left for further experiments",
        A::LongerBudget => "raise --budget to at least six times --timeout",
        A::RaiseMaxRate => "raise --max-rate to find the limit, if the service may get more load",
        A::WatchServer => {
            "run 'torr watch' on the server's machine and pass its address with --watch, to observe the server's processes"
        }
        A::ComparePaths => "compare paths that return the same data with 'torr doctor --paths', to see what the ORM costs",
        A::TryOne { command: None } => "check that the service responds at all: test with -c 1 -n 1",
        A::MoreThreads => "give the load generator more threads with -t, more CPU, or its own machine",
        A::MoreCpu => "give the load generator more CPU, or its own machine",
        A::MoreAgents => "start agents on more machines, or on machines with more CPU",
        A::OtherMachine => "run the load generator on another machine, where it takes no CPU from the server",
        A::RunBelowElsewhere => {
            "run the command below on another machine, or where the load generator has more CPU"
        }
        A::KeepConnectionsOrSources => "keep connections alive, or add source addresses with --bind",
        A::WidenPortRange => {
            "widen net.ipv4.ip_local_port_range: each source address has one port per connection, and a closed one stays \
             in use for a minute"
        }
        A::LoadFromNearer => "load the service from nearer, or raise the connections until throughput stops growing",
        A::ServeFromNearer => "serve users from nearer: with a cache or a replica at their end",
        A::SendLess => "send less: compress bodies, serve images from elsewhere; or get a faster link",
        A::RaiseConnectionRate => "raise the per-connection rate limit (nginx: limit_rate)",
        A::WriteOnce => {
            "write header section and content with one call (writev, or a buffer), or set TCP_NODELAY on the server's sockets"
        }
        A::KeepConnections => "keep connections alive, so that a handshake is paid for once",
        A::KeepInClients => "keep connections alive in the clients, or in a proxy in front of the service",
        A::TurnKeepAliveOn => {
            "turn keep-alive on in the server, or find what turns it off: HTTP/1.0, a limit of requests, a proxy"
        }
        A::RaiseKeepAliveTimeout => {
            "raise the server's keep-alive time-out above the pauses between requests of a connection, or use fewer \
             connections with -c"
        }
        A::ResumeSessions => {
            "let clients resume TLS sessions: tickets (RFC 8446, section 4.6.1) save the certificate's signature"
        }
        A::EcdsaCertificate => "use an ECDSA certificate: its signatures cost a fraction of those of an RSA key",
        A::RaiseBacklog => "raise the backlog that the service passes to listen(), and net.core.somaxconn, which caps it",
        A::AcceptFaster => "accept in a loop of its own, or more than one connection at a time",
        A::CheaperRequests => "make requests cheaper, or give the server more CPU",
        A::CheaperEvents => {
            "make events cheaper: serialise each once for all streams, send several with one write; or give the server more CPU"
        }
        A::FindHeldEvents => {
            "look at what all streams wait for: a lock, a queue, or the source that their events come from"
        }
        A::Locate => "run 'torr doctor' with this load: it names the function, the lock or the statement",
        A::Profile => "profile the server under this load to see where its CPU time goes",
        A::MoreBlockingWorkers { cores: None } => "run more workers: where workers block, 4 to 8 for each CPU",
        A::StillMoreWorkers => {
            "run more workers, as far as memory and the services behind them allow; or let handlers wait asynchronously"
        }
        A::StreamsWithoutWorkers => {
            "let the handlers of streams wait asynchronously, or run a worker for each stream: an open stream keeps its worker"
        }
        A::UnblockLoop => {
            "move the blocking call out of the event loop: use its asynchronous form, or a pool of 4 to 8 threads for each CPU"
        }
        A::SpreadConnections => {
            "let the kernel spread connections over the workers: set SO_REUSEPORT (nginx: 'listen ... reuseport'), and turn \
             'multi_accept' and 'accept_mutex' off"
        }
        A::RaiseQuota => "raise the quota (cpu.max, CPUQuota=, a container's CPU limit), or make requests cheaper",
        A::FindQuota => {
            "look at the CPU limit of the container, the unit or the virtual machine (cpu.max, CPUQuota=), and raise it"
        }
        A::FindStops => {
            "find what stops the processes: SIGSTOP, a debugger, a frozen or checkpointed container, a snapshot"
        }
        A::ShortenLock => {
            "hold the lock for less time: move slow work (I/O, a query, a call) out of it, or use a lock for each key"
        }
        A::ComputeOutsideLock => {
            "compute outside the lock, use a lock for each key, or a lock that lets readers in together"
        }
        A::ResolveLess => {
            "resolve names less often: keep connections to the other service, cache its address, or use a name server nearby"
        }
        A::LookAsRoot => {
            "run Torr as root, or with CAP_SYS_PTRACE and CAP_SYS_ADMIN: it can then look into that network namespace"
        }
        A::RaiseLimit => "raise the limit, or exempt the load generator from it to measure the service itself",
        A::CheaperProxy => {
            "make the proxy cheaper: less compression, fewer rules, no log line for each request, fewer copies of bodies; or \
             give it its own CPU"
        }
        A::KeepUpstreamConnections => {
            "keep connections to the upstream alive: in nginx 'keepalive' in the upstream block, 'proxy_http_version 1.1' and \
             an empty Connection header"
        }
        A::ProxyLimits => {
            "look for the proxy's limits: connections to the upstream (maxconn), workers, compression, its log"
        }
        A::SlowQueries => "look at the slowest queries (EXPLAIN), and add missing indexes",
        A::SlowCommands => "look at the slowest commands (SLOWLOG GET in Redis), and avoid those that scan many keys",
        A::FewerCommands => "send fewer commands: fetch several keys with one (MGET, a pipeline)",
        A::CacheReads => "query less: cache what is read often",
        A::FasterQueries => "make the queries faster: each connection then processes more of them",
        A::OneQuery => "load what belongs together with one query: a join, eager loading, 'IN (...)'",
        A::FewerRows => {
            "fetch only the columns and rows that the response needs, and compare with the raw driver on the same query"
        }
        A::ReleaseBeforeCall => {
            "return the connection to the pool before the request waits for another service"
        }
        A::FixFailures => "fix the failures first, or lower the load with -c until they stop",
        A::FixFirst => "fix the failures first: look at a response with 'torr once', and at the service's log",
        A::LogUnderLoad => "find what fails under load: look at the service's log at the time of this run",
        A::LookAtResponse => {
            "look at a response with 'torr once', and check the URL: the service, or a proxy in front of it, refuses these requests"
        }
        A::FollowRedirects => "load the URL that the redirects lead to, or drop --follow",
        A::LogOfSilence => {
            "look at the service's log at that time: a garbage collection, a checkpoint, a restart, a failover"
        }
        A::LogOf503 => "look at what the service logs with its 503 responses",
    }
    .to_owned()
}
