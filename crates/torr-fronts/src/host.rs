//! The program that a front end runs in.

use crate::error::FrontError;
use crate::k6::RunArgs;
use crate::load::FrontLoad;
use std::process::ExitCode;
use torr_gauge::collector::{Measurement, Progress};

/// The program that a front end runs in: it carries out the load, and has the output.
pub trait Host {
    /// Prints to standard output.
    fn print(text: &str);

    /// Returns the exit code of an interrupted run, whose report was printed.
    fn interrupted() -> ExitCode;

    /// Carries out a load; `watch` is called about once a second.
    ///
    /// # Errors
    /// If the load cannot be carried out.
    fn measure(&mut self, load: FrontLoad, watch: impl FnMut(&Progress)) -> Result<Measurement, FrontError>;

    /// Ends the run after its report: calls what the load's script has for the end, and prints the verdict and the notes on figures
    /// that differ from the other program's. Returns the exit code if it is not that of the run.
    ///
    /// # Errors
    /// If the script cannot be called.
    fn finish(&mut self, measured: &Measurement, notes: &[String]) -> Result<Option<ExitCode>, FrontError>;

    /// Runs a script of k6, or prints its options as JSON if `inspects`. Returns k6's exit code.
    ///
    /// # Errors
    /// If the run fails in a way for which k6 has no exit code.
    fn k6(&mut self, args: RunArgs, inspects: bool) -> Result<ExitCode, FrontError>;
}
