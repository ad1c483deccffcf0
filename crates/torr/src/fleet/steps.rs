//! Steps of a search, each of which is a run over a fleet.

use super::args::{FleetOf, failed};
use super::words::travelling;
use crate::exit::CliError;
use crate::flags::file_source::FilesByPath;
use crate::flags::given::GivenFlag;
use crate::output;
use crate::session::Given;
use crate::target::{RunFile, TargetKind};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_fleet::message::IfLost;
use torr_fleet::{FleetError, Load, RunSettings, Watch};
use torr_gauge::collector::{Measurement, Progress};
use torr_gauge::redact;
use torr_press::{Arrivals, Pace, Plan};

/// How long agents are waited for whose number is not known.
const WAIT: Duration = Duration::from_secs(2);
/// How long agents are waited for whose number is known.
const WAIT_FOR_KNOWN: Duration = Duration::from_secs(15);

/// What a step sends, beside how hard.
pub struct StepLoad<'a> {
    pub target: Option<&'a str>,
    /// The given flags of the request and the way there.
    pub flags: &'a [GivenFlag],
    pub files: FilesByPath,
    /// The path of the file of records.
    pub records: Option<String>,
    pub given: Given,
    /// The threads of each agent; `None` for as many as it has CPUs.
    pub threads: Option<usize>,
}

/// Runs of one load over a fleet.
pub struct Steps {
    settings: RunSettings,
    agents: usize,
    target: Vec<String>,
}

impl Steps {
    /// Finds the agents of a fleet for a load.
    ///
    /// # Errors
    /// If there are too few of them, or the load is of one machine.
    pub fn of(fleet: &FleetOf, load: StepLoad<'_>) -> Result<Self, CliError> {
        let StepLoad { target, flags, files, records, given, threads } = load;
        let mut words = travelling(flags)?;
        words.extend(threads.map(|threads| format!("--threads={threads}")));
        let targets: Vec<_> = target.map(str::to_owned).into_iter().collect();
        let target = match TargetKind::of(&targets)? {
            TargetKind::Url(url) => url.into_iter().map(|url| super::load::with_scheme(&url)).collect(),
            TargetKind::Sessions(files) => {
                std::iter::once("--".to_owned()).chain(files.iter().map(RunFile::word)).collect()
            }
            TargetKind::Script(_) | TargetKind::Plan(_) => return Err(super::load::no_load()),
        };
        let load =
            Load { words, files, records, variables: super::load::to_json(&given.values)?, secrets: given.secrets };
        let nats = fleet.nats.connection();
        let agents = match fleet.agents {
            Some(agents) => agents,
            None => torr_fleet::fleet::list(&nats, &fleet.name, WAIT).map_err(failed)?.len(),
        };
        if agents == 0 {
            let line =
                format!("no agent of the fleet {} responded: start 'torr fleet agent' on each machine", fleet.name);
            return Err(CliError::Failed(line));
        }
        let wait = WAIT_FOR_KNOWN;
        let settings = RunSettings { nats, fleet: fleet.name.clone(), agents: None, wait, if_lost: IfLost::Stop, load };
        Ok(Self { settings, agents, target })
    }

    /// Returns the number of agents.
    pub fn agents(&self) -> usize {
        self.agents
    }

    /// Runs a step. One with fewer connections or requests than there are agents takes fewer of them.
    ///
    /// # Errors
    /// If the fleet does not come together, or an agent is lost.
    pub fn run(
        &self,
        plan: &Plan,
        stop: &AtomicBool,
        watch: &mut dyn FnMut(&Progress),
    ) -> Result<Measurement, FleetError> {
        let most = plan.requests.map_or(plan.connections, |requests| plan.connections.min(requests as usize));
        let mut settings = self.settings.clone();
        settings.agents = Some(self.agents.min(most).max(1));
        settings.load.words.extend(load_words(plan));
        settings.load.words.extend(self.target.clone());
        let run = torr_fleet::coordinator::run(&settings, plan, stop, &mut Step(watch))?;
        match run.result.fleet.as_ref().map(|fleet| fleet.shortcomings()) {
            Some(shortcomings) if !shortcomings.is_empty() => Err(FleetError::NoResult(shortcomings.join("; "))),
            _ => Ok(run),
        }
    }
}

/// Returns the flags of a plan's load and length.
fn load_words(plan: &Plan) -> Vec<String> {
    let nanos = |time: Duration| format!("{}ns", time.as_nanos());
    let mut words = match &plan.pace {
        Pace::Open(schedule, arrivals) => vec![
            format!("--rate={}", schedule.peak()),
            format!("--max-connections={}", plan.connections),
            format!("--arrivals={}", if *arrivals == Arrivals::Poisson { "poisson" } else { "constant" }),
        ],
        Pace::Closed | Pace::Connections(_) => vec![format!("--connections={}", plan.connections)],
    };
    words.extend(plan.duration.map(|length| format!("--duration={}", nanos(length))));
    words.extend(plan.requests.map(|requests| format!("--requests={requests}")));
    words.extend((!plan.warmup.is_zero()).then(|| format!("--warmup={}", nanos(plan.warmup))));
    words.extend((!plan.keep_alive).then(|| "--no-keepalive".to_owned()));
    words.push(format!("--timeout={}", nanos(plan.timeout)));
    words
}

/// What a search sees of a step.
struct Step<'w>(&'w mut dyn FnMut(&Progress));

impl Watch for Step<'_> {
    fn note(&mut self, line: &str) {
        // Each step would name its run; an agent that is lost ends the search, with the reason.
        if line.contains(" is lost") {
            output::note(&redact::line(line));
        }
    }

    fn progress(&mut self, progress: &Progress) {
        (self.0)(progress);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_press::{Requests, Schedule, Target};

    #[test]
    fn a_step_is_words_of_a_command_line() {
        let target = Target::parse("http://a.test/").expect("it is a URL");
        let request = Requests::get(&target, true).expect("it can be sent");
        let plan = Plan { duration: Some(Duration::from_millis(1500)), ..Plan::new(target, Vec::new(), request) };
        assert_eq!(load_words(&plan), ["--connections=100", "--duration=1500000000ns", "--timeout=10000000000ns"]);
        let pace = Pace::Open(Schedule::constant(12.5).expect("it is a rate"), Arrivals::Poisson);
        let open = Plan { pace, requests: Some(9), warmup: Duration::from_secs(1), keep_alive: false, ..plan };
        let words = load_words(&open);
        assert_eq!(words[..3], ["--rate=12.5", "--max-connections=100", "--arrivals=poisson"]);
        for word in ["--requests=9", "--warmup=1000000000ns", "--no-keepalive"] {
            assert!(words.iter().any(|has| has == word), "{words:?}");
        }
    }
}
