//! Cookie jars: that of the virtual user, and those that scripts make.

use super::target::Target;
use super::value::text_of;
use crate::host::{Host, HostClass, go_error};
use crate::user::Vu;
use cookie_store::CookieStore;
use rquickjs::function::{Constructor, Opt, This};
use rquickjs::{Array, Class, Ctx, Function, Object, Result, Value};
use std::cell::RefCell;
use std::rc::Rc;
use url::Url;

/// A cookie jar.
#[derive(Debug, Clone, Default)]
pub struct Jar(Rc<RefCell<CookieStore>>);

impl Jar {
    /// Returns the names and values that go with a request to a URL.
    #[must_use]
    pub fn cookies(&self, url: &Url) -> Vec<(String, String)> {
        let store = self.0.borrow();
        store.get_request_values(url).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// Keeps the cookie of a `Set-Cookie` field. One that is not acceptable is left out.
    pub fn keep(&self, set_cookie: &str, url: &Url) {
        let _ = self.0.borrow_mut().parse(set_cookie, url);
    }

    /// Removes all cookies.
    pub fn empty(&self) {
        let mut store = self.0.borrow_mut();
        if store.iter_any().next().is_some() {
            store.clear();
        }
    }

    /// Removes the cookies that go with a request to a URL, those of a name or all.
    fn remove(&self, url: &Url, name: Option<&str>) {
        let mut store = self.0.borrow_mut();
        let found: Vec<_> = store
            .matches(url)
            .into_iter()
            .filter(|cookie| name.is_none_or(|name| cookie.name() == name))
            .filter_map(|cookie| {
                Some((String::from(&cookie.domain), String::from(&cookie.path), cookie.name().to_owned()))
                    .filter(|(domain, ..)| !domain.is_empty())
            })
            .collect();
        for (domain, path, name) in found {
            store.remove(&domain, &path, &name);
        }
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

fn url_of(ctx: &Ctx<'_>, text: &str) -> Result<Rc<Target>> {
    Target::parse(text).map_err(|why| go_error(ctx, &why))
}

fn cookies_for_url<'js>(ctx: Ctx<'js>, this: ThisJar<'js>, url: String) -> Result<Object<'js>> {
    let target = url_of(&ctx, &url)?;
    let object = Object::new(ctx.clone())?;
    for (name, value) in this.borrow().cookies(&target.url) {
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
    let target = url_of(&ctx, &url)?;
    let value = if value.is_null() || value.is_undefined() { String::new() } else { text_of(&value)? };
    let mut line = format!("{name}={value}");
    if let Some(options) = options.0.flatten() {
        for property in options.props::<String, Value<'js>>() {
            let (key, value) = property?;
            let is_on = || value.as_bool() == Some(true);
            match key.as_str() {
                "domain" => line.push_str(&format!("; Domain={}", text_of(&value)?)),
                "path" => line.push_str(&format!("; Path={}", text_of(&value)?)),
                "expires" => line.push_str(&format!("; Expires={}", text_of(&value)?)),
                "max_age" => line.push_str(&format!("; Max-Age={}", text_of(&value)?)),
                "secure" if is_on() => line.push_str("; Secure"),
                "http_only" if is_on() => line.push_str("; HttpOnly"),
                _ => {}
            }
        }
    }
    this.borrow().keep(&line, &target.url);
    Ok(true)
}

fn clear<'js>(ctx: Ctx<'js>, this: ThisJar<'js>, url: String) -> Result<()> {
    let target = url_of(&ctx, &url)?;
    this.borrow().remove(&target.url, None);
    Ok(())
}

fn delete<'js>(ctx: Ctx<'js>, this: ThisJar<'js>, url: String, name: String) -> Result<()> {
    let target = url_of(&ctx, &url)?;
    this.borrow().remove(&target.url, Some(&name));
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
