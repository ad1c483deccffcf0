//! The module `torr:url` behind the module `url` of jslib: parsing and changing URLs by the WHATWG's standard.

use rquickjs::prelude::{Func, Opt};
use rquickjs::{Ctx, Object, Result};
use url::{Url, form_urlencoded, quirks};

use super::builtin::Builtin;

/// The module `torr:url`.
pub struct UrlTools;

impl Builtin for UrlTools {
    const NAMES: &'static [&'static str] = &["torr:url"];
    const EXPORTS: &'static [&'static str] = &["change", "pairs", "parse", "serialise"];

    fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let object = Object::new(ctx.clone())?;
        object.set("parse", Func::from(parse))?;
        object.set("change", Func::from(change))?;
        object.set("pairs", Func::from(pairs))?;
        object.set("serialise", Func::from(serialise))?;
        Ok(object)
    }
}

fn parse<'js>(ctx: Ctx<'js>, text: String, base: Opt<Option<String>>) -> Result<Option<Object<'js>>> {
    let base = match base.0.flatten().map(|base| Url::parse(&base)) {
        Some(Ok(base)) => Some(base),
        Some(Err(_)) => return Ok(None),
        None => None,
    };
    match Url::options().base_url(base.as_ref()).parse(&text) {
        Ok(url) => parts(&ctx, &url).map(Some),
        Err(_) => Ok(None),
    }
}

/// Returns the parts of a URL after one of them was set; nothing if the value is refused.
fn change<'js>(ctx: Ctx<'js>, href: String, part: String, value: String) -> Result<Option<Object<'js>>> {
    let Ok(mut url) = Url::parse(&href) else { return Ok(None) };
    let changed = match part.as_str() {
        "href" => quirks::set_href(&mut url, &value).is_ok(),
        "protocol" => quirks::set_protocol(&mut url, &value).is_ok(),
        "username" => quirks::set_username(&mut url, &value).is_ok(),
        "password" => quirks::set_password(&mut url, &value).is_ok(),
        "host" => quirks::set_host(&mut url, &value).is_ok(),
        "hostname" => quirks::set_hostname(&mut url, &value).is_ok(),
        "port" => quirks::set_port(&mut url, &value).is_ok(),
        "pathname" => {
            quirks::set_pathname(&mut url, &value);
            true
        }
        "search" => {
            quirks::set_search(&mut url, &value);
            true
        }
        "hash" => {
            quirks::set_hash(&mut url, &value);
            true
        }
        _ => false,
    };
    if changed { parts(&ctx, &url).map(Some) } else { Ok(None) }
}

fn parts<'js>(ctx: &Ctx<'js>, url: &Url) -> Result<Object<'js>> {
    let parts = Object::new(ctx.clone())?;
    parts.set("href", quirks::href(url))?;
    parts.set("origin", quirks::origin(url))?;
    parts.set("protocol", quirks::protocol(url))?;
    parts.set("username", quirks::username(url))?;
    parts.set("password", quirks::password(url))?;
    parts.set("host", quirks::host(url))?;
    parts.set("hostname", quirks::hostname(url))?;
    parts.set("port", quirks::port(url))?;
    parts.set("pathname", quirks::pathname(url))?;
    parts.set("search", quirks::search(url))?;
    parts.set("hash", quirks::hash(url))?;
    Ok(parts)
}

fn pairs(query: String) -> Vec<Vec<String>> {
    form_urlencoded::parse(query.as_bytes()).map(|(name, value)| vec![name.into_owned(), value.into_owned()]).collect()
}

fn serialise(pairs: Vec<Vec<String>>) -> String {
    let mut text = form_urlencoded::Serializer::new(String::new());
    for pair in &pairs {
        if let [name, value] = pair.as_slice() {
            text.append_pair(name, value);
        }
    }
    text.finish()
}
