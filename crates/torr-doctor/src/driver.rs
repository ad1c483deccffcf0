//! The procedure of a diagnosis: applies the rules in their order, runs the experiments that they request, and applies them again.
//!
//! Budget, permission, interruption and the trail are the driver's alone.

use crate::acks;
use crate::below_errors;
use crate::contrast::Contrast;
use crate::decisive;
use crate::evidence::{Evidence, Positions};
use crate::experiment::{Ask, Experiment, Length, Warmup};
use crate::halt::Halt;
use crate::keep_alive;
use crate::locate::{SAMPLED, Site};
use crate::observation::{ExperimentStart, Observation};
use crate::place_gain;
use crate::rules::{self, Rule};
use crate::runner::{ExperimentRunner, Order};
use crate::setting::Setting;
use crate::settling::{self, Settling};
use crate::survey;
use crate::thresholds::{
    AGREEING_PAIRS, CLEARLY_BETTER, FEW_PAIRS, LAST_RULE, LEAST_PAIRS, LITTLE_BUDGET, LONGEST_DRAIN, MOST_PAIRS,
    NARROW_PAIRS, NO_BUDGET,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use torr_gauge::FailureKind;
use torr_gauge::verdict::{ExperimentId, ExperimentLabel, Fact, Finding, Located};
use torr_press::RunError;

/// The shortest experiment.
const SHORTEST: Duration = Duration::from_millis(120);
const SHORT: Duration = Duration::from_millis(400);
/// The budget in seconds for which the lengths of experiments are given.
const PLANNED_S: f64 = 60.0;
/// The divisor of the remaining budget that bounds an experiment.
const SHARED_BY: u32 = 6;
/// The number of response times that a slow experiment lasts.
const RESPONSES: u32 = 8;
/// The divisor of the budget that bounds an experiment.
const LONGEST: u32 = 8;
/// The length of a short warm-up, in which connections are opened.
const WARMUP: Duration = settling::SHORT;
/// The length of a warm-up in which a SYN that met a full accept queue is retransmitted.
const SYN_AGAIN: Duration = Duration::from_millis(1300);
/// The shares of the highest rate for two loads at the same time.
const RATE_PARTS: [f64; 2] = [0.9, 0.1];

/// The time in which the agents of a fleet come together for an experiment and report what they measured.
const FLEET: Duration = Duration::from_millis(400);

/// Why a diagnosis ended before the rules did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutShort {
    /// There was no time for further experiments.
    OutOfTime,
    /// The user has interrupted it.
    Interrupted,
}

/// The outcome of a diagnosis.
#[derive(Debug)]
pub struct Outcome {
    /// The finding. `None` if no rule gave one.
    pub finding: Option<Finding>,
    /// The evidence.
    pub evidence: Evidence,
    /// Why there were no further experiments; `None` if none would have helped.
    pub cut_short: Option<CutShort>,
    /// The places in the server that the factor comes from. `None` if nothing looked for them.
    pub located: Option<Located>,
    /// The experiments that the finding rests on.
    pub decided: Vec<ExperimentId>,
}

/// Carries out a diagnosis with a runner. `tell` is called before each experiment; `stop` ends the diagnosis with what was found until then.
///
/// # Errors
/// [`Halt`]: that the service cannot be reached.
pub fn diagnose(
    setting: Setting,
    runner: &mut dyn ExperimentRunner,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(ExperimentStart<'_>),
) -> Result<Outcome, Halt> {
    let mut driver = Driver { evidence: Evidence::new(setting), below: None, decided: vec![], runner, stop, tell };
    driver.conclude();
    let mut cut_short = None;
    let finding = match driver.ask_all() {
        Ok(finding) => finding,
        Err(Halt::Interrupted) => {
            cut_short = Some(CutShort::Interrupted);
            None
        }
        Err(Halt::OutOfTime) => {
            cut_short = Some(CutShort::OutOfTime);
            driver.without_experiment()
        }
        // No connection could be opened, as earlier ones had used all ports.
        Err(Halt::Run(RunError::Unreachable { failure, .. }))
            if failure.kind == FailureKind::Ports && !driver.evidence.observations().is_empty() =>
        {
            Some(rules::out_of_ports().because(Fact::NotConnected { why: failure.what.to_string() }))
        }
        Err(halt) => return Err(halt),
    };
    if cut_short.is_none() {
        cut_short = (!driver.has_time_for(Duration::ZERO)).then_some(CutShort::OutOfTime);
        match driver.look_at_idle() {
            // The evidence so far is kept.
            Ok(()) | Err(Halt::OutOfTime) => {}
            Err(Halt::Interrupted) => cut_short = Some(CutShort::Interrupted),
            Err(halt) => return Err(halt),
        }
    }
    let located = match &finding {
        Some(finding) if cut_short != Some(CutShort::Interrupted) => match driver.locate(finding) {
            Ok(located) => located,
            // The verdict stands without a place.
            Err(Halt::OutOfTime | Halt::Run(_)) => None,
            Err(Halt::Interrupted) => {
                cut_short = Some(CutShort::Interrupted);
                None
            }
            Err(halt) => return Err(halt),
        },
        _ => None,
    };
    Ok(Outcome { finding, evidence: driver.evidence, cut_short, located, decided: driver.decided })
}

struct Driver<'d> {
    evidence: Evidence,
    /// The evidence as the rules read it where errors begin above a limit: the load below them shows the limit.
    below: Option<Evidence>,
    /// The experiments that the finding rests on.
    decided: Vec<ExperimentId>,
    runner: &'d mut dyn ExperimentRunner,
    stop: &'d AtomicBool,
    tell: &'d mut dyn FnMut(ExperimentStart<'_>),
}

impl Driver<'_> {
    fn ask_all(&mut self) -> Result<Option<Finding>, Halt> {
        for &rule in rules::survey_of(&self.evidence.setting) {
            if let Some(finding) = self.ask(rule)? {
                return Ok(Some(finding));
            }
        }
        for &rule in rules::rules_of(&self.evidence.setting) {
            if !self.has_time_for(Duration::ZERO) {
                break;
            }
            if let Some(finding) = self.ask(rule)? {
                return Ok(Some(finding));
            }
        }
        // What was observed so far may tell without further experiments.
        Ok(self.without_experiment())
    }

    /// Applies a rule until it gives a verdict or passes.
    fn ask(&mut self, rule: Rule) -> Result<Option<Finding>, Halt> {
        loop {
            let evidence = self.examined();
            evidence.take_read();
            match rule(evidence) {
                Ok(Some(finding)) => {
                    let again = |evidence: &Evidence| rule(evidence).ok().flatten();
                    self.decided = decisive::experiments(evidence, &finding, &again);
                    return Ok(Some(self.with_onset(finding)));
                }
                Ok(None) => return Ok(None),
                Err(ask) => self.carry_out(*ask)?,
            }
        }
    }

    fn carry_out(&mut self, ask: Ask) -> Result<(), Halt> {
        match ask {
            Ask::Run { experiment, must_connect } => match self.run(&experiment) {
                Err(Halt::Run(RunError::Unreachable { .. })) if !must_connect => Ok(()),
                outcome => outcome,
            },
            Ask::InTurns(ways) => self.run_in_turns(ways),
            Ask::Beside { load, light } => self.run_beside(&load, &light),
        }
    }

    /// Returns the verdict that needs no further experiment, if there is one and the load of the user was tried.
    fn without_experiment(&mut self) -> Option<Finding> {
        self.evidence.positions.full?;
        let evidence = self.examined();
        evidence.take_read();
        let finding = rules::without_experiment(evidence)?;
        self.decided = decisive::experiments(evidence, &finding, &rules::without_experiment);
        Some(self.with_onset(finding))
    }

    /// Returns the evidence that the rules read.
    fn examined(&self) -> &Evidence {
        self.below.as_ref().unwrap_or(&self.evidence)
    }

    /// Returns a finding with where errors begin, if it is one about the load below them.
    fn with_onset(&self, finding: Finding) -> Finding {
        match self.below {
            Some(_) => below_errors::with_onset(&self.evidence, finding),
            None => finding,
        }
    }

    fn run(&mut self, experiment: &Experiment) -> Result<(), Halt> {
        let planned = self.within_budget(self.order(experiment, self.evidence.setting.max_rate))?;
        if let Some(rest) = experiment.rest {
            self.begin(&ExperimentLabel { id: ExperimentId::Pause, ..experiment.label() })?;
            self.runner.rest(rest)?;
        }
        self.begin(&experiment.label())?;
        let outcome = self.runner.run(&planned);
        if let Err(Halt::Run(RunError::Unreachable { .. })) = outcome {
            self.evidence.add_unreached(experiment);
            self.conclude();
        }
        let observation = self.once_open(&planned, outcome?)?;
        self.add(observation)
    }

    /// Returns the observation of a step of the ladder; a repetition with a longer warm-up if connections were still being opened while
    /// it was measured.
    fn once_open(&mut self, order: &Order<'_>, seen: Observation) -> Result<Observation, Halt> {
        let Some(warmup) = settling::until_open(&seen, order.warmup) else { return Ok(seen) };
        let longest = Duration::from_secs_f64(self.evidence.setting.budget_s) / LONGEST;
        let Ok(longer) = self.within_budget(Order { warmup: warmup.min(longest), ..*order }) else { return Ok(seen) };
        self.go_on()?;
        match self.runner.run(&longer) {
            // A recording has an experiment once, and a server may be gone meanwhile: what was measured stands.
            Err(Halt::NotRecorded(_) | Halt::Run(RunError::Unreachable { .. })) => Ok(seen),
            again => again,
        }
    }

    /// Runs A B A B ... until the interval of their ratio is narrow, two pairs agree, or little of the budget is left.
    fn run_in_turns(&mut self, ways: [Experiment; 2]) -> Result<(), Halt> {
        for round in 1.. {
            for way in &ways {
                self.run(way)?;
            }
            let contrast @ Contrast { of, .. } = self.evidence.pairs(&ways[0], &ways[1]);
            let spent = self.spent();
            let least = if spent > LITTLE_BUDGET { FEW_PAIRS } else { LEAST_PAIRS };
            let is_narrow = of.high <= of.ratio * NARROW_PAIRS;
            let agree = round >= AGREEING_PAIRS
                && (contrast.is_above(CLEARLY_BETTER) && is_narrow || contrast.are_alike && is_looked_for(ways[1].id));
            if agree || round >= MOST_PAIRS || round >= least && (is_narrow || spent > NO_BUDGET) {
                break;
            }
        }
        self.evidence.add_contrast(&ways);
        self.conclude();
        Ok(())
    }

    fn run_beside(&mut self, load: &Experiment, light: &Experiment) -> Result<(), Halt> {
        let part = |share: f64| self.evidence.setting.max_rate.map(|rate| rate * share);
        let order = self.within_budget(self.order(load, part(RATE_PARTS[0])))?;
        let light = Order { experiment: light, max_rate: part(RATE_PARTS[1]), ..order };
        self.begin(&load.label())?;
        match self.runner.run_beside(&order, &light) {
            Ok([full, beside]) => {
                self.add(beside)?;
                self.add(full)
            }
            Err(Halt::Run(RunError::Unreachable { .. })) => {
                self.evidence.add_unreached(load);
                self.conclude();
                Ok(())
            }
            Err(halt) => Err(halt),
        }
    }

    /// Measures how long the server keeps an idle connection, if there is time.
    fn look_at_idle(&mut self) -> Result<(), Halt> {
        let is_kept =
            keep_alive::found(&self.evidence).is_some_and(|found| found.kept && found.most_requests != Some(1));
        let Some(experiment) = keep_alive::idle(&self.evidence).filter(|_| is_kept) else { return Ok(()) };
        if !self.has_time_for(self.order(&experiment, None).duration) {
            return Ok(());
        }
        self.carry_out(Ask::Run { experiment, must_connect: false })
    }

    /// Looks for the places of a finding: the load under which it was seen runs once more while the server is sampled.
    fn locate(&mut self, finding: &Finding) -> Result<Option<Located>, Halt> {
        let seen = rules::seen_through(self.examined());
        if seen.positions.full.is_none() {
            return Ok(None);
        }
        let Some(site) = Site::of(finding.factor, seen.full()) else { return Ok(None) };
        let (connections, seconds) = (seen.full().run.plan.connections, SAMPLED.as_secs_f64());
        let experiment = seen.setting.with_connections(connections, ExperimentId::Sampled, seconds);
        let order = Order { duration: SAMPLED, ..self.order(&experiment, self.evidence.setting.max_rate) };
        let order = self.within_budget(order)?;
        let (figures, bounds) = (seen.figures.clone(), seen.bounds());
        self.begin(&experiment.label())?;
        let located = self.runner.locate(&order, &site)?;
        Ok(located.map(|located| place_gain::cut(located, finding.factor, &figures, &bounds)))
    }

    fn begin(&mut self, label: &ExperimentLabel) -> Result<(), Halt> {
        self.go_on()?;
        let spent = self.spent();
        (self.tell)(ExperimentStart { label, spent });
        Ok(())
    }

    fn add(&mut self, observation: Observation) -> Result<(), Halt> {
        self.go_on()?;
        let ended_s = self.runner.elapsed().as_secs_f64();
        self.evidence.add(Observation { ended_s, ..observation });
        self.conclude();
        Ok(())
    }

    /// Updates what follows from the observations.
    fn conclude(&mut self) {
        let evidence = &mut self.evidence;
        evidence.acks = acks::found(evidence);
        evidence.positions = Positions { alone: survey::alone(evidence), full: survey::full(evidence) };
        evidence.figures = survey::figures(evidence);
        self.below = below_errors::view(evidence);
    }

    fn go_on(&self) -> Result<(), Halt> {
        if self.stop.load(Ordering::Relaxed) { Err(Halt::Interrupted) } else { Ok(()) }
    }

    /// Returns the share of the budget that is spent, 0 to 1 and beyond.
    fn spent(&self) -> f64 {
        self.runner.elapsed().as_secs_f64() / self.evidence.setting.budget_s
    }

    fn has_time_for(&self, time: Duration) -> bool {
        (self.runner.elapsed() + time).as_secs_f64() <= LAST_RULE * self.evidence.setting.budget_s
    }

    fn order<'e>(&self, experiment: &'e Experiment, max_rate: Option<f64>) -> Order<'e> {
        Order {
            experiment,
            duration: self.length(experiment),
            warmup: self.warmup(experiment),
            quick_ack: experiment.load.quick_ack.unwrap_or(self.evidence.acks.is_some()),
            max_rate: max_rate.filter(|_| experiment.load.rate.is_none()),
            timeout: Duration::from_secs_f64(self.evidence.setting.experiment_timeout_s()),
        }
    }

    /// Returns an order as far as the rest of the budget goes, all that the experiment takes beside its measured time included.
    ///
    /// # Errors
    /// [`Halt::OutOfTime`] if not even the shortest experiment would end within the budget.
    fn within_budget<'e>(&self, order: Order<'e>) -> Result<Order<'e>, Halt> {
        let budget = Duration::from_secs_f64(self.evidence.setting.budget_s);
        let together = if self.evidence.setting.agents.is_some() { FLEET } else { Duration::ZERO };
        let beside = order.experiment.rest.unwrap_or_default() + order.warmup + budget / LONGEST_DRAIN + together;
        let left = budget.saturating_sub(self.runner.elapsed() + beside);
        if left < SHORTEST {
            return Err(Halt::OutOfTime);
        }
        Ok(Order { duration: order.duration.min(left), ..order })
    }

    /// Returns how long an experiment takes: in proportion to the budget, and as far as the rest of the budget goes.
    fn length(&self, experiment: &Experiment) -> Duration {
        let budget = Duration::from_secs_f64(self.evidence.setting.budget_s);
        let response = Duration::from_secs_f64(self.evidence.figures.alone_mean_s);
        let (seconds, response, settled) = match experiment.length {
            Length::Share(share) => return budget.mul_f64(share),
            Length::Seconds(seconds) => (seconds, Duration::ZERO, None),
            Length::Responses(seconds) => (seconds, response, self.settling(experiment).least_length()),
        };
        let planned = Duration::from_secs_f64(budget.as_secs_f64() / PLANNED_S * seconds);
        let least = (budget / 40).clamp(SHORTEST, SHORT);
        let left = budget.saturating_sub(self.runner.elapsed());
        let longest = (budget / LONGEST).min((left / SHARED_BY).max(SHORTEST));
        // Where not even twice the response time fits, the steady part of the load is not seen in any case.
        let settled = settled.filter(|settled| *settled <= longest).unwrap_or_default();
        planned.max(least).max(response * RESPONSES).max(settled).min(longest)
    }

    fn warmup(&self, experiment: &Experiment) -> Duration {
        let settled = || self.settling(experiment).warmup(self.length(experiment));
        match experiment.warmup {
            Warmup::None => Duration::ZERO,
            Warmup::Short => WARMUP,
            Warmup::Settled => settled(),
            Warmup::Connected => settled() + SYN_AGAIN,
        }
    }

    /// Returns what an experiment has to wait for, as far as earlier experiments tell.
    fn settling(&self, experiment: &Experiment) -> Settling {
        let figures = &self.evidence.figures;
        Settling::of(&experiment.load, figures.alone_mean_s, figures.ladder.most())
    }
}

/// Returns whether an experiment looks for something that raises throughput, without which the rule that requests it passes.
fn is_looked_for(id: ExperimentId) -> bool {
    use ExperimentId as Id;
    matches!(id, Id::AckedAtOnce | Id::LoadAckedAtOnce | Id::Threads(_) | Id::Agents(_) | Id::HeadsOnly | Id::Direct)
}
