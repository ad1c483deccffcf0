//! The common arguments and results of comparisons.

use crate::exit::CliError;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use torr_doctor::compare::Comparison;
use torr_doctor::{ExperimentStart, Halt};

/// The display of progress, and the flag that interrupts.
pub struct Course<'c> {
    pub stop: Arc<AtomicBool>,
    pub tell: &'c mut dyn FnMut(ExperimentStart<'_>),
}

/// The result of a comparison, or a mistake of the command line.
pub type Found = Result<Result<Comparison, Halt>, CliError>;
