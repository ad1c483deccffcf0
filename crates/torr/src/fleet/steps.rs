//! Runs of one load over the same agents of a fleet, one after another: the steps of a search, the experiments of a diagnosis.

use super::args::{FleetOf, failed};
use super::{lines, load};
use crate::base::Base;
use crate::exit::CliError;
use crate::output;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_doctor::Request;
use torr_fleet::message::IfLost;
use torr_fleet::{FleetError, FleetName, Members, RunEvent, RunSettings, Watch};
use torr_gauge::collector::{Measurement, Progress};
use torr_load::{FilesByPath, Load};
use torr_plan::target::{RunFile, TargetKind};
use torr_press::{Pace, Plan, SoFar, Timestamps};
use torr_report::human::plural;
use torr_report::sentence::fleet::shortcomings;

/// How long agents are waited for whose number is not known.
const WAIT: Duration = Duration::from_secs(2);
/// How long agents are waited for whose number is known.
const WAIT_FOR_KNOWN: Duration = Duration::from_secs(15);

/// What each run sends, beside how hard.
pub struct StepLoad<'a> {
    pub load: Load,
    pub base: &'a Base,
    /// The files that the load names.
    pub files: FilesByPath,
    /// The threads of each agent; `None` for as many as it has CPUs.
    pub threads: Option<usize>,
}

/// Runs of one load over a fleet.
pub struct Steps {
    settings: RunSettings,
    names: Vec<FleetName>,
    /// The number of CPUs of all agents together.
    pub cpus: usize,
    /// Whether all agents run on this machine.
    pub are_here: bool,
    /// What is sent and the way there, of which each step changes a part.
    load: Load,
}

/// One run.
pub struct Step<'s> {
    pub plan: &'s Plan,
    /// The change of the user's request.
    pub request: Request,
    /// Which of the agents.
    pub agents: Range<usize>,
}

impl Steps {
    /// Refuses a load that no fleet can send step by step, before anything of it runs.
    ///
    /// # Errors
    /// For a script of k6.
    pub fn check(load: &Load) -> Result<(), CliError> {
        match TargetKind::of(&load.targets)? {
            TargetKind::K6(path) => Err(crate::k6::only_runs(&path)),
            _ => Ok(()),
        }
    }

    /// Finds the agents of a fleet for a load, and tells the user how many.
    ///
    /// # Errors
    /// If there are too few of them, or the load is of one machine.
    pub fn of(fleet: &FleetOf, load: StepLoad<'_>) -> Result<Self, CliError> {
        let StepLoad { mut load, base, files, threads } = load;
        // What does not travel is a mistake, whatever the agents are.
        load.check_for_fleet().map_err(CliError::usage)?;
        let kind = TargetKind::of(&load.targets)?;
        load = load.travelling();
        if let Some(threads) = threads {
            load.set("threads", &threads.to_string()).map_err(CliError::Usage)?;
        }
        match kind {
            TargetKind::Url(url) => load.targets = url.as_deref().map(load::with_scheme).into_iter().collect(),
            TargetKind::Sessions(files) => load.targets = files.iter().map(RunFile::word).collect(),
            TargetKind::Script(path) => {
                load.script = Some(path);
                load.targets = vec![base.plan.target.whole_as_user(base.plan.target.path())];
            }
            TargetKind::K6(path) => return Err(crate::k6::only_runs(&path)),
            TargetKind::Plan(_) => return Err(load::no_load()),
        }
        let sent = load::with_files(&load, files, &base.given)?;
        let nats = fleet.nats.connection();
        let (members, wait) = match fleet.agents {
            Some(agents) => (Members::Count(agents), WAIT_FOR_KNOWN),
            None => (Members::All, WAIT),
        };
        let agents = torr_fleet::fleet::find(&nats, &fleet.name, &members, wait).map_err(failed)?;
        let names: Vec<_> = agents.iter().map(|agent| agent.agent.clone()).collect();
        let listed = names.iter().map(FleetName::as_str).collect::<Vec<_>>().join(", ");
        let counted = plural(names.len() as u64, "agent");
        output::note(&format!("load from {counted} of fleet {}: {listed}", fleet.name));
        let here = torr_fleet::agent::machine();
        Ok(Self {
            settings: RunSettings {
                nats,
                fleet: fleet.name.clone(),
                members,
                wait: WAIT_FOR_KNOWN,
                if_lost: IfLost::Stop,
                load: sent,
            },
            cpus: agents.iter().map(|agent| agent.cores).sum(),
            are_here: agents.iter().all(|agent| !here.is_empty() && agent.machine == here),
            names,
            load,
        })
    }

    /// Returns the number of agents, at least 1.
    pub fn agents(&self) -> usize {
        self.names.len()
    }

    /// Runs a step. One with fewer connections or requests than there are agents takes fewer of them.
    ///
    /// # Errors
    /// If the fleet does not come together, or an agent is lost.
    pub fn run(
        &self,
        step: &Step<'_>,
        stop: &AtomicBool,
        watch: &mut dyn FnMut(&Progress),
    ) -> Result<Measurement, FleetError> {
        let Step { plan, request, agents } = step;
        let most = plan.requests.map_or(plan.connections, |requests| plan.connections.min(requests as usize));
        let names = &self.names[agents.start..agents.end.min(agents.start + most.max(1))];
        let mut settings = self.settings.clone();
        settings.members = Members::Named(names.to_vec());
        let usage = |error| FleetError::Usage(error);
        let mut load = changed(&self.load, plan, *request).map_err(usage)?;
        set_pace(&mut load, plan).map_err(usage)?;
        settings.load.load = load::json(&load).map_err(|error| usage(error.into_line()))?;
        let run = torr_fleet::coordinator::run(&settings, plan, stop, &mut Screen(watch))?;
        match run.result.fleet.as_ref().map(shortcomings) {
            Some(lines) if !lines.is_empty() => Err(FleetError::NoResult(lines.join("; "))),
            _ => Ok(run),
        }
    }
}

/// Returns the user's load with a change of its request.
///
/// # Errors
/// For a request that no load makes.
fn changed(load: &Load, plan: &Plan, request: Request) -> Result<Load, String> {
    let mut load = load.clone();
    // A connection for each request has one stream, and no flag for it.
    load.transport.http2.streams = None;
    if plan.protocol.multiplexes() && plan.keep_alive {
        load.set("streams", &plan.depth.to_string())?;
    }
    let sent = &mut load.request;
    match request {
        Request::Target => {}
        Request::Head => (sent.method, sent.head) = (None, true),
        Request::Gzip => sent.compressed = true,
        Request::ExplicitKeepAlive => sent.headers.push("Connection: keep-alive".into()),
        Request::Identity => {
            sent.compressed = false;
            sent.headers.push("Accept-Encoding: identity".into());
        }
        Request::Absent => {
            (sent.method, sent.head, sent.get, sent.no_template) = (None, false, false, false);
            sent.data.clear();
            sent.json_body.clear();
            sent.form.clear();
            load.script = None;
            // The path is another one; user and password of the URL remain.
            load.targets = vec![plan.target.whole_as_user(plan.target.path())];
        }
        Request::Http10 | Request::WithoutHost | Request::Null(_) => {
            return Err("agents support only requests that a load's settings describe".into());
        }
    }
    Ok(load)
}

/// Gives a load the pace and the length of a plan.
fn set_pace(load: &mut Load, plan: &Plan) -> Result<(), String> {
    let nanos = |time: Duration| format!("{}ns", time.as_nanos());
    match &plan.pace {
        Pace::Open(schedule, arrivals) => {
            load.set("rate", &schedule.peak().to_string())?;
            load.set("max-connections", &plan.connections.to_string())?;
            load.set("arrivals", arrivals.name())?;
            load.set("coalesce", &nanos(plan.coalesce))?;
            plan.patience.map_or(Ok(()), |patience| load.set("patience", &nanos(patience)))?;
        }
        Pace::Fed(_) => return Err("the requests of a log stay on one machine".into()),
        Pace::Closed { max_rate, .. } => {
            load.set("connections", &plan.connections.to_string())?;
            max_rate.map_or(Ok(()), |rate| load.set("max-rate", &rate.to_string()))?;
        }
    }
    let clock = match plan.timestamps {
        Timestamps::Auto => "auto",
        Timestamps::Kernel => "kernel",
        Timestamps::User => "user",
    };
    load.set("timestamps", clock)?;
    plan.duration.map_or(Ok(()), |length| load.set("duration", &nanos(length)))?;
    plan.requests.map_or(Ok(()), |requests| load.set("requests", &requests.to_string()))?;
    if !plan.warmup.is_zero() {
        load.set("warmup", &nanos(plan.warmup))?;
    }
    if let Some(think) = &plan.think {
        let (least, most) = (nanos(*think.range.start()), nanos(*think.range.end()));
        load.set("think", &format!("{least}..{most}"))?;
    }
    load.pace.no_keepalive = !plan.keep_alive;
    load.pace.quick_ack = plan.quick_ack;
    load.set("timeout", &nanos(plan.timeout))
}

/// What is seen of a step: its progress, and which agent is lost.
struct Screen<'w>(&'w mut dyn FnMut(&Progress));

impl Watch for Screen<'_> {
    // Each step would name its run.
    fn begins(&mut self, _: &str) {}

    fn event(&mut self, event: RunEvent<'_>) {
        output::note(&lines::event(event));
    }

    fn progress(&mut self, progress: &Progress, _: &SoFar<'_>) {
        (self.0)(progress);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_press::{Arrivals, Requests, Schedule, Target, ThinkTime};

    fn plan() -> Plan {
        let target = Target::parse("http://a.test/").expect("it is a URL");
        let request = Requests::get(&target, true).expect("it can be sent");
        Plan { duration: Some(Duration::from_millis(1500)), ..Plan::new(target, Vec::new(), request) }
    }

    #[test]
    fn a_step_has_the_pace_of_its_plan() {
        let paced = |plan: &Plan| {
            let mut load = Load::default();
            set_pace(&mut load, plan).expect("a load can say it");
            load
        };
        let plan = plan();
        let words = |load: &Load| load.given().iter().map(torr_load::Given::word).collect::<Vec<_>>();
        let closed = words(&paced(&plan));
        assert_eq!(
            closed,
            ["--connections=100", "--duration=1500000000ns", "--timestamps=auto", "--timeout=10000000000ns"]
        );
        let pace = Pace::Open(Schedule::constant(12.5).expect("a rate"), Arrivals::Poisson);
        let think = Some(ThinkTime { range: Duration::from_millis(1)..=Duration::from_millis(2) });
        let coalesce = Duration::from_micros(300);
        let open = Plan { pace, requests: Some(9), think, warmup: Duration::from_secs(1), coalesce, ..plan };
        let open = Plan {
            patience: Some(Duration::from_millis(40)),
            keep_alive: false,
            quick_ack: true,
            timestamps: Timestamps::User,
            ..open
        };
        let load = paced(&open);
        let again = torr_plan::url::with_load(&load, Plan { keep_alive: load.keep_alive(), ..self::plan() });
        let again = again.expect("a plan can be made of it");
        assert_eq!(format!("{:?}", (&again.pace, again.connections)), format!("{:?}", (&open.pace, open.connections)));
        assert_eq!((again.duration, again.requests, again.warmup), (open.duration, open.requests, open.warmup));
        assert_eq!((again.coalesce, again.timestamps, again.timeout), (open.coalesce, open.timestamps, open.timeout));
        assert_eq!((again.think, again.keep_alive, again.quick_ack), (open.think, open.keep_alive, open.quick_ack));
        assert_eq!(again.patience, open.patience);
    }

    #[test]
    fn a_change_of_the_request_is_a_change_of_its_settings() {
        let mut load = Load::default();
        for (name, value) in [("request", "PUT"), ("data", "a"), ("compressed", ""), ("target", "http://a.test/b")] {
            load.set(name, value).expect("it is a setting");
        }
        let words = |request| {
            let changed = changed(&load, &plan(), request).expect("a load can say it");
            changed.given().iter().map(torr_load::Given::word).collect::<Vec<_>>()
        };
        assert_eq!(words(Request::Target), ["http://a.test/b", "--request=PUT", "--data=a", "--compressed"]);
        assert_eq!(words(Request::Absent), ["http://a.test/", "--compressed"]);
        assert_eq!(words(Request::Head), ["http://a.test/b", "--data=a", "--head", "--compressed"]);
        let identity = ["http://a.test/b", "--header=Accept-Encoding: identity", "--request=PUT", "--data=a"];
        assert_eq!(words(Request::Identity), identity);
        assert_eq!(words(Request::Gzip), words(Request::Target));
        assert!(changed(&load, &plan(), Request::Http10).is_err(), "it would be sent as HTTP/1.1");
    }

    #[test]
    fn streams_go_with_kept_connections_only() {
        let streams = |keep_alive| {
            let protocol = torr_press::ProtocolConfig { http2: true, http3: false, tls: None, grpc: None };
            let plan = Plan { protocol, depth: 4, keep_alive, ..plan() };
            let mut load = Load::default();
            load.set("streams", "8").expect("it is a setting");
            let load = changed(&load, &plan, Request::Target).expect("a load can say it");
            load.given().iter().map(torr_load::Given::word).collect::<Vec<_>>()
        };
        assert_eq!((streams(true), streams(false)), (vec!["--streams=4".to_owned()], vec![]));
    }
}
