//! What settings of a load do not go with each other, and what they mean nothing for.

use crate::load::Load;
use crate::setting::{Fleet, Part, Setting};
use crate::settings::{SETTINGS, find};
use crate::values::Stages;
use std::fmt;
use thiserror::Error;
use torr_press::Arrivals;

/// What makes the requests of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// The settings, for one URL or several.
    Requests,
    /// Hurl files.
    Sessions,
    /// A script.
    Script,
}

/// A mistake in a load.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{line}")]
pub struct Mistake {
    /// The names of the settings that do not go together, or of the one that lacks another or means nothing.
    pub settings: Vec<&'static str>,
    /// What is wrong, in one line.
    pub line: String,
    /// Whether the help of the flags tells more.
    pub is_in_help: bool,
}

impl Mistake {
    fn pair(one: &'static str, other: &'static str, line: impl fmt::Display) -> Self {
        Self { settings: vec![one, other], line: line.to_string(), is_in_help: false }
    }
}

/// The mistake of arrivals that no log gives.
pub const NO_TIMES: &str = "--arrivals logged needs --log: the times are those of its requests";

/// The exclusions that depend on values, or on what makes the requests.
const EXCLUSIONS: [fn(&Load, Work) -> Option<Mistake>; 9] =
    [max_rate, length, connections, arrivals, in_flight, think, follow, head, grpc];

impl Load {
    /// Finds what does not go together, what is missing, and what means nothing.
    ///
    /// # Errors
    /// For the first mistake.
    pub fn check(&self, work: Work) -> Result<(), Mistake> {
        let found = self.excluded(work).or_else(|| self.missing(work)).or_else(|| self.meaningless(work));
        found.map_or(Ok(()), Err)
    }

    /// Returns the first two settings that do not go together.
    pub fn excluded(&self, work: Work) -> Option<Mistake> {
        let of_pair = |one: &'static Setting| {
            let other = one.excludes.iter().find(|other| self.has(other))?;
            let line = format!("{} cannot be used with --{other}", one.flag());
            Some(Mistake { is_in_help: true, ..Mistake::pair(one.name, other, line) })
        };
        let pair = self.settings().find_map(of_pair);
        pair.or_else(|| EXCLUSIONS.iter().find_map(|exclusion| exclusion(self, work)))
    }

    /// Returns the first setting that needs another one.
    fn missing(&self, work: Work) -> Option<Mistake> {
        let has_needs = |setting: &&Setting| work == Work::Requests || !setting.needs_for_urls;
        self.settings().filter(has_needs).find_map(|setting| {
            let lacks =
                setting.needs.iter().find(|names| !names.iter().any(|name| self.has(name) || self.implies(name)))?;
            let flags: Vec<_> = lacks.iter().map(|name| format!("--{name}")).collect();
            let line = format!("{} needs {}", setting.flag(), flags.join(" or "));
            Some(Mistake { settings: vec![setting.name], line, is_in_help: true })
        })
    }

    /// Returns the first setting that means nothing for what is loaded.
    fn meaningless(&self, work: Work) -> Option<Mistake> {
        self.settings().find_map(|setting| {
            let (what, hint) = match work {
                Work::Requests => ("a URL", setting.not_for_urls),
                Work::Sessions => ("sessions", setting.not_for_sessions),
                Work::Script => ("scripts", setting.not_for_scripts),
            };
            let line = format!("{} is not supported for {what} ({})", setting.flag(), hint?);
            Some(Mistake { settings: vec![setting.name], line, is_in_help: false })
        })
    }

    /// Finds a setting that means something of one machine.
    ///
    /// # Errors
    /// For the first such setting.
    pub fn check_for_fleet(&self) -> Result<(), Mistake> {
        self.refuse(|fleet| fleet == Fleet::OneMachine)
    }

    /// Demands that all settings are those that agents have.
    ///
    /// # Errors
    /// For the first other setting.
    pub fn check_travelled(&self) -> Result<(), Mistake> {
        self.refuse(|fleet| fleet != Fleet::Travels)
    }

    fn refuse(&self, is_refused: impl Fn(Fleet) -> bool) -> Result<(), Mistake> {
        let refused = self.settings().find(|setting| is_refused(setting.fleet));
        refused.map_or(Ok(()), |setting| {
            let line = format!("{} is not supported in a fleet: it belongs to one machine", setting.flag());
            Err(Mistake { settings: vec![setting.name], line, is_in_help: false })
        })
    }

    /// Returns the load as agents have it: without what the coordinator carries out.
    #[must_use]
    pub fn travelling(&self) -> Self {
        self.without(|given| given.setting().is_some_and(|setting| setting.fleet == Fleet::Stays))
    }

    fn settings(&self) -> impl Iterator<Item = &'static Setting> {
        SETTINGS.iter().filter(|setting| setting.is_in(self))
    }

    /// Returns whether a setting is given.
    pub fn has(&self, name: &str) -> bool {
        find(name).is_some_and(|setting| setting.is_in(self))
    }

    /// Returns whether the target has the effect of a setting: calls of gRPC go over HTTP/2, and may return streams.
    fn implies(&self, name: &str) -> bool {
        self.is_grpc() && ["http2-prior-knowledge", "sse"].contains(&name)
    }

    /// Returns the name of the given setting that makes an open loop.
    fn opener(&self) -> Option<&'static str> {
        self.pace.is_open().then_some(if self.pace.rate.is_some() { "rate" } else { "stages" })
    }
}

fn max_rate(load: &Load, _: Work) -> Option<Mistake> {
    load.pace.max_rate.as_ref()?;
    let opener = load.opener()?;
    let line = format!("an open loop already has a fixed rate: drop --max-rate or --{opener}");
    Some(Mistake::pair("max-rate", opener, line))
}

/// A run cannot be longer than its stages.
fn length(load: &Load, _: Work) -> Option<Mistake> {
    let length = load.pace.stages.as_deref().map(Stages::length)?;
    let duration = load.pace.duration.as_deref().filter(|duration| **duration > length)?;
    let [duration, length] = [*duration, length].map(humantime::format_duration);
    let line = format!("-d {duration} is longer than --stages, which end after {length}: drop -d, or add a stage");
    Some(Mistake::pair("duration", "stages", line))
}

/// Stages of connections leave nothing to say of the connections, and are a closed loop.
fn connections(load: &Load, _: Work) -> Option<Mistake> {
    let pace = &load.pace;
    let is_uneven = pace.arrivals.as_deref().is_some_and(|arrivals| *arrivals != Arrivals::Constant);
    let given = [
        ("connections", pace.connections.is_some()),
        ("max-connections", pace.max_connections.is_some()),
        ("coalesce", pace.coalesce.is_some()),
        ("patience", pace.patience.is_some()),
        ("arrivals", is_uneven),
    ];
    let (name, _) = given.iter().find(|(_, is_given)| *is_given).filter(|_| pace.has_stages_of_connections())?;
    let flag = if *name == "connections" { "-c".to_owned() } else { format!("--{name}") };
    let why = "these stages give the number of connections of a closed loop";
    Some(Mistake::pair(name, "stages", format!("{flag} cannot be used with --stages of connections: {why}")))
}

/// The times of a log are those of its requests.
fn arrivals(load: &Load, _: Work) -> Option<Mistake> {
    let is_logged = load.pace.arrivals.as_deref() == Some(&Arrivals::Logged);
    (is_logged && load.request.log.is_none()).then(|| Mistake::pair("arrivals", "log", NO_TIMES))
}

/// Connections that come and go have one request in flight.
fn in_flight(load: &Load, _: Work) -> Option<Mistake> {
    let several = |depth: &Option<crate::Parsed<u16>>| depth.as_deref().is_some_and(|depth| *depth > 1);
    let given = [("pipeline", &load.pace.pipeline), ("streams", &load.transport.http2.streams)];
    let (name, _) = given.iter().find(|(_, depth)| several(depth)).filter(|_| load.pace.has_stages_of_connections())?;
    let line = format!("--{name} cannot be used with --stages of connections: each has one request in flight");
    Some(Mistake::pair(name, "stages", line))
}

fn think(load: &Load, work: Work) -> Option<Mistake> {
    load.pace.think.as_ref().filter(|_| work != Work::Sessions)?;
    let opener = load.opener()?;
    let line = "--think needs a closed loop: in an open loop requests have scheduled times";
    Some(Mistake::pair("think", opener, line))
}

fn follow(load: &Load, _: Work) -> Option<Mistake> {
    let http2 = &load.transport.http2;
    let name = if http2.http2 { "http2" } else { "http2-prior-knowledge" };
    let of = |name, is_on| if is_on { Some(name) } else { None };
    let flag = of("follow", load.checks.follow).or_else(|| of("digest", load.request.digest))?;
    http2.is_on().then(|| Mistake::pair(flag, name, format!("--{flag} needs HTTP/1.1")))
}

/// The settings that mean nothing for a call of gRPC, whose request is fixed but for its metadata and its messages.
const NOT_OF_GRPC: [&str; 25] = [
    "log",
    "digest",
    "request",
    "data-urlencode",
    "form",
    "get",
    "head",
    "url-query",
    "range",
    "referer",
    "compressed",
    "urls",
    "script",
    "pipeline",
    "http2",
    "http2-prior-knowledge",
    "http3",
    "alt-svc",
    "expect-status",
    "expect-header",
    "expect-body",
    "follow",
    "sse",
    "tokens",
    "until",
];

/// A `grpc://` URL has settings of its own, and not all of those of HTTP.
fn grpc(load: &Load, work: Work) -> Option<Mistake> {
    let one = |name, line| Some(Mistake { settings: vec![name], line, is_in_help: true });
    if load.is_grpc() {
        let name = NOT_OF_GRPC.into_iter().find(|name| load.has(name))?;
        return one(name, format!("--{name} is not supported for grpc:// URLs"));
    }
    let setting = load.settings().find(|setting| setting.part == Part::Grpc && work == Work::Requests)?;
    one(setting.name, format!("{} needs a URL that begins with grpc:// or grpcs://", setting.flag()))
}

fn head(load: &Load, _: Work) -> Option<Mistake> {
    let request = &load.request;
    let of_data = request.data.first().map(|(kind, _)| kind.name());
    let name = of_data.unwrap_or(if request.form.is_empty() { "json-body" } else { "form" });
    let line = "--head sends no body: add --get to send the data in the query";
    (request.head && request.has_body()).then(|| Mistake::pair("head", name, line))
}
