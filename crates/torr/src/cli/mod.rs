//! The command line: what can be asked for, and who does it.

mod checks;
pub mod commands;
mod compare;
mod data;
mod doctor;
mod front;
mod given;
mod http2;
mod limit;
mod load;
mod output;
mod press;
mod request;
mod serve;
mod tls;
mod transport;
mod values;
mod watch;

pub use checks::CheckArgs;
pub use compare::CompareArgs;
pub use data::{DataArgs, DataKind};
pub use doctor::DoctorArgs;
pub use front::FrontArgs;
pub use given::{Given, GivenFlag};
pub use http2::Http2Args;
pub use limit::LimitArgs;
pub use load::LoadArgs;
pub use output::OutputArgs;
pub use press::PressArgs;
pub use request::RequestArgs;
pub use serve::{DemoArgs, ServeArgs};
pub use tls::{TlsArgs, TlsResumption};
pub use transport::TransportArgs;
pub use values::duration;
pub use watch::WatchArgs;

use crate::exit::{self, Stop};
use crate::fronts::Front;
use clap::builder::styling::{AnsiColor, Styles};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default());

const EXAMPLES: &str = "\
Examples:
  torr http://127.0.0.1:8080/          10 s, 100 connections, then a verdict
  torr URL -c 1000 -d 30s --json FILE  harder, longer, and keep the result
  torr URL -n 100k --no-keepalive      so many requests, a connection each
  torr URL -r 5000 --arrivals poisson  as independent users would send them
  torr URL --fail-if 'p99>50ms'        exit code 1 if it is not that good
  torr limit URL                       the most that it sustains
  torr doctor URL                      the one factor that limits it, proven
  torr serve --workers 4               a server worth pressing
  torr demo --quick                    both, beside reference figures

Exit codes: 0 done, 1 a check or threshold or output failed, 2 bad usage, 3 target could not be reached, 130 interrupted (the report is still printed)";

/// A pressure gauge for HTTP services: loads one as hard as this machine allows, and says what limits it.
#[derive(Debug, Parser)]
#[command(name = "torr", version, styles = STYLES, after_help = EXAMPLES, max_term_width = 110)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
// clap's own shows another text for a command than its '--help' does, and none for those that have other programs' flags.
#[command(disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    press: PressArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the demo application: a server worth pressing
    Serve(ServeArgs),
    /// Name the one factor that limits a service, with proof, or say that it cannot be told
    Doctor(Box<DoctorArgs>),
    /// Find the most that a service sustains, and what happens above
    Limit(Box<LimitArgs>),
    /// Press the demo application, show its figures beside those of the source documents, and diagnose it
    Demo(DemoArgs),
    /// Tell others what can be seen of a service on this machine, so that they know what limits it
    Watch(WatchArgs),
    /// Press as ApacheBench would be told to, and report in its layout; see 'torr ab -h'
    #[command(disable_help_flag = true)]
    Ab(FrontArgs),
    /// The same for wrk, and for wrk2 with -R
    #[command(disable_help_flag = true)]
    Wrk(FrontArgs),
    /// The same for httpress
    #[command(disable_help_flag = true)]
    Httpress(FrontArgs),
    /// The same for 'drogon_ctl press'
    #[command(disable_help_flag = true)]
    Press(FrontArgs),
    /// Show this help, or that of a command
    Help {
        /// The command
        command: Option<String>,
    },
}

/// Does what a command line asks for; the program's name comes first.
pub fn run(args: &[OsString]) -> Result<ExitCode, Stop> {
    let first = args.get(1).and_then(|word| word.to_str());
    if let Some(mistake) = first.and_then(commands::mistyped) {
        return Err(mistake);
    }
    match Cli::try_parse_from(args) {
        Ok(cli) => cli.run(),
        Err(error) => match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
            // clap takes whatever stands behind a URL for a command.
            (ErrorKind::ArgumentConflict, Some(ContextValue::String(second))) => {
                let mut words = args.iter().skip(1).filter_map(|word| word.to_str());
                Err(match first.filter(|word| commands::is_bare(word)) {
                    Some(first) => commands::unknown(first),
                    None => words.find_map(commands::misplaced).unwrap_or_else(|| commands::second_target(second)),
                })
            }
            _ => exit::from_clap(error),
        },
    }
}

/// Shows the help of a command, or that of the program.
fn help(command: Option<&str>) -> Result<ExitCode, Stop> {
    if let Some(unknown) = command.filter(|command| commands::names().all(|name| name != *command)) {
        return Err(commands::unknown(unknown));
    }
    // What other programs' flags mean only they know.
    let flag = if command.is_some_and(Front::is_called) { "-h" } else { "--help" };
    let args: Vec<OsString> = ["torr"].into_iter().chain(command).chain([flag]).map(OsString::from).collect();
    run(&args)
}

impl Cli {
    /// Does what was asked.
    pub fn run(self) -> Result<ExitCode, Stop> {
        match self.command {
            Some(Command::Serve(args)) => crate::serve::run(&args),
            Some(Command::Doctor(args)) => crate::doctor::run(&args),
            Some(Command::Limit(args)) => crate::limit::run(&args),
            Some(Command::Demo(args)) => crate::demo::run(&args),
            Some(Command::Watch(args)) => crate::watch::run(&args),
            Some(Command::Ab(args)) => Front::Ab.run(args.args),
            Some(Command::Wrk(args)) => Front::Wrk.run(args.args),
            Some(Command::Httpress(args)) => Front::Httpress.run(args.args),
            Some(Command::Press(args)) => Front::Press.run(args.args),
            Some(Command::Help { command }) => help(command.as_deref()),
            None => crate::press::run(&self.press),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
