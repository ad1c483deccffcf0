//! The examination from its beginning to its end.

use crate::factors::{self, RULES};
use crate::figures::Figures;
use crate::keep_alive::{self, KeepAlive};
use crate::laboratory::{Assignment, Halt, Laboratory, Observer};
use crate::observation::{ExperimentStart, Observation};
use crate::ward::Ward;
use crate::words::{rate, time};
use serde::Serialize;
use std::sync::atomic::AtomicBool;
use torr_gauge::{Confidence, Factor, FailureKind, Verdict};
use torr_press::{Plan, RunError};

/// The share of the highest rate that is allowed from which it is what limits.
const REACHED: f64 = 0.85;

/// The version of [`Diagnosis`].
pub const SCHEMA: &str = "torr.doctor/1";

/// What limits a service, and all that shows it.
#[derive(Debug, Serialize)]
pub struct Diagnosis {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The version of the program.
    pub torr: &'static str,
    /// The URL.
    pub target: String,
    /// How long it took.
    pub seconds: f64,
    /// How long it might have taken.
    pub budget_s: f64,
    /// What limits.
    pub verdict: Verdict,
    /// What was noticed beside it.
    pub remarks: Vec<String>,
    /// What is known, as figures.
    pub figures: Figures,
    /// What keep-alive depends on.
    pub keep_alive: Option<KeepAlive>,
    /// All experiments in their order.
    pub trail: Vec<Observation>,
}

/// What helps a doctor, beside the assignment.
#[derive(Default)]
pub struct Instruments<'i> {
    /// The server's machine.
    pub observer: Option<&'i dyn Observer>,
    /// A service that does nothing but answer with a body of so many bytes.
    pub null: Option<&'i dyn Fn(u64) -> Result<Plan, Halt>>,
}

/// Examines a service until one factor is named, with a witness and an experiment that agree, or nothing more would tell.
/// `tell` is told each experiment before it is made.
///
/// # Errors
/// [`Halt`]: an interruption, or that the service cannot be reached.
pub fn diagnose(
    assignment: &Assignment,
    instruments: &Instruments<'_>,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(ExperimentStart<'_>),
) -> Result<Diagnosis, Halt> {
    let lab = Laboratory::open(assignment, instruments.observer, stop, tell);
    let mut ward = Ward::new(lab);
    let verdict = match examine(&mut ward, instruments) {
        Ok(verdict) => verdict,
        // Not even one connection came about, after others had taken all ports.
        Err(Halt::Run(RunError::Unreachable { failure, .. }))
            if failure.kind == FailureKind::Ports && !ward.lab.trail.is_empty() =>
        {
            factors::out_of_ports().because(failure.what.to_string())
        }
        Err(halt) => return Err(halt),
    };
    let verdict = match verdict.verify {
        Some(_) => verdict,
        // Whatever is changed, the same examination tells whether it was that.
        None => verdict.verify(assignment.again.doctor(&[("-c", &ward.figures.connections)])),
    };
    let verdict = match assignment.again.before_running() {
        Some(told) => verdict.advice(told),
        None => verdict,
    };
    match keep_alive::look_at_idle(&mut ward) {
        // What is known by now is not to be lost.
        Ok(()) | Err(Halt::Interrupted) => {}
        Err(halt) => return Err(halt),
    }
    let remarks = remarks(&ward, &verdict);
    let seconds = ward.lab.elapsed().as_secs_f64();
    let Ward { lab, figures, .. } = ward;
    let mut trail = lab.trail;
    // Each run's course is of no use to anybody any more, and would be most of what is told.
    trail.iter_mut().for_each(|observation| observation.run.series.clear());
    Ok(Diagnosis {
        schema: SCHEMA,
        torr: env!("CARGO_PKG_VERSION"),
        target: assignment.plan.target.url.clone(),
        seconds,
        budget_s: assignment.budget.as_secs_f64(),
        verdict,
        remarks,
        figures,
        keep_alive: lab.keep_alive,
        trail,
    })
}

fn examine(ward: &mut Ward<'_>, instruments: &Instruments<'_>) -> Result<Verdict, Halt> {
    ward.admit(instruments.null)?;
    keep_alive::look(ward)?;
    if let Some(verdict) = own_limit(ward) {
        return Ok(verdict);
    }
    for rule in RULES {
        if !ward.lab.has_time() {
            break;
        }
        if let Some(verdict) = rule(ward)? {
            return Ok(verdict);
        }
    }
    // What fails needs no further experiment to be told, however little time there was.
    Ok(factors::errors(ward)?.unwrap_or_else(|| unknown(ward)))
}

/// What was allowed is what was reached.
fn own_limit(ward: &Ward<'_>) -> Option<Verdict> {
    let allowed = ward.lab.assignment.max_rate?;
    let most = ward.figures.ladder.most();
    (most >= REACHED * allowed).then(|| {
        Verdict::new(Factor::None, Confidence::Likely, "The service does all that --max-rate allows to ask for.")
            .because(format!("{} were answered of the {} that are allowed", rate(most), rate(allowed)))
            .because(format!("a request on its own takes {}", time(ward.figures.service_s())))
            .because_if(ward.figures.server_cores().map(|cores| format!("the server used {cores:.2} CPUs meanwhile")))
            .advice("its headroom is unknown: raise --max-rate, if the service may be pressed harder")
    })
}

fn unknown(ward: &Ward<'_>) -> Verdict {
    let figures = &ward.figures;
    let seen = figures.server_cores();
    let verdict = Verdict::new(
        Factor::Unknown,
        Confidence::Unknown,
        "What was seen does not tell what limits the service, or it points to several things.",
    )
    .because(match figures.ladder.most() {
        most if most > 0.0 => {
            format!("throughput is at most {}; a request on its own takes {}", rate(most), time(figures.service_s()))
        }
        _ => "no load had a good response".into(),
    })
    .because_if(
        seen.zip(figures.machine_share())
            .map(|(used, machine)| format!("the server used {used:.2} CPUs, and the machine {:.0}%", machine * 100.0)),
    )
    .because_if(figures.busiest_others());
    let verdict = match ward.lab.has_time() {
        true => verdict,
        false => verdict.advice("give it more time with --budget: there was none left for further experiments"),
    };
    match seen {
        Some(_) => verdict.advice("examine it again when nothing else runs on these machines"),
        None => verdict.advice(
            "run 'torr watch' on the server's machine and give its address with --watch: its processes would tell more",
        ),
    }
}

/// What was noticed, but is not the limit.
fn remarks(ward: &Ward<'_>, verdict: &Verdict) -> Vec<String> {
    let mut remarks = vec![];
    if let Some(found) = &ward.lab.keep_alive {
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
    if let Some(acks) = ward.acks.filter(|_| verdict.factor != Factor::DelayedAck) {
        remarks.push(format!(
            "a single answer takes {} instead of {} since it waits for an acknowledgement, as without TCP_NODELAY; the experiments \
             acknowledged at once",
            time(acks.medians_s.0),
            time(acks.medians_s.1)
        ));
    }
    remarks.extend(ward.figures.uneven_rps.map(|uneven| {
        format!(
            "once nearly all connections fell to one of the server's workers, and {} were answered instead of {}: SO_REUSEPORT, as \
             'listen ... reuseport' in nginx, would spread them",
            rate(uneven),
            rate(ward.figures.rps())
        )
    }));
    for process in ward.figures.processes() {
        if let (Some(open), Some(limit)) = (process.open_files, process.file_limit)
            && open * 10 > limit * 8
        {
            remarks
                .push(format!("{} ({}) has {open} of {limit} files open that it may have", process.name, process.pid));
        }
    }
    remarks
}
