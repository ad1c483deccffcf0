//! What a script does with a page that it has received: `html`, `submitForm`, `clickLink`.

use rquickjs::{Ctx, Object, Result};

/// Adds the methods to the prototype of responses.
pub(super) fn install<'js>(_ctx: &Ctx<'js>, _prototype: &Object<'js>) -> Result<()> {
    Ok(())
}
