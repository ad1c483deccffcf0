//! A server that is compared.

use std::any::Any;
use torr_press::Plan;
use torr_signals::Watcher;

/// A server of one version.
pub struct Server {
    /// The load, of which pace and length are chosen by the comparison.
    pub(super) plan: Plan,
    /// The watcher of its processes, where they run here.
    pub(super) watcher: Option<Watcher>,
    _running: Option<Box<dyn Any>>,
}

impl Server {
    /// Returns a server that responds. `running` ends it on drop, if it is to be ended.
    pub fn new(plan: Plan, running: Option<Box<dyn Any>>) -> Self {
        Self { watcher: plan.watcher(), plan, _running: running }
    }
}
