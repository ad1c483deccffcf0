//! The flags of `torr import`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  torr import curl copied.txt -o checkout.hurl     a command copied from a browser
  torr import curl -- curl https://example.org -d a=1
  torr import curl 'curl https://example.org -d a=1'
  torr import har recording.har -o visit.hurl      a recording of a browser
  torr import openapi openapi.yaml --tag orders -o orders.hurl
  torr import postman shop.postman_collection.json --environment test.json -o shop.hurl
  torr import bruno shop --env local -o shop.hurl  the folder of a collection
  torr import insomnia shop.yaml --env Test -o shop.hurl
  torr import http shop.http --env dev -o shop.hurl
  torr import jmeter plan.jmx -o plan.hurl         a file for each thread group
  torr import artillery shop.yml -o shop.hurl      a file for each scenario";

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
    /// Convert curl commands, as typed or as copied from a browser (bash and cmd)
    Curl(CurlArgs),
    /// Convert recordings of browsers and proxies (HAR 1.2), with pauses and captures of tokens and ids
    Har(HarArgs),
    /// Convert descriptions of services (OpenAPI 2.0 to 3.2, JSON or YAML), with an entry for each operation
    Openapi(OpenApiArgs),
    /// Convert Postman collections (2.0 and 2.1): folders, variables, authorization, simple test scripts
    Postman(PostmanArgs),
    /// Convert Apipost exports: its own JSON, OpenAPI or Postman
    Apipost(ApipostArgs),
    /// Convert Bruno collections (.bru files or OpenCollection), with environments and simple scripts
    Bruno(BrunoArgs),
    /// Convert Insomnia exports (version 5 or 4): folders, environments, template tags, simple scripts
    Insomnia(InsomniaArgs),
    /// Convert files of requests of editors (.http, .rest), as JetBrains and VS Code have them
    Http(HttpArgs),
    /// Convert test plans of JMeter 5 (.jmx), with a file for each thread group
    Jmeter(JmeterArgs),
    /// Convert scripts of Artillery 2 (YAML or JSON), with a file for each scenario and the command of the same load
    Artillery(ArtilleryArgs),
}

/// `torr import har`.
#[derive(Debug, Args)]
pub struct HarArgs {
    /// Read this recording; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
    /// Write the hurl file here; '-' is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Convert requests to this host too, in addition to the host of the first page; can be repeated
    #[arg(long, value_name = "HOST")]
    pub host: Vec<String>,
    /// Convert images, fonts, audio, video and requests to all other hosts too
    #[arg(long)]
    pub all: bool,
}

/// `torr import curl`.
#[derive(Debug, Args)]
pub struct CurlArgs {
    /// Read commands from this file, or one command in quotes; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
    /// Convert this command
    #[arg(value_name = "COMMAND", last = true, conflicts_with = "file")]
    pub command: Vec<String>,
    /// Write the hurl file here; '-' is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

/// `torr import openapi`.
#[derive(Debug, Args)]
pub struct OpenApiArgs {
    /// Read this description, as JSON or YAML; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
    /// Write the hurl file here; '-' is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Convert only operations with this tag; can be repeated
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Convert only operations of this path and of paths below; can be repeated
    #[arg(long, value_name = "PATH")]
    pub path: Vec<String>,
    /// Convert only operations with this method; can be repeated
    #[arg(long, value_name = "METHOD")]
    pub method: Vec<String>,
    /// Use this URL of the server instead of the first in the description
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
}

/// `torr import postman`.
#[derive(Debug, Args)]
pub struct PostmanArgs {
    /// Read this collection, exported as 2.0 or 2.1; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
    /// Write the hurl file here; '-' is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Use this exported environment; its values override the collection's
    #[arg(short, long, value_name = "FILE")]
    pub environment: Option<String>,
    /// Use these exported globals; the collection's values override them
    #[arg(short, long, value_name = "FILE")]
    pub globals: Option<String>,
}

/// `torr import apipost`.
#[derive(Debug, Args)]
pub struct ApipostArgs {
    /// Read this export; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
    /// Write the hurl file here; '-' is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

/// `torr import bruno`.
#[derive(Debug, Args)]
pub struct BrunoArgs {
    /// Read this collection, or one folder or request of a collection
    #[arg(value_name = "FOLDER|FILE", default_value = ".")]
    pub path: String,
    /// Write the hurl file here; '-' is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Use this environment of the collection
    #[arg(short, long, value_name = "NAME")]
    pub env: Option<String>,
}

/// `torr import insomnia`.
#[derive(Debug, Args)]
pub struct InsomniaArgs {
    /// Read this export of a collection, as YAML or JSON; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
    /// Write the hurl file here; '-' is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Use this sub-environment of the collection or the globals
    #[arg(short, long, value_name = "NAME", alias = "environment")]
    pub env: Option<String>,
    /// Use this exported global environment; the collection's values override it
    #[arg(short, long, value_name = "FILE")]
    pub globals: Option<String>,
}

/// `torr import http`.
#[derive(Debug, Args)]
pub struct HttpArgs {
    /// Read this file of requests; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
    /// Write the hurl file here; '-' is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Use this environment of the files beside it: http-client.env.json, http-client.private.env.json, NAME.env
    #[arg(short, long, value_name = "NAME")]
    pub env: Option<String>,
}

/// `torr import jmeter`.
#[derive(Debug, Args)]
pub struct JmeterArgs {
    /// Read this plan; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
    /// Write the hurl file here; '-' is standard output; with several thread groups, write a file for each, such as plan-buyers.hurl
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Convert only the thread group with this name
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
}

/// `torr import artillery`.
#[derive(Debug, Args)]
pub struct ArtilleryArgs {
    /// Read this script; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
    /// Write the hurl file here; '-' is standard output; with several scenarios, write a file for each, such as shop-browse.hurl
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Use this environment of the script
    #[arg(short, long, value_name = "NAME")]
    pub environment: Option<String>,
    /// Convert only the scenario with this name
    #[arg(long, value_name = "NAME")]
    pub scenario: Option<String>,
}
