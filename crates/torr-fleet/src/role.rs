//! What an agent leaves to the program around it.

use crate::load::LoadAndFiles;
use torr_gauge::{RunResult, Verdict};
use torr_press::Plan;

/// What an agent leaves to the program: the meaning of a load, and of a result.
pub trait Agent: Send + Sync + 'static {
    /// Returns the plan of a load that was sent, which may do nothing but send requests. Files come from the load alone.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    fn plan(&self, load: LoadAndFiles) -> Result<Plan, String>;

    /// Returns the verdict on what this agent measured alone.
    fn judge(&self, result: &RunResult) -> Option<Verdict>;

    /// Notes a line for the user. It holds no secret.
    fn note(&self, line: &str);
}
