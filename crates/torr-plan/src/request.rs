//! What is sent.

use super::data;
use super::form;
use super::input::{Input, feeder};
use super::token;
use super::websocket;
use crate::error::PlanError;
use torr_load::{Load, RequestPart, TlsPart};
use torr_press::request::digest::Credentials;
use torr_press::request::sigv4::{Scope, Signing};
use torr_press::request::{
    Auth, Body, CompressionOffer, Data, Feeder, MatchRule, Options, Url, WebSocketOptions, have_field, read_list,
};
use torr_press::{RequestError, Requests, Target};

/// Returns the records of `--feeder`.
///
/// # Errors
/// If the file cannot be read, or has none.
pub fn records(part: &RequestPart) -> Result<Option<Feeder>, PlanError> {
    part.feeder.as_deref().map(|path| feeder(path, &part.files)).transpose()
}

/// Returns the target, the requests, and the options that the requests were made of.
pub(crate) fn requests(load: &Load, url: Option<&str>) -> Result<(Target, Requests, Options), PlanError> {
    let part = &load.request;
    let mut input = Input::of(&part.files);
    let urls = urls(part, url, &mut input)?;
    let is_websocket = urls.first().is_some_and(|url| url.target.is_websocket());
    websocket::check(load, is_websocket)?;
    let host = urls.first().map_or("", |url| &url.target.host);
    let options = options(load, part, host, &mut input)?;
    let options = Options { event_streams: load.stream.has_streams(), ..options };
    let requests = match &urls[..] {
        [url] if is_websocket => messages(load, url, &options),
        urls => Requests::new(urls, &options),
    };
    let requests = requests.map_err(PlanError::usage)?;
    let first = urls.into_iter().next().map(|url| url.target);
    Ok((first.expect("missing URL"), requests, options))
}

/// Returns the messages of WebSocket connections.
fn messages(load: &Load, url: &Url, options: &Options) -> Result<Requests, RequestError> {
    let part = &load.request;
    let matched_by = part.matching.as_deref().map(MatchRule::parse).transpose()?;
    let (message, subprotocols) = (options.body.clone(), part.subprotocols.clone());
    let (binary, listens) = (part.binary, load.stream.listen);
    let offer = match part.no_context_takeover {
        true => CompressionOffer::WithoutTakeover,
        false => CompressionOffer::WithTakeover,
    };
    let deflate = part.compressed.then_some(offer);
    // The response to a handshake has no content.
    let options = Options { compressed: false, ..options.clone() };
    Requests::messages(url, &options, &WebSocketOptions { message, listens, binary, subprotocols, deflate, matched_by })
}

/// The URL on the command line, then those of the list.
fn urls(args: &RequestPart, url: Option<&str>, input: &mut Input) -> Result<Vec<Url>, PlanError> {
    let first = url.map(Target::parse_any).transpose().map_err(PlanError::usage)?;
    let mut urls: Vec<Url> = first.iter().cloned().map(Url::from).collect();
    if let Some(path) = &args.urls {
        let text = input.read_text(&path.to_string_lossy(), "the list of URLs")?;
        let name = if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() };
        let wrong = |error| PlanError::Usage(format!("{name}: {error}"));
        urls.extend(read_list(&text, first.as_ref()).map_err(wrong)?);
    }
    Ok(urls)
}

/// Returns the options of requests to a host, of which a load says `args`.
pub(crate) fn options(load: &Load, args: &RequestPart, host: &str, input: &mut Input) -> Result<Options, PlanError> {
    let mut query = args.url_query.iter().map(|text| url_query(text, input)).collect::<Result<Vec<_>, _>>()?;
    let mut body = body(args, input)?;
    if args.get
        && let Some(Body::Data(data)) = body.take()
    {
        query.extend(data);
    }
    let range = args.range.as_ref().map(|range| format!("Range: bytes={range}"));
    let method = args.method.clone().or(args.head.then(|| "HEAD".into()));
    Ok(Options {
        method,
        headers: args.headers.iter().cloned().chain(range).collect(),
        user_agent: args.user_agent.clone(),
        referer: args.referer.clone(),
        cookies: args.cookies.iter().map(|text| cookie(text)).collect::<Result<_, _>>()?,
        auth: auth(args, host, &load.transport.tls)?,
        compressed: args.compressed,
        event_streams: false,
        body,
        query,
        keep_alive: load.keep_alive(),
        templates: !args.no_template,
        of_several_machines: args.files.is_of_fleet(),
        feeder: records(args)?,
        feeder_order: args.feeder_order(),
        url_order: args.order(),
    })
}

/// Returns the body of the request; the command line may have one kind of it only.
fn body(args: &RequestPart, input: &mut Input) -> Result<Option<Body>, PlanError> {
    if !args.form.is_empty() {
        let parts = args.form.iter().map(|text| form::part(text, input)).collect::<Result<_, _>>()?;
        return Ok(Some(Body::Multipart(parts)));
    }
    if !args.json_body.is_empty() {
        let pieces = args.json_body.iter().map(|text| input.value(text, "the body"));
        return Ok(Some(Body::Json(pieces.collect::<Result<Vec<_>, _>>()?.concat())));
    }
    if args.data.is_empty() {
        return Ok(None);
    }
    Ok(Some(Body::Data(data::read(&args.data, input)?)))
}

fn url_query(text: &str, input: &mut Input) -> Result<Data, PlanError> {
    match text.strip_prefix('+') {
        Some(plain) => Ok(Data::Plain(plain.as_bytes().to_vec())),
        None => data::encoded(text, input),
    }
}

fn cookie(text: &str) -> Result<String, PlanError> {
    let hint = || PlanError::Usage("--cookie must be 'name=value' (files are not supported)".into());
    if text.contains('=') { Ok(text.to_owned()) } else { Err(hint()) }
}

fn auth(args: &RequestPart, host: &str, tls: &TlsPart) -> Result<Option<Auth>, PlanError> {
    if let Some(client) = &args.oauth2_client {
        return token::begin(args, client, tls).map(|token| Some(Auth::Renewed(token)));
    }
    if let Some(scope) = &args.aws_sigv4 {
        let wrong = |error: String| PlanError::Usage(format!("--aws-sigv4: {error}"));
        let scope = Scope::read(scope, host).map_err(|error| wrong(error.to_string()))?;
        let signing = Signing::new(scope, args.user.as_deref().unwrap_or_default());
        let signing = signing.map_err(|_| wrong("add the key, as in --user KEY:SECRET".into()))?;
        return Ok(Some(Auth::Signed(Box::new(signing))));
    }
    if args.digest {
        return digest(args).map(|_| Some(Auth::Digest));
    }
    match (&args.user, &args.oauth2_bearer) {
        (Some(user), _) if !user.contains(':') => Err(PlanError::Usage("--user needs NAME:PASSWORD".into())),
        (Some(user), _) => Ok(Some(Auth::Basic(user.clone()))),
        (None, Some(token)) => Ok(Some(Auth::Bearer(token.clone()))),
        (None, None) => Ok(None),
    }
}

/// Returns the credentials of digest authentication, which a field of the user's own replaces.
pub(crate) fn digest(args: &RequestPart) -> Result<Option<Credentials>, PlanError> {
    if !args.digest {
        return Ok(None);
    }
    let credentials = args.user.as_deref().and_then(Credentials::read);
    let credentials = credentials.ok_or_else(|| PlanError::Usage("--user needs NAME:PASSWORD".into()))?;
    Ok(Some(credentials).filter(|_| !have_field(&args.headers, "authorization")))
}
