//! The functions of `k6/http` that send requests.

use super::body::Body;
use super::call::{Call, Next};
use super::params::{ParamError, Params};
use super::response::{Response, ResponseObject};
use super::target::Target;
use super::url_tag::UrlWithName;
use super::value::is_nothing;
use crate::host::{self, Host, go_error};
use crate::log::Level;
use crate::user::exchange::{Outcome, Outgoing, Refusal};
use crate::user::{Vu, Wanted, Woken, wait};
use rquickjs::function::{Opt, Rest};
use rquickjs::{Array, Class, Ctx, Function, Object, Promise, Result, Value};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

/// The number of an error of a URL.
const BAD_URL: u32 = 1020;
/// The number of what is wrong with other arguments, which k6 has none for.
const BAD_ARGUMENT: u32 = 0;

/// A call as a script has written it, or what is wrong with it.
enum Prepared {
    Call(Box<Call>),
    Wrong(Refusal),
}

/// What a call consists of.
pub(super) struct Parts<'js> {
    pub method: Cow<'static, str>,
    pub url: Value<'js>,
    pub body: Option<Value<'js>>,
    pub params: Option<Value<'js>>,
}

/// Returns a function for a method without content.
pub(super) fn without_body<'js>(ctx: &Ctx<'js>, name: &str, method: &'static str) -> Result<Function<'js>> {
    let call = move |ctx: Ctx<'js>, url: Opt<Value<'js>>, params: Opt<Value<'js>>, more: Rest<Value<'js>>| {
        let vu = Vu::of(&ctx);
        if !more.0.is_empty() && !vu.is_init() {
            let (name, count) = (method.to_ascii_lowercase(), more.0.len() + 2);
            let text =
                format!("http.{name} only accepts a url and a params argument (2 arguments), but {count} were given");
            vu.run.log.write(Level::Warning, &text, &[]);
        }
        let url = or_undefined(&ctx, url);
        send(&ctx, Parts { method: method.into(), url, body: None, params: params.0 })
    };
    Function::new(ctx.clone(), call)?.with_name(name)
}

/// Returns a function for a method with content.
pub(super) fn with_body<'js>(ctx: &Ctx<'js>, name: &str, method: &'static str) -> Result<Function<'js>> {
    let call = move |ctx: Ctx<'js>, url: Opt<Value<'js>>, body: Opt<Value<'js>>, params: Opt<Value<'js>>| {
        let url = or_undefined(&ctx, url);
        send(&ctx, Parts { method: method.into(), url, body: body.0, params: params.0 })
    };
    Function::new(ctx.clone(), call)?.with_name(name)
}

/// The function `http.request`.
pub(super) fn request<'js>(
    ctx: Ctx<'js>,
    method: Opt<Value<'js>>,
    url: Opt<Value<'js>>,
    body: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
) -> Result<ResponseObject<'js>> {
    let (method, url) = (given_method(method)?, or_undefined(&ctx, url));
    send(&ctx, Parts { method, url, body: body.0, params: params.0 })
}

/// Returns an argument, which is `undefined` if there is none.
fn or_undefined<'js>(ctx: &Ctx<'js>, argument: Opt<Value<'js>>) -> Value<'js> {
    argument.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()))
}

/// Returns the method that is the argument of a call. What is no string becomes one.
fn given_method(method: Opt<Value<'_>>) -> Result<Cow<'static, str>> {
    match method.0.filter(|method| !is_nothing(method)) {
        Some(method) => super::value::text_of(&method).map(method_of),
        None => Ok(method_of(String::new())),
    }
}

/// Returns a method as a script has written it. An empty one is that of most requests.
pub(super) fn method_of(text: String) -> Cow<'static, str> {
    match text.as_str() {
        "" | "GET" => "GET".into(),
        "POST" => "POST".into(),
        _ => text.into(),
    }
}

/// Sends a request and waits for its response.
pub(super) fn send<'js>(ctx: &Ctx<'js>, parts: Parts<'js>) -> Result<ResponseObject<'js>> {
    let vu = Vu::of(ctx);
    refuse_in_init(ctx, &vu)?;
    let mut call = match prepare(&vu, parts)? {
        Prepared::Call(call) => call,
        Prepared::Wrong(refusal) => return Class::instance(ctx.clone(), Host(wrong(ctx, &vu, refusal)?)),
    };
    let mut outgoing = call.request(&vu, 0);
    loop {
        let outcome = match call.refused(&mut outgoing) {
            Some(outcome) => Box::new(outcome),
            None => {
                let Woken::Exchanged(outcome) = wait(ctx, Wanted::Exchange(Box::new(outgoing)))? else {
                    return Err(go_error(ctx, "the request has no outcome"));
                };
                outcome
            }
        };
        match call.take(&vu, outcome) {
            Next::Send(next) => outgoing = next,
            Next::Done(response) => {
                check(ctx, &vu, &call, &response)?;
                return Class::instance(ctx.clone(), Host(response));
            }
        }
    }
}

fn refuse_in_init(ctx: &Ctx<'_>, vu: &Vu) -> Result<()> {
    match vu.is_init() {
        true => Err(go_error(ctx, "making http requests in the init context is not supported")),
        false => Ok(()),
    }
}

/// Throws the failure of a call, if failures are exceptions.
fn check(ctx: &Ctx<'_>, vu: &Vu, call: &Call, response: &Response) -> Result<()> {
    match &response.outcome.result {
        Err(refusal) if call.throws(vu) => Err(go_error(ctx, &call.described(refusal))),
        _ => Ok(()),
    }
}

/// Returns the response of a call that is wrong, or throws what is wrong with it if failures are exceptions.
fn wrong(ctx: &Ctx<'_>, vu: &Vu, refusal: Refusal) -> Result<Response> {
    if vu.run.http_settings().throws {
        return Err(go_error(ctx, &refusal.text));
    }
    vu.run.log.write(Level::Warning, "Request Failed", &[("error", &refusal.text)]);
    Ok(Response::of_wrong_call(refusal))
}

/// Reads what a script has written.
fn prepare(vu: &Vu, parts: Parts<'_>) -> Result<Prepared> {
    let wrong = |why: String, code: u32| Ok(Prepared::Wrong(Refusal::new(code, why)));
    let (text, name) = match (parts.url.as_string(), Class::<Host<UrlWithName>>::from_value(&parts.url)) {
        (Some(text), _) => (text.to_string()?, None),
        (None, Ok(url)) => (url.borrow().url.clone(), Some(Rc::from(&*url.borrow().name))),
        (None, Err(_)) => return wrong("invalid URL: it is neither a string nor made by http.url".to_owned(), BAD_URL),
    };
    let target = match Target::parse(&text) {
        Ok(target) => target,
        Err(why) => return wrong(why, BAD_URL),
    };
    let params = parts.params.as_ref().filter(|params| !is_nothing(params)).and_then(|params| params.as_object());
    let read = Params::read(params).and_then(|params| {
        let mut body = Body::read(parts.body.as_ref())?;
        body.compress(&params.compression)?;
        Ok((params, body))
    });
    match read {
        Ok((mut params, body)) => {
            if !params.compression.is_empty() && body.bytes.is_some() {
                let codings = params.compression.join(", ");
                params.fields.set_if_missing("Content-Encoding", codings);
            }
            Ok(Prepared::Call(Box::new(Call::new(vu, parts.method.clone(), target, name, body, params))))
        }
        Err(ParamError::Wrong(why)) => wrong(why, BAD_ARGUMENT),
        Err(ParamError::Thrown(error)) => Err(error),
    }
}

/// The function `http.asyncRequest`.
pub(super) fn async_request<'js>(
    ctx: Ctx<'js>,
    method: Opt<Value<'js>>,
    url: Opt<Value<'js>>,
    body: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
) -> Result<Promise<'js>> {
    let vu = Vu::of(&ctx);
    refuse_in_init(&ctx, &vu)?;
    let (promise, resolve, reject) = ctx.promise()?;
    let (method, url) = (given_method(method)?, or_undefined(&ctx, url));
    let parts = Parts { method, url, body: body.0, params: params.0 };
    match prepare(&vu, parts) {
        Ok(Prepared::Call(call)) => {
            let resolve = rquickjs::Persistent::save(&ctx, resolve);
            let reject = rquickjs::Persistent::save(&ctx, reject);
            begin(
                &vu,
                call,
                Box::new(move |ctx, call, response| match check(ctx, &Vu::of(ctx), call, &response) {
                    Ok(()) => resolve.restore(ctx)?.call((Class::instance(ctx.clone(), Host(response))?,)),
                    Err(_) => reject.restore(ctx)?.call((ctx.catch(),)),
                }),
            );
        }
        Ok(Prepared::Wrong(refusal)) => match wrong(&ctx, &vu, refusal) {
            Ok(response) => resolve.call::<_, ()>((Class::instance(ctx.clone(), Host(response))?,))?,
            Err(_) => reject.call::<_, ()>((ctx.catch(),))?,
        },
        Err(rquickjs::Error::Exception) => reject.call::<_, ()>((ctx.catch(),))?,
        Err(error) => return Err(error),
    }
    Ok(promise)
}

/// What is to be done with the response of a call that goes on beside the script.
type Finish = Box<dyn for<'js> FnOnce(&Ctx<'js>, &Call, Response) -> Result<()>>;

/// Begins a call that goes on beside the script.
fn begin(vu: &Vu, call: Box<Call>, finish: Finish) {
    let outgoing = call.request(vu, vu.events.new_id());
    go_on(vu, call, outgoing, finish);
}

fn go_on(vu: &Vu, mut call: Box<Call>, mut outgoing: Outgoing, finish: Finish) {
    let refused = call.refused(&mut outgoing);
    let settle = move |ctx: &Ctx<'_>, outcome: Outcome| {
        let vu = Vu::of(ctx);
        match call.take(&vu, Box::new(outcome)) {
            Next::Send(outgoing) => {
                go_on(&vu, call, outgoing, finish);
                Ok(())
            }
            Next::Done(response) => finish(ctx, &call, response),
        }
    };
    match refused {
        Some(outcome) => vu.events.refuse(outcome, Box::new(settle)),
        None => vu.events.begin(outgoing, Box::new(settle)),
    }
}

/// The function `http.batch`.
pub(super) fn batch<'js>(ctx: Ctx<'js>, requests: Rest<Value<'js>>) -> Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    refuse_in_init(&ctx, &vu)?;
    let [requests] = &*requests.0 else {
        let why = match requests.0.is_empty() {
            true => "no argument was provided to http.batch()",
            false => "http.batch() accepts only an array or an object of requests",
        };
        return Err(go_error(&ctx, why));
    };
    let Some(object) = requests.as_object().filter(|_| !requests.is_string() && !requests.is_function()) else {
        return Err(go_error(&ctx, "invalid http.batch() argument type: use an array or an object"));
    };
    let mut prepared = Vec::new();
    let results = match requests.is_array() {
        true => Array::new(ctx.clone())?.into_object(),
        false => Object::new(ctx.clone())?,
    };
    for property in object.props::<String, Value<'js>>() {
        let (key, item) = property?;
        let read = match item_parts(&key, item)? {
            Ok(parts) => prepare(&vu, parts)?,
            Err(why) => Prepared::Wrong(Refusal::new(BAD_ARGUMENT, why)),
        };
        match read {
            Prepared::Call(call) => prepared.push((key, call)),
            Prepared::Wrong(refusal) => {
                let before = prepared.into_iter().map(|(key, _)| key).collect();
                return not_sent(&ctx, &vu, object, results, before, (key, refusal));
            }
        }
    }
    let count = prepared.len();
    let done: Rc<RefCell<Vec<(String, Response)>>> = Rc::default();
    let thrown: Rc<RefCell<Option<String>>> = Rc::default();
    let mut keys = Vec::with_capacity(count);
    for (key, call) in prepared {
        let (done, thrown, of_call) = (done.clone(), thrown.clone(), key.clone());
        keys.push(key);
        begin(
            &vu,
            call,
            Box::new(move |ctx, call, response| {
                if let Err(refusal) = &response.outcome.result
                    && call.throws(&Vu::of(ctx))
                {
                    thrown.borrow_mut().get_or_insert(call.described(refusal));
                }
                done.borrow_mut().push((of_call, response));
                Ok(())
            }),
        );
    }
    while done.borrow().len() < count {
        if !vu.events.settle(&ctx)? {
            wait(&ctx, Wanted::Event(None))?;
        }
    }
    if let Some(why) = thrown.borrow_mut().take() {
        return Err(go_error(&ctx, &why));
    }
    let mut done = done.borrow_mut();
    for key in keys {
        if let Some(at) = done.iter().position(|(other, _)| *other == key) {
            let (_, response) = done.swap_remove(at);
            results.set(key, Class::instance(ctx.clone(), Host(response))?)?;
        }
    }
    Ok(results.into_value())
}

/// Returns the results of a batch of which nothing is sent, since one of its requests is wrong: those before it are empty, and those
/// behind it are missing.
fn not_sent<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    requests: &Object<'js>,
    results: Object<'js>,
    before: Vec<String>,
    (key, refusal): (String, Refusal),
) -> Result<Value<'js>> {
    if vu.run.http_settings().throws {
        return Err(go_error(ctx, &refusal.text));
    }
    vu.run.log.write(Level::Warning, "A batch request failed", &[("error", &refusal.text)]);
    if let Some(array) = requests.as_array() {
        (0..array.len()).try_for_each(|at| results.set(at as u32, Value::new_null(ctx.clone())))?;
    }
    for key in before {
        let empty = Response::of_wrong_call(Refusal::new(BAD_ARGUMENT, ""));
        results.set(key, Class::instance(ctx.clone(), Host(empty))?)?;
    }
    results.set(key, Class::instance(ctx.clone(), Host(Response::of_wrong_call(refusal)))?)?;
    Ok(results.into_value())
}

/// Returns what an item of a batch consists of, or what is wrong with it.
fn item_parts<'js>(key: &str, item: Value<'js>) -> Result<std::result::Result<Parts<'js>, String>> {
    let present = |value: Value<'js>| (!is_nothing(&value)).then_some(value);
    let wrong_method = || Ok(Err(format!("invalid method type of the batch request '{key}'")));
    if let Some(array) = item.as_array() {
        if array.len() < 2 {
            return Ok(Err(format!("invalid batch request '{key}': an array has a method and a URL")));
        }
        let Some(method) = array.get::<Value<'js>>(0)?.into_string() else { return wrong_method() };
        let (body, params) = (present(array.get(2)?), present(array.get(3)?));
        return Ok(Ok(Parts { method: method_of(method.to_string()?), url: array.get(1)?, body, params }));
    }
    let is_url = item.is_string() || Class::<Host<UrlWithName>>::from_value(&item).is_ok();
    let Some(object) = item.as_object().filter(|_| !is_url) else {
        return Ok(Ok(Parts { method: "GET".into(), url: item, body: None, params: None }));
    };
    if !object.contains_key("url")? {
        return Ok(Err(format!("batch request {key} doesn't have a url key")));
    }
    let given: Value<'js> = object.get("method")?;
    let method = match given.as_string() {
        Some(text) => method_of(text.to_string()?.to_ascii_uppercase()),
        None if object.contains_key("method")? => return wrong_method(),
        None => "GET".into(),
    };
    let sends = given.is_undefined() || !matches!(&*method, "GET" | "HEAD");
    let body = present(object.get("body")?).filter(|_| sends);
    Ok(Ok(Parts { url: object.get("url")?, body, params: present(object.get("params")?), method }))
}

/// The function `http.url`: the tag of template literals.
pub(super) fn url<'js>(
    ctx: Ctx<'js>,
    parts: Array<'js>,
    values: Rest<Value<'js>>,
) -> Result<Class<'js, Host<UrlWithName>>> {
    let (mut url, mut name) = (String::new(), String::new());
    for (at, part) in host::items(&parts)?.enumerate() {
        let part: String = part?.get()?;
        url.push_str(&part);
        name.push_str(&part);
        if let Some(value) = values.0.get(at) {
            url.push_str(&super::value::text_of(value)?);
            name.push_str("${}");
        }
    }
    Class::instance(ctx, Host(UrlWithName { url, name }))
}
