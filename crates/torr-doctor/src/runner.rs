//! What carries experiments out: real load on a real service, a simulation or a recording.

use crate::experiment::Experiment;
use crate::halt::Halt;
use crate::locate::Site;
use crate::observation::Observation;
use std::time::Duration;
use torr_gauge::verdict::Located;

/// An experiment with all that the driver decides: times, limits and what earlier experiments made necessary.
#[derive(Debug, Clone, Copy)]
pub struct Order<'e> {
    /// The experiment's name.
    pub experiment: &'e Experiment,
    /// The longest that it takes.
    pub duration: Duration,
    /// The length of the warm-up.
    pub warmup: Duration,
    /// Whether acknowledgements are sent at once.
    pub quick_ack: bool,
    /// Requests per second that are never exceeded in a closed loop.
    pub max_rate: Option<f64>,
    /// After how long a request without a response has failed.
    pub timeout: Duration,
}

/// Carries experiments out, one after another.
pub trait ExperimentRunner {
    /// Returns the time since the diagnosis began.
    fn elapsed(&self) -> Duration;

    /// Carries an experiment out.
    ///
    /// # Errors
    /// [`Halt`]; if not one connection came about, [`torr_press::RunError::Unreachable`] in it.
    fn run(&mut self, order: &Order<'_>) -> Result<Observation, Halt>;

    /// Carries an experiment out with a second, light load at the same time. Returns both observations in this order.
    ///
    /// # Errors
    /// [`Halt`], as [`ExperimentRunner::run`].
    fn run_beside(&mut self, order: &Order<'_>, light: &Order<'_>) -> Result<[Observation; 2], Halt>;

    /// Samples the server at a site while the load of an order runs. Returns `None` if nothing samples it.
    ///
    /// # Errors
    /// [`Halt`], as [`ExperimentRunner::run`].
    fn locate(&mut self, _order: &Order<'_>, _site: &Site) -> Result<Option<Located>, Halt> {
        Ok(None)
    }

    /// Sends nothing for a while.
    ///
    /// # Errors
    /// [`Halt::Interrupted`].
    fn rest(&mut self, time: Duration) -> Result<(), Halt>;
}
