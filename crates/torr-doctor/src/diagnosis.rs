//! The diagnosis of a service: the verdict, and all that shows it.

use crate::agents::Agents;
use crate::assignment::Assignment;
use crate::driver::{self, CutShort, Finding};
use crate::evidence::Evidence;
use crate::figures::Figures;
use crate::halt::Halt;
use crate::keep_alive::{self, KeepAlive};
use crate::laboratory::Laboratory;
use crate::observation::{ExperimentStart, Observation};
use crate::observer::Observer;
use crate::rules::seen_through;
use crate::setting::Setting;
use crate::words::{rate, time};
use serde::Serialize;
use std::sync::atomic::AtomicBool;
use torr_gauge::{Confidence, Factor, Verdict};
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
    /// The verdict.
    pub verdict: Verdict,
    /// Observations that are not the limit.
    pub remarks: Vec<String>,
    /// The user's load, and what could be varied.
    pub setting: Setting,
    /// The figures from the experiments.
    pub figures: Figures,
    /// The conditions of keep-alive.
    pub keep_alive: Option<KeepAlive>,
    /// Name and reason of each experiment in which not one connection came about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreached: Vec<(String, String)>,
    /// All experiments in their order.
    pub trail: Vec<Observation>,
}

/// The optional instruments of a diagnosis.
#[derive(Default)]
pub struct Instruments<'i> {
    /// The observer of the server's machine.
    pub observer: Option<&'i dyn Observer>,
    /// The plan of a null service, which does nothing but respond with content of a number of bytes.
    pub null: Option<&'i dyn Fn(u64) -> Result<Plan, Halt>>,
    /// The agents of a fleet, from which the load comes then.
    pub agents: Option<&'i dyn Agents>,
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
    let Instruments { observer, null, agents } = *instruments;
    let mut lab = Laboratory::open(assignment, observer, stop, &mut silent).with_null(null).with_agents(agents);
    let setting = Setting::of(assignment, lab.sees_here(), null.is_some(), agents);
    let finding = driver::diagnose(setting, &mut lab, stop, tell)?;
    let seconds = lab.elapsed().as_secs_f64();
    Ok(Diagnosis::of(finding, seconds))
}

impl Diagnosis {
    /// Returns the diagnosis that a finding amounts to, after so many seconds.
    pub(crate) fn of(finding: Finding, seconds: f64) -> Self {
        let Finding { verdict, evidence, cut_short } = finding;
        let evidence = seen_through(&evidence);
        let verdict = verdict.unwrap_or_else(|| unknown(&evidence, cut_short));
        let commands = &evidence.setting.commands;
        let verdict = match verdict.verify {
            Some(_) => verdict,
            None => Verdict { verify: verification(&evidence, &verdict, cut_short), ..verdict },
        };
        let verdict = match commands.before_running().filter(|_| verdict.verify.is_some()) {
            Some(named) => verdict.advice(named),
            None => verdict,
        };
        let keep_alive = keep_alive::found(&evidence);
        Self {
            schema: SCHEMA,
            torr: env!("CARGO_PKG_VERSION"),
            target: evidence.setting.url.clone(),
            seconds,
            budget_s: evidence.setting.budget_s,
            interrupted: cut_short == Some(CutShort::Interrupted),
            remarks: remarks(&evidence, keep_alive.as_ref(), &verdict),
            verdict,
            setting: evidence.setting.clone(),
            figures: evidence.figures.clone(),
            keep_alive,
            unreached: evidence.unreached().to_vec(),
            trail: evidence.into_observations(),
        }
    }
}

/// Returns the command that tells whether a change was the cure, for a rule without one of its own; after a verdict that names no limit
/// the next examination. It is never the command that has just been run, which would tell the same again.
fn verification(evidence: &Evidence, verdict: &Verdict, cut_short: Option<CutShort>) -> Option<String> {
    let setting = &evidence.setting;
    let (commands, connections) = (&setting.commands, &setting.connections);
    match verdict.factor {
        Factor::Unknown if cut_short == Some(CutShort::OutOfTime) => {
            let budget = format!("{:.0}s", 2.0 * setting.budget_s);
            Some(commands.doctor(&[("-c", connections), ("--budget", &budget)]))
        }
        Factor::Unknown => None,
        Factor::None => setting.max_rate.map(|rate| {
            let rate = (2.0 * rate).ceil();
            commands.doctor(&[("-c", connections), ("--max-rate", &rate)])
        }),
        _ => {
            let promised = verdict.gain.as_ref().and_then(|gain| gain.low).map_or(1.0, |low| low.max(1.0));
            let rule = format!("rps<{:.0}", (promised * evidence.figures.rps()).floor().max(1.0));
            Some(commands.press(&[("-c", connections), ("--fail-if", &rule)]))
        }
    }
}

fn unknown(evidence: &Evidence, cut_short: Option<CutShort>) -> Verdict {
    let figures = &evidence.figures;
    let seen = figures.server_cores();
    let is_interrupted = cut_short == Some(CutShort::Interrupted);
    let summary = match is_interrupted {
        true => "The examination was interrupted before it told what limits the service.",
        false => "What was seen does not tell what limits the service, or it points to several things.",
    };
    let verdict = Verdict::new(Factor::Unknown, Confidence::Unknown, summary);
    let verdict =
        verdict
            .because_if(is_interrupted.then(|| made(evidence)))
            .because(match figures.ladder.most() {
                most if most > 0.0 => {
                    format!(
                        "throughput is at most {}; a request on its own takes {}",
                        rate(most),
                        time(figures.service_s())
                    )
                }
                _ => "no load had a good response".into(),
            })
            .because_if(seen.zip(figures.machine_share()).map(|(used, machine)| {
                format!("the server used {used:.2} CPUs, and the machine {:.0}%", machine * 100.0)
            }))
            .because_if(figures.busiest_others());
    let verdict = match cut_short {
        None => verdict,
        Some(CutShort::OutOfTime) => {
            verdict.advice("give it more time with --budget: there was none left for further experiments")
        }
        Some(CutShort::Interrupted) => {
            let most = time(evidence.setting.budget_s);
            return verdict.advice(format!("let it go on to its end: it takes {most} at most"));
        }
    };
    match seen {
        Some(_) => verdict.advice("examine it again when nothing else runs on these machines"),
        None => verdict.advice(
            "run 'torr watch' on the server's machine and give its address with --watch: its processes would tell more",
        ),
    }
}

/// Returns which experiments were made.
fn made(evidence: &Evidence) -> String {
    let mut names: Vec<&str> = Vec::new();
    for observation in evidence.observations() {
        if !names.contains(&observation.experiment.as_str()) {
            names.push(&observation.experiment);
        }
    }
    match names[..] {
        [] => "no experiment was made to its end".into(),
        _ => format!("the experiments that were made: {}", names.join(", ")),
    }
}

/// Returns observations that are not the limit.
fn remarks(evidence: &Evidence, keep_alive: Option<&KeepAlive>, verdict: &Verdict) -> Vec<String> {
    let mut remarks = vec![];
    if let Some(found) = keep_alive {
        remarks.extend(found.depends_on.iter().cloned());
        remarks
            .extend(found.most_requests.map(|n| format!("the server closes each connection after about {n} requests")));
        remarks.extend(
            found
                .idle_limit_s
                .map(|idle| format!("the server closes a connection after {} without a request", time(idle))),
        );
        if !found.kept && verdict.factor != Factor::KeepAlive {
            remarks.push("the server does not keep connections alive".into());
        }
    }
    if let Some(acks) = evidence.acks.filter(|_| verdict.factor != Factor::DelayedAck) {
        remarks.push(format!(
            "a single response takes {} instead of {} since it waits for an acknowledgement, as without TCP_NODELAY; the experiments \
             acknowledged at once",
            time(acks.medians_s.0),
            time(acks.medians_s.1)
        ));
    }
    remarks.extend(evidence.figures.uneven_rps.map(|uneven| {
        format!(
            "once nearly all connections fell to one of the server's workers, and {} were answered instead of {}: SO_REUSEPORT, as \
             'listen ... reuseport' in nginx, would spread them",
            rate(uneven),
            rate(evidence.figures.rps())
        )
    }));
    for process in evidence.figures.processes() {
        if let (Some(open), Some(limit)) = (process.open_files, process.file_limit)
            && open * 10 > limit * 8
        {
            remarks
                .push(format!("{} ({}) has {open} of {limit} files open that it may have", process.name, process.pid));
        }
    }
    remarks
}
