//! Whether a server may get requests while a plan is made.

use crate::error::PlanError;
use torr_press::Plan;

/// Decides on what `--reflection` and `--alt-svc` request before the run, each a plan of its own: an error forbids it.
pub type Permit<'a> = &'a dyn Fn(&Plan) -> Result<(), PlanError>;

/// Permits requests to any server.
///
/// # Errors
/// None.
pub fn any(_: &Plan) -> Result<(), PlanError> {
    Ok(())
}
