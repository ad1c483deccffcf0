//! What a script does with a page that it has received: `html`, `submitForm`, `clickLink`.

use super::form::encode_pairs;
use super::request::{Parts, method_of, send};
use super::response::{ResponseObject, ThisResponse, method};
use super::value::{is_nothing, text_of};
use crate::api::html;
use crate::host::go_error;
use rquickjs::function::{Opt, This};
use rquickjs::{Ctx, FromJs, Function, IntoJs, Object, Result, Value};
use url::Url;

/// Adds the methods to the prototype of responses.
pub(super) fn install<'js>(ctx: &Ctx<'js>, prototype: &Object<'js>) -> Result<()> {
    prototype.prop("html", method(ctx, "html", of_selector)?)?;
    prototype.prop("submitForm", method(ctx, "submitForm", submit_form)?)?;
    prototype.prop("clickLink", method(ctx, "clickLink", click_link)?)
}

/// Returns the selection of the whole page.
fn page<'js>(ctx: &Ctx<'js>, response: &ResponseObject<'js>) -> Result<Object<'js>> {
    let response = response.borrow();
    let Some(content) = response.content() else {
        let why = "the body is null so we can't transform it to HTML - this likely was because of a request error getting the response";
        return Err(go_error(ctx, why));
    };
    html::parse(ctx, &String::from_utf8_lossy(content), Url::parse(&response.url).ok())
}

/// Calls a method of a selection.
fn call<'js, R: FromJs<'js>>(selection: &Object<'js>, name: &str, argument: Option<&str>) -> Result<R> {
    let function: Function<'js> = selection.get(name)?;
    match argument {
        Some(argument) => function.call((This(selection.clone()), argument)),
        None => function.call((This(selection.clone()),)),
    }
}

/// Returns the first element of a selection that a selector finds; `None` if there is none.
fn first<'js>(selection: &Object<'js>, selector: &str) -> Result<Option<Object<'js>>> {
    let found: Object<'js> = call(selection, "find", Some(selector))?;
    let found: Object<'js> = call(&found, "first", None)?;
    let count: f64 = call(&found, "size", None)?;
    Ok((count > 0.0).then_some(found))
}

/// Returns an attribute of a selection's first element.
fn attribute<'js>(selection: &Object<'js>, name: &str) -> Result<Option<String>> {
    let value: Value<'js> = call(selection, "attr", Some(name))?;
    if is_nothing(&value) { Ok(None) } else { text_of(&value).map(Some) }
}

/// The method `html`.
fn of_selector<'js>(ctx: Ctx<'js>, this: ThisResponse<'js>, selector: Opt<Option<String>>) -> Result<Object<'js>> {
    let page = page(&ctx, &this.0)?;
    match selector.0.flatten() {
        Some(selector) => call(&page, "find", Some(&selector)),
        None => Ok(page),
    }
}

/// Returns a text among the arguments of a call, or else the default.
fn argument(arguments: Option<&Object<'_>>, name: &str, default: &str) -> Result<String> {
    let Some(arguments) = arguments else { return Ok(default.to_owned()) };
    let value: Value<'_> = arguments.get(name)?;
    if is_nothing(&value) { Ok(default.to_owned()) } else { text_of(&value) }
}

/// Returns the parameters of the request that a call leads to.
fn params<'js>(arguments: Option<&Object<'js>>) -> Result<Option<Value<'js>>> {
    let params: Option<Value<'js>> = arguments.map(|arguments| arguments.get("params")).transpose()?;
    Ok(params.filter(|params| !is_nothing(params)))
}

/// Returns the URL that a page leads to.
fn resolve(ctx: &Ctx<'_>, page: &str, place: &str) -> Result<Url> {
    let resolved = Url::parse(page).and_then(|page| page.join(place));
    resolved.map_err(|error| go_error(ctx, &format!("cannot resolve '{place}' from '{page}': {error}")))
}

/// The method `submitForm`.
fn submit_form<'js>(
    ctx: Ctx<'js>,
    this: ThisResponse<'js>,
    arguments: Opt<Option<Object<'js>>>,
) -> Result<ResponseObject<'js>> {
    let arguments = arguments.0.flatten();
    let arguments = arguments.as_ref();
    let selector = argument(arguments, "formSelector", "form")?;
    let submit = argument(arguments, "submitSelector", "[type=\"submit\"]")?;
    let url = this.0.borrow().url.to_string();
    let Some(form) = first(&page(&ctx, &this.0)?, &selector)? else {
        return Err(go_error(&ctx, &format!("no form found for selector '{selector}' in response '{url}'")));
    };
    let values: Object<'js> = call(&form, "serializeObject", None)?;
    if let Some(submit) = first(&form, &submit)?
        && let Some(name) = attribute(&submit, "name")?
    {
        values.set(name, attribute(&submit, "value")?.unwrap_or_default())?;
    }
    let fields: Option<Value<'js>> = arguments.map(|arguments| arguments.get("fields")).transpose()?;
    if let Some(fields) = fields.as_ref().and_then(Value::as_object) {
        for field in fields.props::<String, Value<'js>>() {
            let (name, value) = field?;
            values.set(name, value)?;
        }
    }
    let mut target = resolve(&ctx, &url, &attribute(&form, "action")?.unwrap_or_default())?;
    let method = attribute(&form, "method")?.filter(|method| !method.is_empty());
    let method = method_of(method.map_or_else(|| "GET".to_owned(), |method| method.to_ascii_uppercase()));
    let body = match &*method {
        "GET" => {
            let mut pairs: Vec<(String, String)> = target.query_pairs().into_owned().collect();
            pairs.extend(super::form::pairs(&values)?);
            pairs.sort();
            target.set_query(Some(&encode_pairs(&pairs)));
            None
        }
        _ => Some(values.into_value()),
    };
    send(&ctx, Parts { method, url: target.as_str().into_js(&ctx)?, body, params: params(arguments)? })
}

/// The method `clickLink`.
fn click_link<'js>(
    ctx: Ctx<'js>,
    this: ThisResponse<'js>,
    arguments: Opt<Option<Object<'js>>>,
) -> Result<ResponseObject<'js>> {
    let arguments = arguments.0.flatten();
    let arguments = arguments.as_ref();
    let selector = argument(arguments, "selector", "a[href]")?;
    let url = this.0.borrow().url.to_string();
    let Some(link) = first(&page(&ctx, &this.0)?, &selector)? else {
        return Err(go_error(&ctx, &format!("no element found for selector '{selector}' in response '{url}'")));
    };
    let Some(place) = attribute(&link, "href")? else {
        let why = format!("no valid href attribute value found on element '{selector}' in response '{url}'");
        return Err(go_error(&ctx, &why));
    };
    let target = resolve(&ctx, &url, &place)?;
    let url = target.as_str().into_js(&ctx)?;
    send(&ctx, Parts { method: "GET".into(), url, body: None, params: params(arguments)? })
}
