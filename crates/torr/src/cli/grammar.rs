//! The grammar of the command line.

use super::shell::{CompletionsArgs, ManArgs};
use crate::check::CheckArgs;
use crate::compare::CompareArgs;
use crate::demo::DemoArgs;
use crate::doctor::DoctorArgs;
use crate::fleet::{FleetArgs, FleetCommand};
use crate::fronts::FrontArgs;
use crate::history::HistoryArgs;
use crate::import::ImportArgs;
use crate::lab::LabArgs;
use crate::limit::LimitArgs;
use crate::links::LinksArgs;
use crate::mcp::McpArgs;
use crate::once::OnceArgs;
use crate::replay::ReplayArgs;
use crate::report::{self, ReportArgs};
use crate::serve::ServeArgs;
use crate::watch::WatchArgs;
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};
use std::path::Path;
use torr_load::Load;

pub const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default());

const EXAMPLES: &str = "\
Examples:
  torr http://localhost:8080/          load it for 10 s with 100 connections
  torr URL -c 1000 -d 30s --json FILE  load it harder, and keep the result
  torr URL -n 100k --no-keepalive      open a connection for each request
  torr URL -r 5000 --arrivals poisson  send as independent users would
  torr a.hurl=7 b.hurl=1 -c 50         run two kinds of virtual users, 7 to 1
  torr plan.toml -d 1m                 read settings from a file, replace one
  torr URL --fail-if 'p99>50ms'        exit with code 1 if responses are slow
  torr limit URL                       find the highest rate that it sustains
  torr doctor URL                      find what limits it, by experiments
  torr compare URL_A URL_B             compare two versions in turns
  torr serve --workers 4               start a server to load
  torr demo --quick                    load that server and diagnose it";

/// Load-test an HTTP service and find out what limits it.
#[derive(Debug, Parser)]
#[command(name = "torr", version, styles = STYLES, after_help = EXAMPLES, max_term_width = 110)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
// clap's own shows another text for a command than its '--help' does, and none for those that have other programs' flags.
#[command(disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub load: Load,
}

/// A command with its arguments, which stand in the module that runs it.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the demo application, a server to try Torr on
    Serve(ServeArgs),
    /// Find the one factor that limits a service, with evidence from experiments
    Doctor(Box<DoctorArgs>),
    /// Find the highest rate that a service sustains, and how it behaves above that rate
    Limit(Box<LimitArgs>),
    /// Compare two versions, with confidence intervals
    Compare(Box<CompareArgs>),
    /// Find the runs at which archived results changed
    History(HistoryArgs),
    /// Run a suite of loads, such as TechEmpower's tests, on servers that Torr starts
    Lab(LabArgs),
    /// Write one HTML page of results: verdict, plots and tables
    Report(ReportArgs),
    /// Load the demo application, show its figures beside published ones, and diagnose it
    Demo(DemoArgs),
    /// Load a service from several machines at once, with one result
    Fleet(FleetArgs),
    /// Offer check, once, run, doctor, limit and compare to an assistant, as tools of MCP
    Mcp(McpArgs),
    /// Expose this machine's signals to a torr on another machine
    Watch(WatchArgs),
    /// Check hurl files, scripts and plans without sending anything
    Check(Box<CheckArgs>),
    /// Run a URL or a file once and show every request and response
    Once(Box<OnceArgs>),
    /// Send the requests of an access log again, each at its own time, and compare with the log
    Replay(Box<ReplayArgs>),
    /// Convert curl commands, HAR recordings, and OpenAPI, Postman, Apipost, Bruno, .http and JMeter files to hurl files
    Import(ImportArgs),
    /// Load with ApacheBench's command line, and report in its layout; see 'torr ab -h'
    #[command(disable_help_flag = true)]
    Ab(FrontArgs),
    /// Load with wrk's command line, and report in its layout
    #[command(disable_help_flag = true)]
    Wrk(FrontArgs),
    /// Load with wrk2's command line, where -R sets the arrival rate
    #[command(disable_help_flag = true)]
    Wrk2(FrontArgs),
    /// Load with httpress' command line
    #[command(disable_help_flag = true)]
    Httpress(FrontArgs),
    /// Load with the command line of 'drogon_ctl press'
    #[command(disable_help_flag = true)]
    Press(FrontArgs),
    /// Run a k6 script with k6's command line, and report in its layout; see 'torr k6 -h'
    #[command(disable_help_flag = true)]
    K6(FrontArgs),
    /// Print the JSON Schema of plans
    PlanSchema,
    /// Create links named ab, wrk and so on, through which Torr takes those programs' flags
    InstallLinks(LinksArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Write the man pages of all commands
    Man(ManArgs),
    /// Show this help or the help of a command
    Help {
        /// Show the help of this command, such as 'torr help fleet agent'
        command: Vec<String>,
    },
}

impl Command {
    /// Returns whether the command's target can be that of a plan.
    pub fn takes_plans(&self) -> bool {
        matches!(self, Self::Doctor(_) | Self::Limit(_) | Self::Once(_))
    }

    /// Gives the load of a plan to a command whose target the plan was: what is sent, the way there, and what means the same to the
    /// command.
    pub fn take(&mut self, load: Load) {
        match self {
            Self::Doctor(args) => args.take(load),
            Self::Limit(args) => args.take(load),
            Self::Once(args) => args.take(load),
            _ => {}
        }
    }

    /// Returns the load of a command that loads a target in its own way.
    pub fn load(&self) -> Option<Load> {
        match self {
            Self::Doctor(args) => Some(args.load()),
            Self::Limit(args) => Some(args.load()),
            Self::Once(args) => Some(args.load()),
            Self::Compare(args) => Some(args.load.to(None, !args.no_keepalive)),
            Self::Replay(args) => Some(args.load()),
            _ => None,
        }
    }

    /// Returns the words that a load stands in.
    pub fn words_of_load(&self) -> Option<&[String]> {
        match self {
            Self::Fleet(FleetArgs { command: FleetCommand::Run(args) }) => Some(&args.words),
            _ => None,
        }
    }

    /// Returns the files that the command writes anew, each with its flag, where it has files to read as well.
    pub fn outputs(&self) -> Vec<(&'static str, &Path)> {
        let outputs = match self {
            Self::Doctor(args) => report::outputs(args.json.as_deref(), args.report.as_deref()).to_vec(),
            Self::Limit(args) => report::outputs(args.json.as_deref(), args.report.as_deref()).to_vec(),
            Self::Compare(args) => args.outputs().to_vec(),
            Self::Replay(args) => return args.outputs(),
            _ => Vec::new(),
        };
        outputs.into_iter().filter_map(|(flag, file)| Some((flag, file?))).collect()
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
