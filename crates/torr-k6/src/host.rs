//! Values of the host that QuickJS stores: as user data of a runtime, and as objects of classes that Rust implements.

use std::marker::PhantomData;
use std::ops::Deref;

use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::Constructor;
use rquickjs::object::Property;
use rquickjs::{Array, Class, Ctx, Error, Exception, JsLifetime, Object, Result, Value};

/// The most items of an array that host functions take. An array without items may have any length below 2^32.
const MOST_ITEMS: f64 = 1e7;

/// A value without references to JavaScript's values, as user data or as the content of an object.
pub struct Host<T: 'static>(pub T);

// SAFETY: a `Host` has no lifetime of QuickJS's: `T` is 'static, so no change of lifetime can be observed.
unsafe impl<'js, T: 'static> JsLifetime<'js> for Host<T> {
    type Changed<'to> = Host<T>;
}

impl<T> Deref for Host<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'js, T: 'static> Trace<'js> for Host<T> {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

/// A class of JavaScript objects whose content is a Rust value without references to JavaScript's values.
pub trait HostClass: Sized + 'static {
    /// Name of the class in JavaScript.
    const NAME: &'static str;

    /// Returns the object that holds the methods of the class. QuickJS asks for it once per runtime.
    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>>;
}

impl<'js, T: HostClass> JsClass<'js> for Host<T> {
    const NAME: &'static str = T::NAME;

    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        T::prototype(ctx).map(Some)
    }

    fn constructor(_ctx: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

/// Returns a new object of the class of `content`.
pub fn object<'js, T: HostClass>(ctx: &Ctx<'js>, content: T) -> Result<Object<'js>> {
    Class::instance(ctx.clone(), Host(content)).map(Class::into_inner)
}

/// An object of JavaScript's that a runtime holds as user data. `Tag` tells one such object from others.
pub struct Held<'js, Tag: 'static> {
    object: Object<'js>,
    tag: PhantomData<Tag>,
}

// SAFETY: the only lifetime is that of `object`, which `Changed` replaces; `Tag` is 'static.
unsafe impl<'js, Tag: 'static> JsLifetime<'js> for Held<'js, Tag> {
    type Changed<'to> = Held<'to, Tag>;
}

impl<'js, Tag: 'static> Held<'js, Tag> {
    /// Returns the object of this tag, which is created without properties at the first call.
    pub fn of(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        if let Some(held) = ctx.userdata::<Held<'js, Tag>>() {
            return Ok(held.object.clone());
        }
        let object = Object::new_proto(ctx.clone(), None)?;
        let held = Held::<'js, Tag> { object: object.clone(), tag: PhantomData };
        ctx.store_userdata(held).map_err(|_| rquickjs::Exception::throw_message(ctx, "user data is in use"))?;
        Ok(object)
    }
}

/// Returns the items of an array.
///
/// # Errors
/// If the array is longer than [`MOST_ITEMS`], which is thrown.
pub fn items<'js>(array: &Array<'js>) -> Result<impl Iterator<Item = Result<Value<'js>>>> {
    let length: f64 = array.as_object().get("length")?;
    if length > MOST_ITEMS {
        let why = format!("an array must have at most {MOST_ITEMS} items here, found {length}");
        return Err(Exception::throw_range(array.ctx(), &why));
    }
    Ok(array.clone().into_iter())
}

/// Returns the error of a host function after it was thrown. Scripts see the name that k6 gives such errors.
pub fn go_error(ctx: &Ctx<'_>, message: &str) -> Error {
    named_error(ctx, "GoError", message)
}

/// Returns an error with a name of its own after it was thrown.
pub fn named_error(ctx: &Ctx<'_>, name: &str, message: &str) -> Error {
    let made = Exception::from_message(ctx.clone(), message).and_then(|error| {
        let name = Property::from(name).configurable().writable();
        error.as_object().prop("name", name)?;
        Ok(error.throw())
    });
    made.unwrap_or_else(|error| error)
}
