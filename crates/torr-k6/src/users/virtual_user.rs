//! Virtual users that are ready for their tasks.

use crate::error::{ErrorKind, ScriptError};
use crate::machine::Machine;
use crate::metrics::{CurrentTags, Recorder};
use crate::modules::Program;
use crate::shared::RunShared;
use crate::user::{TaskEnd, Vu};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Returns a virtual user whose modules are loaded. What it measures goes to a recorder of its thread.
///
/// # Errors
/// If the top level of a module throws an error.
pub(crate) fn loaded(
    run: &Arc<RunShared>,
    program: &Arc<Program>,
    id: u64,
    recorder: &Rc<RefCell<Recorder>>,
) -> Result<Machine, ScriptError> {
    let vu = Vu::new(run.clone(), id, recorder.clone());
    if let Some(all) = run.options.get() {
        let tags = all.options.tags.clone().unwrap_or_default();
        *vu.tags.borrow_mut() = CurrentTags::new(all.options.enabled_system_tags(), &tags);
    }
    let mut machine = Machine::new(vu, program)?;
    match machine.load() {
        TaskEnd::Threw(mut error) => {
            if id > 0 {
                error.message = format!("{} (in the init context of VU {id})", error.message);
            }
            Err(*error)
        }
        TaskEnd::Interrupted => Err(ScriptError::new(ErrorKind::Aborted, "the test was aborted in the init context")),
        _ => Ok(machine),
    }
}
