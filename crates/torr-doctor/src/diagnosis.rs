//! The diagnosis of a service: the verdict, and all that shows it.

use crate::agents::Agents;
use crate::assignment::Assignment;
use crate::below_errors;
use crate::driver::{self, CutShort, Outcome};
use crate::evidence::Evidence;
use crate::experiment::NullContent;
use crate::figures::Figures;
use crate::halt::Halt;
use crate::hypotheses;
use crate::keep_alive::{self, KeepAlive};
use crate::load_runner::{LoadRunner, Watch};
use crate::locate::Locator;
use crate::observation::{ExperimentStart, Observation};
use crate::observer::Observer;
use crate::rules::seen_through;
use crate::setting::Setting;
use crate::streams;
use crate::weather::Weather;
use crate::witnesses::{self, other_programs};
use serde::Serialize;
use std::sync::atomic::AtomicBool;
use torr_gauge::verdict::{Advice, ExperimentId, ExperimentLabel, Fact, Finding, Headline, Located};
use torr_gauge::{Confidence, Factor, redact};
use torr_press::Plan;

/// The version of [`Diagnosis`].
pub const SCHEMA: &str = "torr.doctor/1";

/// The diagnosis of a service: a verdict and its evidence.
#[derive(Debug, Serialize)]
pub struct Diagnosis {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The version of the program.
    pub torr: &'static str,
    /// The URL.
    pub target: String,
    /// The time that the diagnosis took, in seconds.
    pub seconds: f64,
    /// The time that it was allowed to take, in seconds.
    pub budget_s: f64,
    /// Whether the user ended it early.
    pub interrupted: bool,
    /// The finding. JSON has it as a verdict with sentences, which the program adds.
    #[serde(skip)]
    pub finding: Finding,
    /// Observations that are not the limit. JSON has their sentences.
    #[serde(skip)]
    pub remarks: Vec<Fact>,
    /// The user's load, and what could be varied.
    pub setting: Setting,
    /// The figures from the experiments.
    pub figures: Figures,
    /// The conditions of keep-alive. JSON has them with sentences.
    #[serde(skip)]
    pub keep_alive: Option<KeepAlive>,
    /// The places in the server that the factor comes from. `None` if nothing looked for them. JSON has them with sentences.
    #[serde(skip)]
    pub located: Option<Located>,
    /// The experiments in which not one connection came about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreached: Vec<ExperimentId>,
    /// The experiments that the finding rests on; none without a finding. JSON marks them.
    #[serde(skip)]
    pub decided: Vec<ExperimentId>,
    /// All experiments in their order. JSON has them with names and questions, which the program adds.
    #[serde(skip)]
    pub trail: Vec<Observation>,
}

/// The optional instruments of a diagnosis.
#[derive(Default)]
pub struct Instruments<'i> {
    /// The observer of the server's machine.
    pub observer: Option<&'i dyn Observer>,
    /// The plan of a null service, which does nothing but respond with some content.
    pub null: Option<&'i dyn Fn(NullContent) -> Result<Plan, Halt>>,
    /// The agents of a fleet, from which the load comes then.
    pub agents: Option<&'i dyn Agents>,
    /// What samples the server for the place of a factor.
    pub locator: Option<&'i dyn Locator>,
    /// What learns of the progress of each experiment, where this program sends its load.
    pub watch: Option<&'i Watch<'i>>,
}

/// Diagnoses a service: varies the load until one factor is identified, with a witness and an experiment that agree, or no further
/// experiment would help. `tell` is called before each experiment; `stop` ends the diagnosis with what was found until then.
///
/// # Errors
/// [`Halt`]: that the service cannot be reached.
pub fn diagnose(
    assignment: &Assignment,
    instruments: &Instruments<'_>,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(ExperimentStart<'_>),
) -> Result<Diagnosis, Halt> {
    let mut silent = |_: ExperimentStart<'_>| {};
    let Instruments { observer, null, agents, locator, watch } = *instruments;
    let runner = LoadRunner::open(assignment, observer, stop, &mut silent).with_null(null).with_agents(agents);
    let mut runner = runner.with_locator(locator).with_watch(watch);
    let setting = Setting::of(assignment, runner.sees_here(), null.is_some(), agents);
    let outcome = driver::diagnose(setting, &mut runner, stop, tell)?;
    let seconds = runner.elapsed().as_secs_f64();
    Ok(Diagnosis::of(outcome, seconds))
}

impl Diagnosis {
    /// Returns the diagnosis that an outcome amounts to, after so many seconds.
    pub(crate) fn of(outcome: Outcome, seconds: f64) -> Self {
        let Outcome { finding, evidence, cut_short, located, decided } = outcome;
        // What the verdict is about: the load below errors, where the service was examined there.
        let is_errors = finding.as_ref().is_some_and(|finding| finding.factor == Factor::Errors);
        let below = below_errors::view(&evidence).filter(|_| !is_errors);
        let seen = below.as_ref().unwrap_or(&evidence);
        let examined = seen_through(seen);
        let mut finding = finding.unwrap_or_else(|| unknown(&examined, cut_short));
        if matches!(finding.headline, Headline::OthersUseCpu | Headline::Unclear | Headline::EventsHeld) {
            let hypotheses = hypotheses::ranked(seen);
            finding.advice.extend(hypotheses.first().map(|best| Advice::Prove { factor: best.factor }));
            finding.hypotheses = hypotheses;
        }
        if finding.verify.is_none() {
            finding.verify = verification(&examined, &finding, cut_short);
        }
        if finding.verify.is_some() {
            finding.advice.extend(examined.setting.commands.before_running());
        }
        let keep_alive = keep_alive::found(&evidence);
        let setting = &evidence.setting;
        let setting = Setting { url: redact::url(&setting.url).into_owned(), ..setting.clone() };
        Self {
            schema: SCHEMA,
            torr: env!("CARGO_PKG_VERSION"),
            target: setting.url.clone(),
            seconds,
            budget_s: evidence.setting.budget_s,
            interrupted: cut_short == Some(CutShort::Interrupted),
            remarks: remarks(&evidence, &examined.figures, keep_alive.as_ref(), &finding),
            finding,
            setting,
            figures: examined.figures,
            keep_alive,
            located,
            decided,
            unreached: evidence.unreached().to_vec(),
            trail: evidence.into_observations(),
        }
    }
}

/// Returns the command that tells whether a change was the cure, for a rule without one of its own; after a verdict that names no limit
/// the next examination. It is never the command that has just been run, which would tell the same again.
fn verification(evidence: &Evidence, finding: &Finding, cut_short: Option<CutShort>) -> Option<String> {
    let setting = &evidence.setting;
    let (commands, connections) = (&setting.commands, &setting.connections);
    match finding.factor {
        Factor::Unknown if cut_short == Some(CutShort::OutOfTime) => {
            let budget = format!("{:.0}s", 2.0 * setting.budget_s);
            Some(commands.doctor(&[("-c", connections), ("--budget", &budget)]))
        }
        Factor::Unknown => None,
        Factor::None => setting.max_rate.map(|rate| {
            let rate = (2.0 * rate).ceil();
            commands.doctor(&[("-c", connections), ("--max-rate", &rate)])
        }),
        // No threshold is about events per second.
        _ if setting.streams.is_some() => Some(commands.press(&[("-c", connections)])),
        _ => {
            let promised = finding.gain.as_ref().and_then(|gain| gain.low).map_or(1.0, |low| low.max(1.0));
            let rule = format!("rps<{:.0}", (promised * evidence.figures.rps()).floor().max(1.0));
            Some(commands.press(&[("-c", connections), ("--fail-if", &rule)]))
        }
    }
}

fn unknown(evidence: &Evidence, cut_short: Option<CutShort>) -> Finding {
    let figures = &evidence.figures;
    let is_interrupted = cut_short == Some(CutShort::Interrupted);
    let headline = if is_interrupted { Headline::Interrupted } else { Headline::Unclear };
    let finding =
        Finding::new(Factor::Unknown, Confidence::Unknown, headline).because(is_interrupted.then(|| made(evidence)));
    let alone = evidence.positions.alone.map(|at| &evidence.observations()[at].run);
    let finding = match figures.ladder.most() {
        events_per_s if events_per_s > 0.0 && evidence.setting.streams.is_some() => {
            finding.because(Fact::EventsAtMost { events_per_s }).because(alone.and_then(streams::alone))
        }
        rps if rps > 0.0 => {
            finding.because(Fact::ThroughputAtMost { rps }).because(Fact::RequestAlone { seconds: figures.service_s() })
        }
        _ => finding.because(Fact::NoGoodResponse),
    };
    let finding = finding
        .because(figures.server_cpu())
        .because(figures.server_cores().and_then(|_| figures.machine_cpu()))
        .because(figures.weather.filter(Weather::has_changed).map(|weather| weather.fact()))
        .because(figures.signals.as_ref().and_then(other_programs))
        .because(evidence.setting.hidden_namespace.then_some(Fact::OtherNamespace));
    if is_interrupted {
        return finding.advice(Advice::LetItEnd { seconds: evidence.setting.budget_s });
    }
    let finding = match cut_short {
        Some(CutShort::OutOfTime) => finding.advice(Advice::MoreBudget),
        _ => finding,
    };
    finding.advice(match figures.server_cores() {
        Some(_) => Advice::StopOthers,
        None if evidence.setting.hidden_namespace => Advice::LookAsRoot,
        None => Advice::WatchServer,
    })
}

/// Returns which experiments were made.
fn made(evidence: &Evidence) -> Fact {
    let mut made: Vec<ExperimentLabel> = Vec::new();
    for label in evidence.observations().iter().map(Observation::label) {
        if !made.contains(&label) {
            made.push(label);
        }
    }
    Fact::Experiments { made }
}

/// Returns what shows an accept queue that was full under the load of the user, or under twice as many connections.
fn accept_queue(evidence: &Evidence) -> Vec<Fact> {
    let loads = evidence.positions.full.map(|at| &evidence.observations()[at]).into_iter();
    let loads = loads.chain(evidence.last(ExperimentId::Double));
    let facts = loads.map(|seen| witnesses::accept_queue(&seen.run, seen.signals.as_ref()));
    facts.into_iter().find(|facts| !facts.is_empty()).unwrap_or_default()
}

/// Returns observations that are not the limit.
fn remarks(evidence: &Evidence, figures: &Figures, keep_alive: Option<&KeepAlive>, finding: &Finding) -> Vec<Fact> {
    let mut remarks = vec![];
    if let Some(found) = keep_alive {
        remarks.extend(found.depends_on.iter().cloned());
        remarks.extend(found.most_requests.map(|requests| Fact::ClosesAfter { requests }));
        remarks.extend(found.idle_limit_s.map(|seconds| Fact::ClosesIdle { seconds }));
        if !found.kept && finding.factor != Factor::KeepAlive {
            remarks.push(Fact::NotKept);
        }
    }
    if let Some(acks) = evidence.acks.filter(|_| finding.factor != Factor::DelayedAck) {
        let (before_s, after_s) = acks.medians_s;
        remarks.push(Fact::AckedAtOnce { before_s, after_s, speedup: None });
    }
    if finding.factor != Factor::AcceptBacklog {
        remarks.extend(accept_queue(evidence));
    }
    let usual_rps = figures.rps();
    remarks.extend(figures.uneven_rps.map(|rps| Fact::UnevenConnections { rps, usual_rps }));
    for process in figures.processes() {
        if let (Some(open), Some(limit)) = (process.open_files, process.file_limit)
            && open * 10 > limit * 8
        {
            remarks.push(Fact::OpenFiles { process: process.name.clone(), pid: process.pid, open, limit });
        }
    }
    remarks
}
