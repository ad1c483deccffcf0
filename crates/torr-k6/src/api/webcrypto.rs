//! The global `crypto`: Web Crypto.

use rquickjs::{Ctx, Object, Result};

/// Returns the object `crypto`.
pub(super) fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    Object::new(ctx.clone())
}
