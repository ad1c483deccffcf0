//! What the threads of a run share.

use super::layout::Layout;
use super::rate_limit::RateLimit;
use super::virtual_user;
use crate::control::{Control, StopCause};
use crate::error::ScriptError;
use crate::executors::Conductor;
use crate::machine::Machine;
use crate::metrics::{Collector, Recorder, Sample, SampleSender};
use crate::modules::Program;
use crate::shared::RunShared;
use crate::user::Exports;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, OnceLock};
use torr_press::Steering;
use torr_press::learnt::LearntServers;

/// What the threads of a run share.
pub struct Load {
    /// What all virtual users share.
    pub run: Arc<RunShared>,
    /// The script.
    pub program: Arc<Program>,
    /// What the script exports.
    pub exports: Exports,
    /// What decides when iterations begin and end.
    pub conductor: Arc<Conductor>,
    /// The metrics of all threads.
    pub collector: Collector,
    /// Where samples go, if there are outputs.
    pub samples: Option<SyncSender<Vec<Sample>>>,
    /// The servers.
    pub servers: Arc<LearntServers>,
    /// What the operator of the run wants, if it has one.
    pub steering: OnceLock<Arc<Steering>>,
    /// Which user of the engine is what.
    pub layout: Layout,
    /// Whether the run has come to its end on all threads.
    pub is_over: AtomicBool,
    /// The number of threads whose virtual users exist.
    pub ready: AtomicUsize,
    /// The limit of requests per second, if there is one.
    pub rate: Option<RateLimit>,
}

impl fmt::Debug for Load {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Load").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl Load {
    /// Returns the recorder of a thread.
    pub(super) fn recorder(&self) -> Rc<RefCell<Recorder>> {
        let samples = self.samples.clone().map(SampleSender::new);
        Rc::new(RefCell::new(Recorder::new(&self.collector, samples)))
    }

    /// Returns a virtual user whose modules are loaded.
    ///
    /// # Errors
    /// If the top level of a module throws an error.
    pub(super) fn machine(&self, id: u64, recorder: &Rc<RefCell<Recorder>>) -> Result<Machine, ScriptError> {
        virtual_user::loaded(&self.run, &self.program, id, recorder)
    }

    /// Ends the run with an error.
    pub(super) fn fail(&self, error: ScriptError) {
        self.control().stop(StopCause::Failed(error));
    }

    pub(super) fn control(&self) -> &Control {
        &self.run.control
    }
}
