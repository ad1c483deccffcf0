//! Waits of a script: a host function suspends its virtual user and goes on with the outcome.

use super::fiber::Resume;
use super::interrupt;
use super::vu::Vu;
use super::wanted::{Wanted, Woken};
use rquickjs::{Ctx, Exception, Result};

/// Suspends the virtual user until what it wants is there. Other users of the thread go on meanwhile.
///
/// # Errors
/// If the iteration is interrupted: the error cannot be caught by the script and is to be handed on with `?`.
pub fn wait(ctx: &Ctx<'_>, wanted: Wanted) -> Result<Woken> {
    let vu = Vu::of(ctx);
    if vu.interrupts.is_set() {
        return Err(interrupt::throw(ctx));
    }
    match vu.exit.suspend(wanted) {
        Some(Resume::Woken(woken)) => Ok(woken),
        Some(Resume::Interrupt | Resume::Begin(_)) => {
            vu.interrupts.set();
            Err(interrupt::throw(ctx))
        }
        None => Err(Exception::throw_message(ctx, "nothing can be waited for here")),
    }
}
