//! Runs of one load over the same agents of a fleet, one after another: the steps of a search, the experiments of a diagnosis.

use super::args::{FleetOf, failed};
use super::words::travelling;
use crate::base::Base;
use crate::exit::CliError;
use crate::flags::file_source::FilesByPath;
use crate::flags::given::GivenFlag;
use crate::output;
use crate::target::{RunFile, TargetKind};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_doctor::Request;
use torr_fleet::message::IfLost;
use torr_fleet::{FleetError, FleetName, Load, Members, RunSettings, Watch};
use torr_gauge::collector::{Measurement, Progress};
use torr_gauge::redact;
use torr_press::{Arrivals, Pace, Plan, SoFar};

/// How long agents are waited for whose number is not known.
const WAIT: Duration = Duration::from_secs(2);
/// How long agents are waited for whose number is known.
const WAIT_FOR_KNOWN: Duration = Duration::from_secs(15);

/// What each run sends, beside how hard.
pub struct StepLoad<'a> {
    pub target: Option<&'a str>,
    /// The given flags of the request and the way there.
    pub flags: &'a [GivenFlag],
    pub base: &'a Base,
    /// The files that the flags name.
    pub files: FilesByPath,
    /// The file of records.
    pub records: Option<&'a Path>,
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
    flags: Vec<GivenFlag>,
    target: Vec<String>,
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
    /// Finds the agents of a fleet for a load, and tells the user how many.
    ///
    /// # Errors
    /// If there are too few of them, or the load is of one machine.
    pub fn of(fleet: &FleetOf, load: StepLoad<'_>) -> Result<Self, CliError> {
        let StepLoad { target, flags, base, files, records, threads } = load;
        // What does not travel is a mistake, whatever the agents are.
        travelling(flags)?;
        let words = threads.map(|threads| format!("--threads={threads}")).into_iter().collect();
        let targets: Vec<_> = target.map(str::to_owned).into_iter().collect();
        let target = match TargetKind::of(&targets)? {
            TargetKind::Url(url) => url.into_iter().map(|url| super::load::with_scheme(&url)).collect(),
            TargetKind::Sessions(files) => {
                std::iter::once("--".to_owned()).chain(files.iter().map(RunFile::word)).collect()
            }
            TargetKind::Script(path) => {
                vec![format!("--script={}", path.display()), base.plan.target.whole_as_user(base.plan.target.path())]
            }
            TargetKind::Plan(_) => return Err(super::load::no_load()),
        };
        let load = Load {
            words,
            files,
            records: records.map(|path| path.to_string_lossy().into_owned()),
            variables: super::load::to_json(&base.given.values)?,
            secrets: base.given.secrets.clone(),
        };
        let nats = fleet.nats.connection();
        let (members, wait) = match fleet.agents {
            Some(agents) => (Members::Count(agents), WAIT_FOR_KNOWN),
            None => (Members::All, WAIT),
        };
        let agents = torr_fleet::fleet::find(&nats, &fleet.name, &members, wait).map_err(failed)?;
        let names: Vec<_> = agents.iter().map(|agent| agent.agent.clone()).collect();
        let listed = names.iter().map(FleetName::as_str).collect::<Vec<_>>().join(", ");
        let counted = if names.len() == 1 { "1 agent".to_owned() } else { format!("{} agents", names.len()) };
        output::note(&format!("the load comes from {counted} of the fleet {}: {listed}", fleet.name));
        let here = torr_fleet::agent::machine();
        Ok(Self {
            settings: RunSettings {
                nats,
                fleet: fleet.name.clone(),
                members,
                wait: WAIT_FOR_KNOWN,
                if_lost: IfLost::Stop,
                load,
            },
            cpus: agents.iter().map(|agent| agent.cores).sum(),
            are_here: agents.iter().all(|agent| !here.is_empty() && agent.machine == here),
            names,
            flags: flags.to_vec(),
            target,
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
        let words = &mut settings.load.words;
        words.extend(load_words(plan));
        words.extend(request_words(&self.flags, plan, *request)?);
        match request {
            // The path is another one; user and password of the URL remain.
            Request::Absent => words.push(plan.target.whole_as_user(plan.target.path())),
            _ => words.extend(self.target.clone()),
        }
        let run = torr_fleet::coordinator::run(&settings, plan, stop, &mut Screen(watch))?;
        match run.result.fleet.as_ref().map(|fleet| fleet.shortcomings()) {
            Some(shortcomings) if !shortcomings.is_empty() => Err(FleetError::NoResult(shortcomings.join("; "))),
            _ => Ok(run),
        }
    }
}

/// Returns the user's flags of the request and the way there, with a change.
///
/// # Errors
/// For a request that no flags make.
fn request_words(flags: &[GivenFlag], plan: &Plan, request: Request) -> Result<Vec<String>, FleetError> {
    let mut without = BTreeSet::from(["streams"]);
    let streams = plan.protocol.http2.then(|| format!("--streams={}", plan.depth));
    let mut more = None;
    match request {
        Request::Target => {}
        Request::Head => {
            without.extend(["method", "head"]);
            more = Some("--head");
        }
        Request::Gzip => {
            without.insert("compressed");
            more = Some("--compressed");
        }
        Request::ExplicitKeepAlive => more = Some("--header=Connection: keep-alive"),
        Request::Identity => {
            without.insert("compressed");
            more = Some("--header=Accept-Encoding: identity");
        }
        Request::Absent => without.extend(BODY_AND_METHOD),
        Request::Http10 | Request::WithoutHost | Request::Null(_) => {
            return Err(FleetError::Usage("agents send only what a command line can name".into()));
        }
    }
    let flags: Vec<_> = flags.iter().filter(|flag| !without.contains(flag.id.as_str())).cloned().collect();
    let mut words = travelling(&flags).map_err(|error| FleetError::Usage(error.into_line()))?;
    words.extend(streams);
    words.extend(more.map(str::to_owned));
    Ok(words)
}

/// The flags that make a request's method and body.
const BODY_AND_METHOD: [&str; 11] = [
    "method",
    "head",
    "get",
    "data",
    "data_raw",
    "data_binary",
    "data_urlencode",
    "json_body",
    "form",
    "no_template",
    "script",
];

/// Returns the flags of a plan's load and length.
fn load_words(plan: &Plan) -> Vec<String> {
    let nanos = |time: Duration| format!("{}ns", time.as_nanos());
    let mut words = match &plan.pace {
        Pace::Open(schedule, arrivals) => vec![
            format!("--rate={}", schedule.peak()),
            format!("--max-connections={}", plan.connections),
            format!("--arrivals={}", if *arrivals == Arrivals::Poisson { "poisson" } else { "constant" }),
        ],
        Pace::Closed { max_rate, .. } => {
            let most = max_rate.map(|rate| format!("--max-rate={rate}"));
            std::iter::once(format!("--connections={}", plan.connections)).chain(most).collect()
        }
    };
    words.extend(plan.duration.map(|length| format!("--duration={}", nanos(length))));
    words.extend(plan.requests.map(|requests| format!("--requests={requests}")));
    words.extend((!plan.warmup.is_zero()).then(|| format!("--warmup={}", nanos(plan.warmup))));
    let think = plan.think.as_ref().map(|think| (nanos(*think.range.start()), nanos(*think.range.end())));
    words.extend(think.map(|(least, most)| format!("--think={least}..{most}")));
    words.extend((!plan.keep_alive).then(|| "--no-keepalive".to_owned()));
    words.extend(plan.quick_ack.then(|| "--quick-ack".to_owned()));
    words.push(format!("--timeout={}", nanos(plan.timeout)));
    words
}

/// What is seen of a step: its progress, and which agent is lost.
struct Screen<'w>(&'w mut dyn FnMut(&Progress));

impl Watch for Screen<'_> {
    // Each step would name its run.
    fn begins(&mut self, _: &str) {}

    fn note(&mut self, line: &str) {
        output::note(&redact::line(line));
    }

    fn progress(&mut self, progress: &Progress, _: &SoFar<'_>) {
        (self.0)(progress);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_press::{Requests, Schedule, Target, ThinkTime};

    fn plan() -> Plan {
        let target = Target::parse("http://a.test/").expect("it is a URL");
        let request = Requests::get(&target, true).expect("it can be sent");
        Plan { duration: Some(Duration::from_millis(1500)), ..Plan::new(target, Vec::new(), request) }
    }

    #[test]
    fn a_step_is_words_of_a_command_line() {
        let plan = plan();
        assert_eq!(load_words(&plan), ["--connections=100", "--duration=1500000000ns", "--timeout=10000000000ns"]);
        let think = Some(ThinkTime { range: Duration::from_millis(1)..=Duration::from_millis(2) });
        let paused = Plan { pace: Pace::closed(Some(70.5)), think, quick_ack: true, ..plan.clone() };
        let words = load_words(&paused);
        for word in ["--max-rate=70.5", "--think=1000000ns..2000000ns", "--quick-ack"] {
            assert!(words.iter().any(|has| has == word), "{words:?}");
        }
        let pace = Pace::Open(Schedule::constant(12.5).expect("it is a rate"), Arrivals::Poisson);
        let open = Plan { pace, requests: Some(9), warmup: Duration::from_secs(1), keep_alive: false, ..plan };
        let words = load_words(&open);
        assert_eq!(words[..3], ["--rate=12.5", "--max-connections=100", "--arrivals=poisson"]);
        for word in ["--requests=9", "--warmup=1000000000ns", "--no-keepalive"] {
            assert!(words.iter().any(|has| has == word), "{words:?}");
        }
    }

    #[test]
    fn a_change_of_the_request_is_a_change_of_its_flags() {
        let flag = |id: &str, name: &str, value: Option<&str>| GivenFlag {
            id: id.into(),
            name: name.into(),
            value: value.map(str::to_owned),
        };
        let flags = [
            flag("method", "--method", Some("PUT")),
            flag("data", "--data", Some("a")),
            flag("compressed", "--compressed", None),
            flag("streams", "--streams", Some("9")),
        ];
        let words = |request| request_words(&flags, &plan(), request).expect("a command line can name it");
        assert_eq!(words(Request::Target), ["--method=PUT", "--data=a", "--compressed"]);
        assert_eq!(words(Request::Absent), ["--compressed"]);
        assert_eq!(words(Request::Head), ["--data=a", "--compressed", "--head"]);
        assert_eq!(words(Request::Identity), ["--method=PUT", "--data=a", "--header=Accept-Encoding: identity"]);
        assert_eq!(words(Request::Gzip).iter().filter(|word| *word == "--compressed").count(), 1);
        assert!(request_words(&flags, &plan(), Request::Http10).is_err(), "it would be sent as HTTP/1.1");
    }
}
