//! What is sent.

use super::data::{self, DataArgs};
use super::file_source::FileSource;
use super::form;
use super::input::{Input, feeder};
use crate::exit::CliError;
use clap::{ArgGroup, Args, ValueEnum};
use std::path::PathBuf;
use torr_press::request::{Auth, Body, Data, Feeder, Options, Order, Url, read_list};
use torr_press::{Requests, Target};

/// Not a comment of the field: its brackets are no links.
const URLS: &str = "More URLs, a line for each as '[weight] [METHOD] URL-or-path [body]'; '-' is standard input";

/// The request, or many. Names are curl's where curl has one.
#[derive(Debug, Args)]
#[command(next_help_heading = "Request")]
#[command(group(ArgGroup::new("bodies").args(["data", "data_raw", "data_binary", "data_urlencode", "json_body", "form"]).multiple(true)))]
pub struct RequestArgs {
    /// A header, as 'Name: value'; may be repeated
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    pub headers: Vec<String>,
    /// The method [default: GET, or POST with a body]
    #[arg(short = 'X', long = "request", value_name = "METHOD")]
    pub method: Option<String>,
    #[command(flatten)]
    pub data: DataArgs,
    /// A body of JSON, with its Content-Type and Accept; @FILE reads it from a file, @- from standard input
    #[arg(long, value_name = "TEXT", conflicts_with = "form")]
    pub json_body: Vec<String>,
    /// A part of a multipart form: name=value, name=@FILE or name=<FILE, then ;type=TYPE and ;filename=NAME
    #[arg(short = 'F', long, value_name = "PART")]
    pub form: Vec<String>,
    /// Send what --data and its like say in the query instead of a body
    #[arg(short = 'G', long, conflicts_with_all = ["json_body", "form"], requires = "bodies")]
    pub get: bool,
    /// Send HEAD, whose responses have no body
    #[arg(short = 'I', long, conflicts_with = "method")]
    pub head: bool,
    /// Something more for the query, as with --data-urlencode; behind a '+' as it stands
    #[arg(long, value_name = "TEXT")]
    pub url_query: Vec<String>,
    /// Name and password for basic authentication
    #[arg(short, long, value_name = "NAME:PASSWORD", conflicts_with = "oauth2_bearer")]
    pub user: Option<String>,
    /// A token for bearer authentication
    #[arg(long, value_name = "TOKEN")]
    pub oauth2_bearer: Option<String>,
    /// Cookies, as 'a=b; c=d'
    #[arg(short = 'b', long = "cookie", value_name = "COOKIES")]
    pub cookies: Vec<String>,
    /// The User-Agent; an empty one sends none
    #[arg(short = 'A', long, value_name = "NAME")]
    pub user_agent: Option<String>,
    /// The Referer
    #[arg(short = 'e', long, value_name = "URL")]
    pub referer: Option<String>,
    /// Request responses in gzip, brotli or zstd
    #[arg(long)]
    pub compressed: bool,
    #[arg(long, value_name = "FILE", help = URLS)]
    pub urls: Option<PathBuf>,
    /// How URLs are chosen
    #[arg(long, value_enum, default_value_t = OrderArg::Random, requires = "urls")]
    pub order: OrderArg,
    /// Records whose fields stand in for placeholders: .csv with a header line, or .jsonl
    #[arg(long, value_name = "FILE", conflicts_with = "no_template")]
    pub feeder: Option<PathBuf>,
    /// How records are chosen
    #[arg(long, value_enum, default_value_t = OrderArg::Sequence, requires = "feeder")]
    pub feeder_order: OrderArg,
    /// Take '{{seq}}' and its like as they stand
    #[arg(long)]
    pub no_template: bool,
    /// Where files come from.
    #[arg(skip)]
    pub files: FileSource,
}

/// [`Order`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrderArg {
    Random,
    Sequence,
}

impl From<OrderArg> for Order {
    fn from(order: OrderArg) -> Self {
        match order {
            OrderArg::Random => Self::Random,
            OrderArg::Sequence => Self::Sequence,
        }
    }
}

impl RequestArgs {
    /// Returns the records of `--feeder`.
    ///
    /// # Errors
    /// If the file cannot be read, or has none.
    pub fn records(&self) -> Result<Option<Feeder>, CliError> {
        self.feeder.as_deref().map(|path| feeder(path, &self.files)).transpose()
    }

    /// Returns the target, the requests, and the options that the requests were made of.
    pub fn requests(&self, url: Option<&str>, keep_alive: bool) -> Result<(Target, Requests, Options), CliError> {
        let mut input = Input::of(&self.files);
        let urls = urls(self, url, &mut input)?;
        let options = options(self, keep_alive, &mut input)?;
        let requests = Requests::new(&urls, &options).map_err(CliError::usage)?;
        let first = urls.into_iter().next().map(|url| url.target);
        Ok((first.expect("requests cannot be made without a URL"), requests, options))
    }
}

/// The URL on the command line, then those of the list.
fn urls(args: &RequestArgs, url: Option<&str>, input: &mut Input) -> Result<Vec<Url>, CliError> {
    let first = url.map(Target::parse).transpose().map_err(CliError::usage)?;
    let mut urls: Vec<Url> = first.iter().cloned().map(Url::from).collect();
    if let Some(path) = &args.urls {
        let text = input.read_text(&path.to_string_lossy(), "the list of URLs")?;
        let name = if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() };
        let wrong = |error| CliError::Usage(format!("{name}: {error}"));
        urls.extend(read_list(&text, first.as_ref()).map_err(wrong)?);
    }
    Ok(urls)
}

fn options(args: &RequestArgs, keep_alive: bool, input: &mut Input) -> Result<Options, CliError> {
    let mut query = args.url_query.iter().map(|text| url_query(text, input)).collect::<Result<Vec<_>, _>>()?;
    let mut body = body(args, input)?;
    if args.get
        && let Some(Body::Data(data)) = body.take()
    {
        query.extend(data);
    }
    if args.head && body.is_some() {
        return Err(CliError::Usage("--head sends no body: add --get to send the data in the query".into()));
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
        of_several_machines: args.files.is_of_fleet(),
        feeder: args.records()?,
        feeder_order: args.feeder_order.into(),
        url_order: args.order.into(),
    })
}

/// Returns the body of the request; the command line may have one kind of it only.
fn body(args: &RequestArgs, input: &mut Input) -> Result<Option<Body>, CliError> {
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
    Ok(Some(Body::Data(args.data.read(input)?)))
}

fn url_query(text: &str, input: &mut Input) -> Result<Data, CliError> {
    match text.strip_prefix('+') {
        Some(plain) => Ok(Data::Plain(plain.as_bytes().to_vec())),
        None => data::encoded(text, input),
    }
}

fn cookie(text: &str) -> Result<String, CliError> {
    let hint = || CliError::Usage("--cookie has what is not of the form 'name=value' (files are not read)".into());
    if text.contains('=') { Ok(text.to_owned()) } else { Err(hint()) }
}

fn auth(args: &RequestArgs) -> Result<Option<Auth>, CliError> {
    match (&args.user, &args.oauth2_bearer) {
        (Some(user), _) if !user.contains(':') => {
            Err(CliError::Usage("--user has no password: give both as name:password".into()))
        }
        (Some(user), _) => Ok(Some(Auth::Basic(user.clone()))),
        (None, Some(token)) => Ok(Some(Auth::Bearer(token.clone()))),
        (None, None) => Ok(None),
    }
}
