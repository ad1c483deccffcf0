//! Tags and metadata of a virtual user as objects that scripts read and change.

use super::super::tag_values;
use crate::metrics::CurrentTags;
use crate::user::Vu;
use rquickjs::{Ctx, Exception, Function, Result, Value};
use std::collections::BTreeMap;

/// Makes an object out of functions that get, set, remove and list entries.
const MAKE: &str = "(get, set, remove, names) => new Proxy({}, {
    get: (_, name) => typeof name === 'string' ? get(name) : undefined,
    set: (_, name, value) => { set(String(name), value); return true; },
    has: (_, name) => get(String(name)) !== undefined,
    deleteProperty: (_, name) => { remove(String(name)); return true; },
    ownKeys: () => names(),
    getOwnPropertyDescriptor: (_, name) => {
        const value = get(String(name));
        return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
    },
})";

/// What an object shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// The tags.
    Tags,
    /// The metadata.
    Metadata,
}

impl Shown {
    fn entries(self, tags: &CurrentTags) -> &BTreeMap<String, String> {
        match self {
            Self::Tags => tags.tags(),
            Self::Metadata => tags.metadata(),
        }
    }

    fn set(self, tags: &mut CurrentTags, name: &str, value: Option<String>) {
        match self {
            Self::Tags => tags.set_tag(name, value),
            Self::Metadata => tags.set_metadata(name, value),
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Tags => "metric tag",
            Self::Metadata => "metric metadata",
        }
    }
}

/// Returns an object with the entries of the virtual user.
pub(super) fn object<'js>(ctx: &Ctx<'js>, shown: Shown) -> Result<Value<'js>> {
    let get = move |ctx: Ctx<'js>, name: String| {
        let vu = Vu::of(&ctx);
        shown.entries(&vu.tags.borrow()).get(&name).cloned()
    };
    let set = move |ctx: Ctx<'js>, name: String, value: Value<'js>| match tag_values::text(&value)? {
        Some(text) => {
            shown.set(&mut Vu::of(&ctx).tags.borrow_mut(), &name, Some(text));
            Ok(())
        }
        None => Err(Exception::throw_type(&ctx, &tag_values::wrong_type(shown.kind(), &name))),
    };
    let remove = move |ctx: Ctx<'js>, name: String| shown.set(&mut Vu::of(&ctx).tags.borrow_mut(), &name, None);
    let names = move |ctx: Ctx<'js>| {
        let vu = Vu::of(&ctx);
        shown.entries(&vu.tags.borrow()).keys().cloned().collect::<Vec<String>>()
    };
    let make: Function<'js> = ctx.eval(MAKE)?;
    let (get, set) = (Function::new(ctx.clone(), get)?, Function::new(ctx.clone(), set)?);
    let (remove, names) = (Function::new(ctx.clone(), remove)?, Function::new(ctx.clone(), names)?);
    make.call((get, set, remove, names))
}
