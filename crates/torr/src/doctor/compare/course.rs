//! What every comparison is given and gives back.

use crate::exit::Stop;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use torr_doctor::compare::Comparison;
use torr_doctor::{ExperimentStart, Halt};

/// Who is told of the steps, and what ends them.
pub struct Course<'c> {
    pub stop: Arc<AtomicBool>,
    pub tell: &'c mut dyn FnMut(ExperimentStart<'_>),
}

/// What is wrong with the command line, or else what came of the comparison.
pub type Found = Result<Result<Comparison, Halt>, Stop>;
