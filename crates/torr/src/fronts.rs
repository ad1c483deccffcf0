//! The command lines of other load generators (`torr-fronts`): this program carries out their loads.

use crate::exit::{self, CliError};
use crate::press::{self, ports};
use crate::script::{Script, ScriptSettings};
use crate::{interrupt, output};
use clap::Args;
use std::ffi::OsString;
use std::process::ExitCode;
use torr_fronts::k6::RunArgs;
use torr_fronts::{Front, FrontError, FrontLoad, Host};
use torr_gauge::collector::{Measurement, Progress};
use torr_load::{FileSource, StreamPart};
use torr_press::request::Order;
use torr_report::verdict_line;
use torr_script::Printing;

/// Arguments that are passed on as they stand.
#[derive(Debug, Args)]
pub struct FrontArgs {
    /// As that program takes them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub args: Vec<OsString>,
}

/// Runs the command line of another load generator.
pub fn run(front: Front, args: Vec<OsString>) -> Result<ExitCode, CliError> {
    Ok(front.run(args, &mut Program { script: None })?)
}

/// This program as the host of another one's command line.
struct Program {
    /// The script of the load that was carried out.
    script: Option<Script>,
}

impl Host for Program {
    fn print(text: &str) {
        output::print(text);
    }

    fn interrupted() -> ExitCode {
        exit::interrupted()
    }

    fn measure(&mut self, mut load: FrontLoad, watch: impl FnMut(&Progress)) -> Result<Measurement, FrontError> {
        let script = load.script.take();
        let mut plan = load.plan()?;
        if let Some((path, arguments)) = script {
            let one_server = "this command line supports one server; use 'torr URL --script FILE' for several";
            let settings = ScriptSettings {
                path: &path,
                files: &FileSource::Here,
                arguments: &arguments,
                variables: Vec::new(),
                secrets: Vec::new(),
                feeder: None,
                feeder_order: Order::Sequence,
                printing: Printing::Stdout,
                stream: &StreamPart::default(),
                find: Box::new(move |_: &str| Err(one_server.to_owned())),
            };
            let script = Script::load(&plan, settings)?;
            plan = script.plan(plan);
            self.script = Some(script);
        }
        ports::warn(&plan);
        Ok(press::press(&plan, &*interrupt::flag()?, watch)?)
    }

    fn k6(&mut self, args: RunArgs, inspects: bool) -> Result<ExitCode, FrontError> {
        Ok(crate::k6::run(args, inspects)?)
    }

    fn finish(&mut self, measured: &Measurement, notes: &[String]) -> Result<Option<ExitCode>, FrontError> {
        let outcome = Script::outcome(measured);
        let failed = self.script.take().map(|script| script.finish(outcome)).transpose()?.flatten();
        output::note(&verdict_line(measured, notes));
        Ok(failed)
    }
}

impl From<FrontError> for CliError {
    fn from(error: FrontError) -> Self {
        match error {
            FrontError::Usage(line) => Self::Usage(line),
            FrontError::Unreachable(line) => Self::Unreachable(line),
            FrontError::Failed(line) => Self::Failed(line),
        }
    }
}

impl From<CliError> for FrontError {
    fn from(error: CliError) -> Self {
        match error {
            CliError::Usage(line) => Self::Usage(line),
            CliError::Unreachable(line) => Self::Unreachable(line),
            CliError::Failed(line) | CliError::CannotTell(line) => Self::Failed(line),
        }
    }
}
