//! `torr once`: one request of a URL, or one user who walks through a hurl file or a script; every request and response is shown.

mod scripted;
mod url;

use crate::base::{Base, BaseArgs};
use crate::exit::CliError;
use crate::flags::given::GivenFlags;
use crate::flags::request::RequestArgs;
use crate::flags::script::ScriptArgs;
use crate::flags::session::check_sessions;
use crate::flags::transport::TransportArgs;
use crate::flags::values::duration;
use crate::flags::variables::VariableArgs;
use crate::session::{self, Walk};
use crate::target::TargetKind;
use clap::Args;
use std::process::ExitCode;
use std::slice;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  torr once http://127.0.0.1:8080/ -H 'Accept: text/html'
  torr once checkout.hurl --variable host=127.0.0.1:8080
  torr once shop.lua                     a script that names its target itself
  torr once http://127.0.0.1:8080/ --script post.lua -- its arguments";

/// `torr once`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct OnceArgs {
    #[command(flatten)]
    pub given: GivenFlags,
    /// A URL, a hurl file, a script, or a plan, of which the load is passed over; or the URL of --script
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// The arguments of the script, behind '--'
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<String>,
    #[command(flatten)]
    pub variables: VariableArgs,
    /// After how long without a complete response a request has failed
    #[arg(long, default_value = "10s", value_parser = duration, value_name = "DURATION")]
    pub timeout: Duration,
    /// Open a connection for each request
    #[arg(long)]
    pub no_keepalive: bool,
    #[command(flatten)]
    pub request: RequestArgs,
    #[command(flatten)]
    pub script: ScriptArgs,
    #[command(flatten)]
    pub transport: TransportArgs,
}

/// Sends one request, or walks one user through a file: exit code 1 if the request or the session fails.
pub fn run(args: &OnceArgs) -> Result<ExitCode, CliError> {
    match TargetKind::of(slice::from_ref(&args.target))? {
        TargetKind::Sessions(files) => {
            check_sessions(&args.given.flags)?;
            let file = files.into_iter().next().ok_or_else(|| CliError::Usage("there is no file".into()))?;
            session::once(Walk {
                file,
                variables: &args.variables,
                transport: &args.transport,
                timeout: args.timeout,
                keep_alive: !args.no_keepalive,
            })
        }
        TargetKind::Url(_) if args.script.script.is_none() => url::run(base(args)?, args.timeout),
        _ => scripted::run(base(args)?, args.timeout),
    }
}

fn base(args: &OnceArgs) -> Result<Base, CliError> {
    Base::of(&BaseArgs {
        target: Some(&args.target),
        script: args.script.script.as_deref(),
        arguments: &args.arguments,
        given: &args.given,
        variables: &args.variables,
        request: &args.request,
        transport: &args.transport,
        keep_alive: !args.no_keepalive,
    })
}
