//! `torr once`: one request of a URL, or one user who walks through a hurl file or a script; every request and response is shown.

mod scripted;
mod url;

use crate::base::Base;
use crate::exit::CliError;
use crate::session::{self, Walk};
use clap::Args;
use std::process::ExitCode;
use std::slice;
use std::time::Duration;
use torr_load::values::duration;
use torr_load::{Load, Sent};
use torr_plan::target::TargetKind;

const EXAMPLES: &str = "\
Examples:
  torr once http://127.0.0.1:8080/ -H 'Accept: text/html'
  torr once grpc://127.0.0.1:50051/shop.Shop/Get --proto shop.proto
  torr once checkout.hurl --variable host=127.0.0.1:8080
  torr once shop.lua                     a script that names its target
  torr once http://127.0.0.1:8080/ --script post.lua -- its arguments";

/// `torr once`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct OnceArgs {
    /// A URL, a hurl file, a script, or a plan, whose pace and duration are ignored
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// Pass these arguments to the script, after '--'
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<String>,
    /// Fail a request that gets no complete response within this time
    #[arg(long, default_value = "10s", value_parser = duration, value_name = "DURATION")]
    pub timeout: Duration,
    /// Open a connection for each request
    #[arg(long)]
    pub no_keepalive: bool,
    #[command(flatten)]
    pub load: Sent,
}

impl OnceArgs {
    /// Takes the load of a plan instead of that of the command line.
    pub fn take(&mut self, load: Load) {
        let pace = &load.pace;
        self.target = load.targets.first().cloned().unwrap_or_default();
        self.timeout = pace.timeout.as_deref().copied().unwrap_or(self.timeout);
        self.no_keepalive |= pace.no_keepalive;
        self.arguments.clone_from(&load.arguments);
        self.load = Sent::of(&load);
    }

    /// Returns what is sent.
    pub fn load(&self) -> Load {
        let mut load = self.load.to(Some(&self.target), !self.no_keepalive);
        load.arguments.clone_from(&self.arguments);
        load
    }
}

/// Sends one request, or walks one user through a file: exit code 1 if the request or the session fails.
pub fn run(args: &OnceArgs) -> Result<ExitCode, CliError> {
    match TargetKind::of(slice::from_ref(&args.target))? {
        TargetKind::Sessions(files) => {
            let file = files.into_iter().next().ok_or_else(|| CliError::Usage("missing target".into()))?;
            session::once(Walk { file, load: &args.load(), timeout: args.timeout })
        }
        TargetKind::K6(path) => crate::k6::once(&path, &args.load()),
        TargetKind::Url(_) if args.load.script.is_none() => url::run(Base::of(&args.load())?, args.timeout),
        _ => scripted::run(Base::of(&args.load())?, args.timeout),
    }
}
