//! The functions of `k6/http` that send requests.

use super::body::Body;
use super::call::{Call, Next};
use super::params::{ParamError, Params, ResponseType, is_token};
use super::response::{Response, ResponseObject};
use super::target::Target;
use super::url_tag::UrlWithName;
use super::value::is_nothing;
use crate::host::{self, Host, go_error};
use crate::log::Level;
use crate::user::exchange::{Outcome, Refusal, Timings};
use crate::user::{Vu, Wanted, Woken, wait};
use rquickjs::function::{Opt, Rest};
use rquickjs::{Array, Class, Ctx, Exception, Function, Object, Promise, Result, Value};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

/// The number of an error of a URL.
const BAD_URL: u32 = 1020;
/// The number of any other error.
const GENERAL: u32 = 1000;

/// A call as a script has written it, or the response that stands for what is wrong with it.
enum Prepared {
    Call(Box<Call>),
    Wrong(Response),
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
    let call = move |ctx: Ctx<'js>, url: Value<'js>, params: Opt<Value<'js>>| {
        send(&ctx, Parts { method: method.into(), url, body: None, params: params.0 })
    };
    Function::new(ctx.clone(), call)?.with_name(name)
}

/// Returns a function for a method with content.
pub(super) fn with_body<'js>(ctx: &Ctx<'js>, name: &str, method: &'static str) -> Result<Function<'js>> {
    let call = move |ctx: Ctx<'js>, url: Value<'js>, body: Opt<Value<'js>>, params: Opt<Value<'js>>| {
        send(&ctx, Parts { method: method.into(), url, body: body.0, params: params.0 })
    };
    Function::new(ctx.clone(), call)?.with_name(name)
}

/// The function `http.request`.
pub(super) fn request<'js>(
    ctx: Ctx<'js>,
    method: String,
    url: Value<'js>,
    body: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
) -> Result<ResponseObject<'js>> {
    send(&ctx, Parts { method: method_of(&method), url, body: body.0, params: params.0 })
}

/// Returns a method in capital letters. An empty one is that of most requests.
pub(super) fn method_of(text: &str) -> Cow<'static, str> {
    match text.to_ascii_uppercase().as_str() {
        "" | "GET" => "GET".into(),
        "POST" => "POST".into(),
        other => other.to_owned().into(),
    }
}

/// Sends a request and waits for its response.
pub(super) fn send<'js>(ctx: &Ctx<'js>, parts: Parts<'js>) -> Result<ResponseObject<'js>> {
    let vu = Vu::of(ctx);
    refuse_in_init(ctx, &vu)?;
    let mut call = match prepare(ctx, &vu, parts)? {
        Prepared::Call(call) => call,
        Prepared::Wrong(response) => return Class::instance(ctx.clone(), Host(response)),
    };
    let mut outgoing = call.request(&vu, 0);
    loop {
        let Woken::Exchanged(outcome) = wait(ctx, Wanted::Exchange(Box::new(outgoing)))? else {
            return Err(go_error(ctx, "the request has no outcome"));
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
        Err(refusal) if call.throws(vu) => Err(go_error(ctx, &call.described(&refusal.text))),
        _ => Ok(()),
    }
}

/// Reads what a script has written.
fn prepare<'js>(ctx: &Ctx<'js>, vu: &Vu, parts: Parts<'js>) -> Result<Prepared> {
    let wrong = |why: String, code: u32, url: &str| {
        if vu.run.http_settings().throws {
            return Err(go_error(ctx, &why));
        }
        vu.run.log.write(Level::Warning, "Request Failed", &[("error", &why)]);
        let result = Err(Refusal::new(code, why));
        let request = Vec::new();
        let outcome = Box::new(Outcome {
            id: 0,
            timings: Timings::default(),
            remote: None,
            tls: None,
            sent: 0,
            received: 0,
            request,
            result,
        });
        let url: Rc<str> = url.into();
        let response_type = ResponseType::Text;
        Ok(Prepared::Wrong(Response { first_url: url.clone(), url, request: Vec::new(), response_type, outcome }))
    };
    let (text, name) = match (parts.url.as_string(), Class::<Host<UrlWithName>>::from_value(&parts.url)) {
        (Some(text), _) => (text.to_string()?, None),
        (None, Ok(url)) => (url.borrow().url.clone(), Some(Rc::from(&*url.borrow().name))),
        (None, Err(_)) => {
            return wrong("invalid URL: it is neither a string nor made by http.url".to_owned(), BAD_URL, "");
        }
    };
    let target = match Target::parse(&text) {
        Ok(target) => target,
        Err(why) => return wrong(why, BAD_URL, &text),
    };
    if !is_token(&parts.method) {
        return wrong(format!("net/http: invalid method {:?}", parts.method), GENERAL, &text);
    }
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
        Err(ParamError::Wrong(why)) => wrong(why, GENERAL, &text),
        Err(ParamError::Thrown(error)) => Err(error),
    }
}

/// The function `http.asyncRequest`.
pub(super) fn async_request<'js>(
    ctx: Ctx<'js>,
    method: String,
    url: Value<'js>,
    body: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
) -> Result<Promise<'js>> {
    let vu = Vu::of(&ctx);
    refuse_in_init(&ctx, &vu)?;
    let (promise, resolve, reject) = ctx.promise()?;
    let parts = Parts { method: method_of(&method), url, body: body.0, params: params.0 };
    match prepare(&ctx, &vu, parts) {
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
        Ok(Prepared::Wrong(response)) => resolve.call::<_, ()>((Class::instance(ctx.clone(), Host(response))?,))?,
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

fn go_on(vu: &Vu, mut call: Box<Call>, outgoing: crate::user::exchange::Outgoing, finish: Finish) {
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
    vu.events.begin(outgoing, Box::new(settle));
}

/// The function `http.batch`.
pub(super) fn batch<'js>(ctx: Ctx<'js>, requests: Value<'js>) -> Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    refuse_in_init(&ctx, &vu)?;
    let Some(object) = requests.as_object().filter(|_| !requests.is_string()) else {
        return Err(Exception::throw_type(&ctx, "invalid http.batch() argument type: use an array or an object"));
    };
    let mut prepared = Vec::new();
    let results = match requests.is_array() {
        true => Array::new(ctx.clone())?.into_object(),
        false => Object::new(ctx.clone())?,
    };
    let mut wrong = None;
    for property in object.props::<String, Value<'js>>() {
        let (key, item) = property?;
        match prepare(&ctx, &vu, item_parts(&ctx, &key, item)?)? {
            Prepared::Call(call) => prepared.push((key, call)),
            Prepared::Wrong(response) => {
                wrong = Some((key, response));
                break;
            }
        }
    }
    if let Some((key, response)) = wrong {
        results.set(key, Class::instance(ctx.clone(), Host(response))?)?;
        return Ok(results.into_value());
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
                    thrown.borrow_mut().get_or_insert(call.described(&refusal.text));
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

/// Returns what an item of a batch consists of.
fn item_parts<'js>(ctx: &Ctx<'js>, key: &str, item: Value<'js>) -> Result<Parts<'js>> {
    if item.is_string() || Class::<Host<UrlWithName>>::from_value(&item).is_ok() {
        return Ok(Parts { method: "GET".into(), url: item, body: None, params: None });
    }
    let present = |value: Value<'js>| (!is_nothing(&value)).then_some(value);
    let method_or_get = |value: Value<'js>| match value.as_string() {
        Some(text) => text.to_string().map(|text| method_of(&text)),
        None => Ok("GET".into()),
    };
    let without = |method: &str| matches!(method, "GET" | "HEAD");
    if let Some(array) = item.as_array() {
        let method = method_or_get(array.get(0)?)?;
        let body = present(array.get(2)?).filter(|_| !without(&method));
        return Ok(Parts { url: array.get(1)?, body, params: present(array.get(3)?), method });
    }
    if let Some(object) = item.as_object() {
        let method = method_or_get(object.get("method")?)?;
        let body = present(object.get("body")?).filter(|_| !without(&method));
        return Ok(Parts { url: object.get("url")?, body, params: present(object.get("params")?), method });
    }
    Err(go_error(
        ctx,
        &format!("invalid http.batch() argument: the request '{key}' is neither a URL, an array nor an object"),
    ))
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
