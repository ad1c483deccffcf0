//! The load that the user means and what may be varied, as facts that rules read.

use crate::agents::Agents;
use crate::assignment::Assignment;
use crate::experiment::{Experiment, Length, Load, Request, Warmup};
use crate::invocation::Invocation;
use crate::thresholds::TIMEOUT_SHARE;
use serde::{Deserialize, Serialize};
use torr_gauge::machine::cpus;
use torr_gauge::verdict::ExperimentId;
use torr_net::Address;
use torr_press::Plan;
use torr_signals::leads_to_namespace;

/// The highest rate of a schedule, in requests per second.
const HIGHEST_RATE: f64 = 1e9;

/// What the events of streams are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamKind {
    /// Server-sent events. Other requests to the server have plain responses.
    Events,
    /// Messages of gRPC or of a WebSocket.
    Messages,
}

impl StreamKind {
    /// Returns the streams of a plan whose responses are such. Sessions have other responses as well.
    pub fn of(plan: &Plan) -> Option<Self> {
        let is_of_messages = plan.protocol.grpc.is_some() || plan.work.is_websocket();
        let is_of_streams = plan.events.is_some() && plan.work.users().is_none();
        is_of_streams.then_some(if is_of_messages { Self::Messages } else { Self::Events })
    }
}

/// The setting of a diagnosis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Setting {
    /// Connections that the user means to load the service with, at most as many as are allowed.
    pub connections: usize,
    /// Connections that are never exceeded.
    pub max_connections: usize,
    /// Requests in flight on each connection.
    pub depth: u16,
    /// The streams of events that responses are. `None` if they are no streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamKind>,
    /// Threads of the generator.
    pub threads: usize,
    /// CPUs that the generator may use.
    pub generator_cpus: usize,
    /// The agents of a fleet that the load comes from. `None` if it comes from this program, which alone can send any bytes to any
    /// address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<usize>,
    /// Whether connections are used again.
    pub keep_alive: bool,
    /// Whether requests go over HTTP/2.
    pub http2: bool,
    /// Whether requests go over TLS.
    pub tls: bool,
    /// Whether the request changes nothing, as far as its method tells (RFC 9110, section 9.2.1).
    pub is_read_only: bool,
    /// Whether the client accepts compressed content.
    pub accepts_compressed: bool,
    /// Whether the path has placeholders, which only the request of the user fills in.
    pub has_placeholders: bool,
    /// Whether the load can come from two addresses: all of 127.0.0.0/8 is this machine (RFC 1122, section 3.2.1.3).
    pub has_second_source: bool,
    /// Whether the service is reached over TCP and HTTP/1.1, so that the flags of the user mean the same for another address.
    pub is_plain: bool,
    /// Whether the server's machine is seen, and is the generator's.
    pub same_machine: bool,
    /// Whether there is a service that does nothing to compare with: it speaks neither TLS nor HTTP/2.
    pub has_null: bool,
    /// Requests per second that are never exceeded.
    pub max_rate: Option<f64>,
    /// The budget of the diagnosis in seconds.
    pub budget_s: f64,
    /// After how many seconds a request of the user has failed.
    pub timeout_s: f64,
    /// The URL.
    pub url: String,
    /// Whether the service is in another network namespace of this machine, which is not visible for a lack of rights.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden_namespace: bool,
    /// The user's command line, for the commands that are printed. Not recorded.
    #[serde(skip)]
    pub commands: Invocation,
}

impl Setting {
    /// Returns the setting of an assignment. `sees_here` tells whether the server's machine is seen and is this one.
    pub fn of(assignment: &Assignment, sees_here: bool, has_null: bool, agents: Option<&dyn Agents>) -> Self {
        let Assignment { plan, options, .. } = assignment;
        let tcp: Vec<_> = plan.addresses.iter().filter_map(Address::tcp).collect();
        let connections = plan.connections.min(assignment.max_connections);
        let loopback = plan
            .addresses
            .iter()
            .all(|address| matches!(address.tcp(), Some(to) if to.is_ipv4() && to.ip().is_loopback()));
        Self {
            connections,
            max_connections: assignment.max_connections,
            depth: plan.depth,
            streams: StreamKind::of(plan),
            threads: plan.threads.clamp(1, connections),
            generator_cpus: match agents {
                Some(agents) => agents.cpus(),
                None => cpus(),
            },
            agents: agents.map(Agents::count),
            keep_alive: plan.keep_alive,
            http2: plan.protocol.multiplexes(),
            tls: plan.target.tls,
            // A session may change anything, and no other request stands for it.
            is_read_only: plan.work.users().is_none()
                && !plan.work.is_websocket()
                && options.body.is_none()
                && options.method.as_deref().is_none_or(|method| ["GET", "HEAD"].contains(&method)),
            accepts_compressed: options.compressed,
            has_placeholders: plan.work.users().is_some() || plan.target.path().contains('{'),
            has_second_source: loopback && plan.sources.is_empty() && connections >= 2 && agents.is_none(),
            is_plain: !plan.protocol.multiplexes() && plan.addresses.iter().all(|address| address.tcp().is_some()),
            same_machine: sees_here && agents.is_none_or(Agents::are_here),
            has_null: has_null && !plan.work.is_websocket() && !plan.protocol.multiplexes() && plan.depth == 1,
            max_rate: assignment.max_rate,
            budget_s: assignment.budget.as_secs_f64(),
            timeout_s: plan.timeout.as_secs_f64(),
            url: plan.target.url.clone(),
            hidden_namespace: !sees_here && leads_to_namespace(&tcp),
            commands: assignment.again.clone(),
        }
    }

    /// Returns how long a request of an experiment may take, in seconds: no longer than a share of the budget.
    pub fn experiment_timeout_s(&self) -> f64 {
        self.timeout_s.min(self.budget_s * TIMEOUT_SHARE)
    }

    /// Returns the load of the user for so many seconds of a budget of a minute.
    pub fn user(&self, id: ExperimentId, seconds: f64) -> Experiment {
        self.with_connections(self.connections, id, seconds)
    }

    /// Returns the load of the user with another number of connections.
    pub fn with_connections(&self, connections: usize, id: ExperimentId, seconds: f64) -> Experiment {
        Experiment {
            id,
            load: Load {
                connections,
                streams_each: self.streams.map(|_| self.depth),
                single: false,
                threads: self.threads,
                agents: None,
                request: Request::Target,
                keep_alive: self.keep_alive,
                rate: None,
                requests: None,
                think: None,
                interval: None,
                quick_ack: None,
                two_sources: false,
                direct: vec![],
            },
            length: Length::Responses(seconds),
            // A stream that begins in a warm-up might never end after it, and neither its first event nor its failure would be seen.
            warmup: if self.streams.is_some() { Warmup::None } else { Warmup::Settled },
            rest: None,
        }
    }

    /// Returns one request at a time, all of which count.
    pub fn single(&self, id: ExperimentId, length: Length) -> Experiment {
        let experiment = self.with_connections(1, id, 0.0).with(|load| load.single = true);
        Experiment { length, warmup: Warmup::None, ..experiment }
    }

    /// Returns an open loop of the user's requests, if its rate is allowed.
    pub fn open(&self, per_second: f64, id: ExperimentId, seconds: f64) -> Option<Experiment> {
        let allowed =
            self.max_rate.is_none_or(|most| per_second <= most) && per_second > 0.0 && per_second <= HIGHEST_RATE;
        allowed.then(|| self.user(id, seconds).with(|load| load.rate = Some(per_second)))
    }
}
