//! Cookie jars: that of the virtual user, and those that scripts make.

mod store;

use super::cookie::{self, SetCookie};
use super::target::Target;
use super::value::{is_nothing, is_true, text_of};
use crate::host::{Host, HostClass, go_error};
use crate::user::Vu;
use rquickjs::function::{Constructor, Opt, This};
use rquickjs::{Array, Class, Coerced, Ctx, FromJs, Function, Object, Result, Value};
use std::cell::RefCell;
use std::rc::Rc;
use store::Store;
use url::Url;

/// A cookie jar.
#[derive(Debug, Clone, Default)]
pub struct Jar(Rc<RefCell<Store>>);

impl Jar {
    /// Returns the names and values that go with a request to a URL.
    #[must_use]
    pub fn cookies(&self, url: &Url) -> Vec<(String, String)> {
        self.0.borrow().matching(url)
    }

    /// Keeps the cookie of a `Set-Cookie` field. One that is not acceptable is left out.
    pub fn keep(&self, set_cookie: &[u8], url: &Url) {
        if let Some(cookie) = SetCookie::parse(set_cookie) {
            self.0.borrow_mut().keep(cookie, url);
        }
    }

    /// Removes all cookies.
    pub fn empty(&self) {
        self.0.borrow_mut().empty();
    }

    /// Removes the cookie of a name that a response of a URL would set without a path and a domain.
    fn remove(&self, url: &Url, name: String) {
        self.0.borrow_mut().keep(SetCookie { name, max_age: -1, ..SetCookie::default() }, url);
    }
}

type ThisJar<'js> = This<Class<'js, Host<Jar>>>;

impl HostClass for Jar {
    const NAME: &'static str = "CookieJar";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let prototype = Object::new(ctx.clone())?;
        prototype.set("cookiesForURL", Function::new(ctx.clone(), cookies_for_url)?.with_name("cookiesForURL")?)?;
        prototype.set("set", Function::new(ctx.clone(), set)?.with_name("set")?)?;
        prototype.set("clear", Function::new(ctx.clone(), clear)?.with_name("clear")?)?;
        prototype.set("delete", Function::new(ctx.clone(), delete)?.with_name("delete")?)?;
        Ok(prototype)
    }
}

/// Returns the class `http.CookieJar`.
pub fn class<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let make = |ctx: Ctx<'js>| Class::instance(ctx, Host(Jar::default()));
    Constructor::new_class::<Host<Jar>, _, _>(ctx.clone(), make)
}

fn url_of(ctx: &Ctx<'_>, text: &str) -> Result<Url> {
    let target = Target::parse(text).map_err(|why| go_error(ctx, &why))?;
    target
        .url
        .clone()
        .ok_or_else(|| go_error(ctx, &format!("a cookie jar needs a URL of http or https, found '{text}'")))
}

fn cookies_for_url<'js>(ctx: Ctx<'js>, this: ThisJar<'js>, url: String) -> Result<Object<'js>> {
    let url = url_of(&ctx, &url)?;
    let object = Object::new(ctx.clone())?;
    for (name, value) in this.borrow().cookies(&url) {
        let values: Option<Array<'js>> = object.get(&*name)?;
        let values = match values {
            Some(values) => values,
            None => Array::new(ctx.clone())?,
        };
        values.set(values.len(), value)?;
        object.set(&*name, values)?;
    }
    Ok(object)
}

fn set<'js>(
    ctx: Ctx<'js>,
    this: ThisJar<'js>,
    url: String,
    name: String,
    value: Value<'js>,
    options: Opt<Option<Object<'js>>>,
) -> Result<bool> {
    let url = url_of(&ctx, &url)?;
    let value = if is_nothing(&value) { String::new() } else { text_of(&value)? };
    let mut cookie = SetCookie { name, value, ..SetCookie::default() };
    if let Some(options) = options.0.flatten() {
        for property in options.props::<String, Value<'js>>() {
            let (key, value) = property?;
            match key.to_ascii_lowercase().as_str() {
                "domain" => cookie.domain = text_of(&value)?,
                "path" => cookie.path = text_of(&value)?,
                "expires" => cookie.expires = expiry(&ctx, &text_of(&value)?)?,
                "max_age" => cookie.max_age = Coerced::<f64>::from_js(&ctx, value)?.0 as i64,
                "secure" => cookie.secure = is_true(&value)?,
                "http_only" => cookie.http_only = is_true(&value)?,
                _ => {}
            }
        }
    }
    this.borrow().0.0.borrow_mut().keep(cookie, &url);
    Ok(true)
}

/// Returns the time at which a cookie ends, as a script gives it.
fn expiry(ctx: &Ctx<'_>, text: &str) -> Result<Option<i64>> {
    if text.is_empty() {
        return Ok(None);
    }
    let time = cookie::date(text);
    let why =
        || format!("unable to parse \"expires\" date string \"{text}\": expected 'Wed, 01 Jan 2031 00:00:00 GMT'");
    time.map(Some).ok_or_else(|| go_error(ctx, &why()))
}

fn clear<'js>(ctx: Ctx<'js>, this: ThisJar<'js>, url: String) -> Result<()> {
    let url = url_of(&ctx, &url)?;
    let jar = this.borrow();
    jar.cookies(&url).into_iter().for_each(|(name, _)| jar.remove(&url, name));
    Ok(())
}

fn delete<'js>(ctx: Ctx<'js>, this: ThisJar<'js>, url: String, name: String) -> Result<()> {
    if name.is_empty() {
        return Err(go_error(&ctx, "cookie: is null"));
    }
    let url = url_of(&ctx, &url)?;
    this.borrow().remove(&url, name);
    Ok(())
}

/// The function `http.cookieJar`.
pub fn cookie_jar<'js>(ctx: Ctx<'js>) -> Result<Class<'js, Host<Jar>>> {
    let vu = Vu::of(&ctx);
    if vu.is_init() {
        return Err(go_error(&ctx, "getting cookie jars in the init context is not supported"));
    }
    Class::instance(ctx, Host(Jar::clone(&vu.extra())))
}
