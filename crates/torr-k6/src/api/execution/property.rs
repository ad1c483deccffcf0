//! Properties of `k6/execution`, which always show the present value.

use rquickjs::object::Accessor;
use rquickjs::{Ctx, IntoJs, Object, Result};

/// Defines a property whose value is computed at each read.
pub(super) fn property<'js, V, F>(object: &Object<'js>, name: &str, get: F) -> Result<()>
where
    V: IntoJs<'js> + 'js,
    F: Fn(Ctx<'js>) -> Result<V> + 'js,
{
    object.prop(name, Accessor::new_get(get).enumerable())
}
