//! The evidence of a diagnosis: the user's load, and the observations so far.

use crate::contrast::Contrast;
use crate::experiment::{Ask, Experiment};
use crate::figures::Figures;
use crate::gain::Bounds;
use crate::observation::Observation;
use crate::setting::Setting;
use std::cell::RefCell;
use std::rc::Rc;
use torr_gauge::verdict::ExperimentId;

/// The effect of acknowledgements that are sent at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Acks {
    /// The medians of single requests' response times in seconds, before and after.
    pub medians_s: (f64, f64),
    /// The ratio of throughput of one connection.
    pub alone: Contrast,
}

/// The positions of observations that many rules read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Positions {
    /// One request at a time.
    pub alone: Option<usize>,
    /// The load of the user.
    pub full: Option<usize>,
}

/// The input of rules. Figures, acknowledgements and positions follow from the observations: the driver updates them after each one.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// The load of the user, and what may be varied.
    pub setting: Setting,
    /// The figures that follow from the observations.
    pub figures: Figures,
    /// The effect of acknowledgements that are sent at once, if responses wait for acknowledgements.
    pub acks: Option<Acks>,
    /// The positions of the observations of one request at a time and of the load of the user among all.
    pub positions: Positions,
    /// Whether the load of the user stands for the highest load without errors.
    pub below_errors: bool,
    observations: Rc<Vec<Observation>>,
    /// The experiments in which no connection could be opened.
    unreached: Vec<ExperimentId>,
    contrasts: Vec<[ExperimentId; 2]>,
    /// The experiments that a rule has read since this was last taken. Views of the same evidence share it.
    read: Rc<RefCell<Vec<ExperimentId>>>,
}

impl Evidence {
    /// Returns the evidence before any experiment.
    pub fn new(setting: Setting) -> Self {
        Self { setting, ..Self::default() }
    }

    /// Adds an observation.
    pub fn add(&mut self, observation: Observation) {
        Rc::make_mut(&mut self.observations).push(observation);
    }

    /// Adds an experiment in which no connection could be opened.
    pub fn add_unreached(&mut self, experiment: &Experiment) {
        self.unreached.push(experiment.id);
    }

    /// Adds that two experiments have been carried out in turns as often as they need to be.
    pub fn add_contrast(&mut self, ways: &[Experiment; 2]) {
        self.contrasts.push([ways[0].id, ways[1].id]);
    }

    /// Returns all observations in their order.
    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// Returns all observations in their order.
    pub fn into_observations(self) -> Vec<Observation> {
        Rc::unwrap_or_clone(self.observations)
    }

    /// Returns the evidence without the observations of an experiment, and with the figures of before. Those at a position that is
    /// kept stay.
    pub fn without(&self, id: ExperimentId) -> Self {
        let kept = [self.positions.alone, self.positions.full];
        let is_left = |at: usize, observation: &Observation| observation.id != id || kept.contains(&Some(at));
        let all = || self.observations.iter().enumerate();
        let moved = |at: usize| all().take(at).filter(|(at, observation)| is_left(*at, observation)).count();
        let left =
            all().filter(|(at, observation)| is_left(*at, observation)).map(|(_, observation)| observation.clone());
        Self {
            observations: Rc::new(left.collect()),
            positions: Positions { alone: self.positions.alone.map(moved), full: self.positions.full.map(moved) },
            ..self.clone()
        }
    }

    /// Returns the evidence with other figures.
    pub fn with_figures(&self, figures: Figures) -> Self {
        Self { figures, ..self.clone() }
    }

    /// Returns the experiments that were read since the last call, in the order of their first reading.
    pub fn take_read(&self) -> Vec<ExperimentId> {
        self.read.take()
    }

    fn note_read(&self, id: ExperimentId) {
        let mut read = self.read.borrow_mut();
        if !read.contains(&id) {
            read.push(id);
        }
    }

    /// Returns where in the order of observations the last one of an experiment stands.
    pub fn position(&self, id: ExperimentId) -> Option<usize> {
        self.observations.iter().rposition(|observation| observation.id == id)
    }

    /// Returns the last observation of an experiment.
    pub fn last(&self, id: ExperimentId) -> Option<&Observation> {
        let at = self.position(id)?;
        self.note_read(id);
        Some(&self.observations[at])
    }

    /// Returns the experiments in which not one connection came about.
    pub fn unreached(&self) -> &[ExperimentId] {
        &self.unreached
    }

    /// Whether not one connection came about in an experiment.
    pub fn is_unreached(&self, id: ExperimentId) -> bool {
        self.unreached.contains(&id)
    }

    /// Returns the observation of an experiment without which the diagnosis means nothing.
    ///
    /// # Errors
    /// The experiment, as long as it has not been carried out.
    pub fn observe(&self, experiment: Experiment) -> Result<&Observation, Box<Ask>> {
        match self.last(experiment.id) {
            Some(observation) => Ok(observation),
            None => Err(Box::new(Ask::Run { experiment, must_connect: true })),
        }
    }

    /// Returns the observation of an experiment, or nothing if not one connection came about.
    ///
    /// # Errors
    /// The experiment, as long as it has not been carried out.
    pub fn observe_if_reached(&self, experiment: Experiment) -> Result<Option<&Observation>, Box<Ask>> {
        match self.last(experiment.id) {
            Some(observation) => Ok(Some(observation)),
            None if self.is_unreached(experiment.id) => Ok(None),
            None => Err(Box::new(Ask::Run { experiment, must_connect: false })),
        }
    }

    /// Returns the throughput of the second experiment as a ratio to the first one's, measured in turns.
    ///
    /// # Errors
    /// Both experiments, as long as they have not been carried out.
    pub fn in_turns(&self, ways: [Experiment; 2]) -> Result<Contrast, Box<Ask>> {
        match self.contrast(&ways) {
            Some(contrast) => Ok(contrast),
            None => Err(Box::new(Ask::InTurns(ways))),
        }
    }

    /// Returns the ratio between two experiments that have been carried out in turns.
    pub fn contrast(&self, [a, b]: &[Experiment; 2]) -> Option<Contrast> {
        let is_done = |[first, second]: &[ExperimentId; 2]| (*first, *second) == (a.id, b.id);
        self.contrasts.iter().any(is_done).then(|| self.pairs(a, b))
    }

    /// Returns the ratio over all pairs of two experiments so far, of which there is at least one.
    pub fn pairs(&self, a: &Experiment, b: &Experiment) -> Contrast {
        let rates = |way: &Experiment| -> Vec<f64> {
            self.note_read(way.id);
            let of_way = self.observations.iter().filter(|seen| seen.id == way.id);
            of_way.map(Observation::good_rps).collect()
        };
        Contrast::over(&rates(a).into_iter().zip(rates(b)).collect::<Vec<_>>())
    }

    /// Returns the observations of a load and of a light load at the same time, or nothing if not one connection of either came about.
    ///
    /// # Errors
    /// Both experiments, as long as they have not been carried out.
    pub fn beside(&self, load: Experiment, light: Experiment) -> Result<Option<[&Observation; 2]>, Box<Ask>> {
        match (self.last(load.id), self.last(light.id)) {
            (Some(full), Some(beside)) => Ok(Some([full, beside])),
            _ if self.is_unreached(load.id) => Ok(None),
            _ => Err(Box::new(Ask::Beside { load, light })),
        }
    }

    /// Returns the observation of one request at a time.
    ///
    /// # Panics
    /// Before the survey.
    pub fn alone(&self) -> &Observation {
        self.read_at(self.positions.alone.expect("the survey begins with one request at a time"))
    }

    /// Returns the observation of the load of the user.
    ///
    /// # Panics
    /// Before the survey.
    pub fn full(&self) -> &Observation {
        self.read_at(self.positions.full.expect("the survey has the user's load"))
    }

    fn read_at(&self, at: usize) -> &Observation {
        let observation = &self.observations[at];
        self.note_read(observation.id);
        observation
    }

    /// Returns what bounds throughput once the present limit is lifted. The load of the user acknowledges as usual.
    pub fn bounds(&self) -> Bounds {
        Bounds::of(&self.figures, self.acks.map_or(self.figures.alone_mean_s, |acks| acks.medians_s.0))
    }
}
