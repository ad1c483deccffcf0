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
use crate::once::OnceArgs;
use crate::report::{self, ReportArgs};
use crate::serve::ServeArgs;
use crate::watch::WatchArgs;
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};
use std::path::Path;
use torr_load::Load;

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
  torr a.hurl=7 b.hurl=1 -c 50         virtual users, by weights
  torr plan.toml -d 1m                 settings from a file, a flag beside it
  torr URL --fail-if 'p99>50ms'        exit code 1 if it is not that good
  torr limit URL                       the most that it sustains
  torr doctor URL                      the one factor that limits it, proven
  torr compare URL_A URL_B             what B takes more, or less
  torr serve --workers 4               a server worth pressing
  torr demo --quick                    both, beside reference figures

Exit codes: 0 done, 1 a check or threshold or output failed, or no request was answered, 2 bad usage, 3 target could not be reached, 4 a comparison cannot tell, 130 interrupted (the report is still printed)";

/// A pressure gauge for HTTP services: loads one as hard as this machine allows, and says what limits it.
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
    /// Run the demo application: a server worth pressing
    Serve(ServeArgs),
    /// Name the one factor that limits a service, with evidence, or say that it is unknown
    Doctor(Box<DoctorArgs>),
    /// Find the most that a service sustains, and what happens above
    Limit(Box<LimitArgs>),
    /// Compare two versions of a service, in turns or by their results, and say what differs beyond doubt
    Compare(Box<CompareArgs>),
    /// Find the runs at which a row of archived results changed
    History(HistoryArgs),
    /// Run tables of loads over servers that are started for it, such as TechEmpower's tests
    Lab(LabArgs),
    /// Make one HTML page of results: verdict, plots and tables, which opens from disk and loads nothing
    Report(ReportArgs),
    /// Press the demo application, show its figures beside those of the source documents, and diagnose it
    Demo(DemoArgs),
    /// Load a service from several machines at once, with one result
    Fleet(FleetArgs),
    /// Tell others what can be seen of a service on this machine, so that they know what limits it
    Watch(WatchArgs),
    /// Read hurl files, scripts and plans and say what is wrong with them; nothing is sent
    Check(Box<CheckArgs>),
    /// Send one request of a URL, or walk one user through a hurl file or a script, and show every request and response
    Once(Box<OnceArgs>),
    /// Turn curl command lines, HAR recordings, and files of OpenAPI, Postman, Apipost and JMeter into hurl files
    Import(ImportArgs),
    /// Press with ApacheBench's command line, and report in its layout; see 'torr ab -h'
    #[command(disable_help_flag = true)]
    Ab(FrontArgs),
    /// Press with wrk's command line, and report in its layout
    #[command(disable_help_flag = true)]
    Wrk(FrontArgs),
    /// Press with wrk2's command line, whose -R gives the arrival rate
    #[command(disable_help_flag = true)]
    Wrk2(FrontArgs),
    /// Press with httpress' command line
    #[command(disable_help_flag = true)]
    Httpress(FrontArgs),
    /// Press with the command line of 'drogon_ctl press'
    #[command(disable_help_flag = true)]
    Press(FrontArgs),
    /// Print the JSON Schema of plans
    PlanSchema,
    /// Make links by whose names Torr takes the command lines of ab, wrk and others
    InstallLinks(LinksArgs),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
    /// Write the man pages of all commands
    Man(ManArgs),
    /// Show this help, or that of a command
    Help {
        /// The command, and one of its own, as in 'torr help fleet agent'
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
