//! From the command line to what is sent.

use super::form;
use super::input::Input;
use super::mistake;
use crate::cli::{DataKind, RequestArgs};
use crate::exit::Stop;
use torr_press::request::{Auth, Body, Data, Feeder, Options, Url, read_list};
use torr_press::{Requests, Target};

/// Where to, what is asked for there, and what that was made of.
pub fn requests(args: &RequestArgs, url: Option<&str>, keep_alive: bool) -> Result<(Target, Requests, Options), Stop> {
    let mut input = Input::default();
    let urls = urls(args, url, &mut input)?;
    let options = options(args, keep_alive, &mut input)?;
    let requests = Requests::new(&urls, &options).map_err(mistake)?;
    let first = urls.into_iter().next().map(|url| url.target);
    Ok((first.expect("requests cannot be made without a URL"), requests, options))
}

/// The URL on the command line, then those of the list.
fn urls(args: &RequestArgs, url: Option<&str>, input: &mut Input) -> Result<Vec<Url>, Stop> {
    let first = url.map(Target::parse).transpose().map_err(mistake)?;
    let mut urls: Vec<Url> = first.iter().cloned().map(Url::from).collect();
    if let Some(path) = &args.urls {
        let text = input.read_text(&path.to_string_lossy(), "the list of URLs")?;
        urls.extend(read_list(&text, first.as_ref()).map_err(mistake)?);
    }
    Ok(urls)
}

fn options(args: &RequestArgs, keep_alive: bool, input: &mut Input) -> Result<Options, Stop> {
    let mut query = args.url_query.iter().map(|text| url_query(text, input)).collect::<Result<Vec<_>, _>>()?;
    let mut body = body(args, input)?;
    if args.get
        && let Some(Body::Data(data)) = body.take()
    {
        query.extend(data);
    }
    if args.head && body.is_some() {
        return Err(Stop::Usage("--head sends no body: add --get to send the data in the query".into()));
    }
    let method = args.method.clone().or(args.head.then(|| "HEAD".into()));
    Ok(Options {
        method,
        headers: args.headers.clone(),
        user_agent: args.user_agent.clone(),
        referer: args.referer.clone(),
        cookies: args.cookies.iter().map(|text| cookie(text)).collect::<Result<_, _>>()?,
        auth: auth(args)?,
        compressed: args.compressed,
        body,
        query,
        keep_alive,
        templates: !args.no_template,
        feeder: args.feeder.as_deref().map(Feeder::read).transpose().map_err(mistake)?,
        feeder_order: args.feeder_order.into(),
        url_order: args.order.into(),
    })
}

/// The body that is asked for; the command line has one kind of it only.
fn body(args: &RequestArgs, input: &mut Input) -> Result<Option<Body>, Stop> {
    if !args.form.is_empty() {
        let parts = args.form.iter().map(|text| form::part(text, input)).collect::<Result<_, _>>()?;
        return Ok(Some(Body::Multipart(parts)));
    }
    if !args.json_body.is_empty() {
        let pieces = args.json_body.iter().map(|text| input.value(text, "the body"));
        return Ok(Some(Body::Json(pieces.collect::<Result<Vec<_>, _>>()?.concat())));
    }
    if args.data.pieces.is_empty() {
        return Ok(None);
    }
    let pieces = args.data.pieces.iter().map(|(kind, text)| data(*kind, text, input));
    Ok(Some(Body::Data(pieces.collect::<Result<_, _>>()?)))
}

/// A piece of data, as with curl.
fn data(kind: DataKind, text: &str, input: &mut Input) -> Result<Data, Stop> {
    let what = "the body";
    Ok(Data::Plain(match kind {
        DataKind::Raw => text.as_bytes().to_vec(),
        DataKind::Binary => input.value(text, what)?,
        DataKind::Plain if text.starts_with('@') => {
            let mut bytes = input.value(text, what)?;
            bytes.retain(|byte| !b"\r\n\0".contains(byte));
            bytes
        }
        DataKind::Plain => text.as_bytes().to_vec(),
        DataKind::UrlEncode => return encoded(text, input),
    }))
}

/// `content`, `=content`, `name=content`, `@FILE` or `name@FILE`: whichever of `=` and `@` comes first.
fn encoded(text: &str, input: &mut Input) -> Result<Data, Stop> {
    let (name, content) = match text.find(['=', '@']) {
        None => ("", text.to_owned()),
        Some(at) if text[at..].starts_with('=') => (&text[..at], text[at + 1..].to_owned()),
        Some(at) => (&text[..at], input.read_text(&text[at + 1..], "the body")?),
    };
    Ok(Data::Encoded { name: (!name.is_empty()).then(|| name.to_owned()), content })
}

fn url_query(text: &str, input: &mut Input) -> Result<Data, Stop> {
    match text.strip_prefix('+') {
        Some(plain) => Ok(Data::Plain(plain.as_bytes().to_vec())),
        None => encoded(text, input),
    }
}

fn cookie(text: &str) -> Result<String, Stop> {
    let hint = || Stop::Usage("--cookie has what is not of the form 'name=value' (files are not read)".into());
    if text.contains('=') { Ok(text.to_owned()) } else { Err(hint()) }
}

fn auth(args: &RequestArgs) -> Result<Option<Auth>, Stop> {
    match (&args.user, &args.oauth2_bearer) {
        (Some(user), _) if !user.contains(':') => {
            Err(Stop::Usage("--user has no password: give both as name:password".into()))
        }
        (Some(user), _) => Ok(Some(Auth::Basic(user.clone()))),
        (None, Some(token)) => Ok(Some(Auth::Bearer(token.clone()))),
        (None, None) => Ok(None),
    }
}
