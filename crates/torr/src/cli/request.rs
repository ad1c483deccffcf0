//! What is sent.

use super::DataArgs;
use clap::{ArgGroup, Args, ValueEnum};
use std::path::PathBuf;
use torr_press::request::Order;

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
    /// Send HEAD, whose answers have no body
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
    /// Ask for answers in gzip, brotli or zstd
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
