//! `torr mcp`: the commands as tools for assistants, over standard input and output.

use crate::exit::CliError;
use clap::Args;
use std::env;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use torr_load::values;
use torr_mcp::{Allowed, Bounds, serve};

const EXAMPLES: &str = "\
Examples, as an assistant's settings have them:
  torr mcp                             services on this machine's loopback
  torr mcp --allow staging.example.test:443 --longest 5m
  torr mcp --max-rate 500 --max-connections 100";

/// `torr mcp`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct McpArgs {
    /// Allow loads of this server beside this machine's loopback; can be repeated
    #[arg(long = "allow", value_name = "HOST[:PORT]")]
    pub allowed: Vec<Allowed>,
    /// Allow runs and budgets of at most this length
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = values::duration)]
    pub longest: Duration,
    /// Limit the request rate [default: none]
    #[arg(long, value_name = "RATE", value_parser = values::per_second)]
    pub max_rate: Option<f64>,
    /// Limit the connections
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub max_connections: u64,
}

/// Serves until the assistant closes standard input, or a signal stops it. A command that runs then is ended.
pub fn run(args: &McpArgs) -> Result<ExitCode, CliError> {
    if std::io::stdin().is_terminal() {
        let line = "torr mcp is started by an assistant, which speaks to it: put it into the assistant's settings";
        return Err(CliError::Usage(line.into()));
    }
    let failed = |error: std::io::Error| CliError::Failed(error.to_string());
    let program = env::current_exe().map_err(failed)?;
    let bounds = Bounds {
        allowed: args.allowed.clone(),
        longest: args.longest,
        max_rate: args.max_rate,
        max_connections: args.max_connections,
    };
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let served = runtime.block_on(async {
        let (mut interrupted, mut terminated) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        tokio::select! {
            served = serve(program, bounds) => served,
            _ = interrupted.recv() => Ok(()),
            _ = terminated.recv() => Ok(()),
        }
    });
    // A thread may wait for standard input, which nothing can interrupt.
    runtime.shutdown_background();
    served.map(|()| ExitCode::SUCCESS).map_err(|error| CliError::Failed(format!("cannot serve an assistant: {error}")))
}
