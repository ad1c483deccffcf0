//! The flags of `torr import`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  torr import curl copied.txt -o checkout.hurl     a command as browsers copy it
  torr import curl -- curl https://example.org -d a=1
  torr import curl 'curl https://example.org -d a=1'
  torr import har recording.har -o visit.hurl      a recording of a browser
  torr import openapi openapi.yaml --tag orders -o orders.hurl
  torr import postman shop.postman_collection.json --environment test.json -o shop.hurl
  torr import jmeter plan.jmx -o plan.hurl         a file for each thread group";

/// `torr import`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ImportArgs {
    #[command(subcommand)]
    pub kind: Kind,
}

/// What is imported.
#[derive(Debug, Subcommand)]
pub enum Kind {
    /// Command lines of curl, as people type them or browsers copy them (bash and cmd)
    Curl(CurlArgs),
    /// Recordings of browsers and proxies (HAR 1.2): pauses kept, tokens and ids captured
    Har(HarArgs),
    /// Descriptions of services (OpenAPI 2.0 to 3.2, JSON or YAML): an entry for each operation
    Openapi(OpenApiArgs),
    /// Collections of Postman (2.0 and 2.1): folders, variables, authorization, simple test scripts
    Postman(PostmanArgs),
    /// Exports of Apipost: its own JSON, or what it exports as OpenAPI or Postman
    Apipost(ApipostArgs),
    /// Test plans of JMeter 5 (.jmx): a file for each thread group
    Jmeter(JmeterArgs),
}

/// `torr import har`.
#[derive(Debug, Args)]
pub struct HarArgs {
    /// The recording; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
    /// Where the hurl file goes
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Take requests to this host too, beside that of the first page; may be given several times
    #[arg(long, value_name = "HOST")]
    pub host: Vec<String>,
    /// Take images, fonts, audio and video, and requests to all other hosts too
    #[arg(long)]
    pub all: bool,
}

/// `torr import curl`.
#[derive(Debug, Args)]
pub struct CurlArgs {
    /// A file with the commands, or a command in quotes; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
    /// The command itself
    #[arg(value_name = "COMMAND", last = true, conflicts_with = "file")]
    pub command: Vec<String>,
    /// Where the hurl file goes
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

/// `torr import openapi`.
#[derive(Debug, Args)]
pub struct OpenApiArgs {
    /// The description, as JSON or YAML; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
    /// Where the hurl file goes
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Only operations with this tag; may be given several times
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Only operations of this path and of paths below; may be given several times
    #[arg(long, value_name = "PATH")]
    pub path: Vec<String>,
    /// Only operations with this method; may be given several times
    #[arg(long, value_name = "METHOD")]
    pub method: Vec<String>,
    /// The server's URL, instead of the first one of the description
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
}

/// `torr import postman`.
#[derive(Debug, Args)]
pub struct PostmanArgs {
    /// The collection, exported as 2.0 or 2.1; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
    /// Where the hurl file goes
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// An exported environment, whose values win over the collection's
    #[arg(short, long, value_name = "FILE")]
    pub environment: Option<String>,
    /// Exported globals, over which the collection's values win
    #[arg(short, long, value_name = "FILE")]
    pub globals: Option<String>,
}

/// `torr import apipost`.
#[derive(Debug, Args)]
pub struct ApipostArgs {
    /// The export; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
    /// Where the hurl file goes
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

/// `torr import jmeter`.
#[derive(Debug, Args)]
pub struct JmeterArgs {
    /// The plan; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
    /// Where the hurl file goes: of several thread groups each has its name added, as in plan-buyers.hurl
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Only the thread group with this name
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
}
