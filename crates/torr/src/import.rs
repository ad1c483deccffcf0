//! `torr import`: turns what people have into hurl files that they would want to read.

use crate::exit::{self, Stop};
use crate::flags::input::Input;
use crate::output;
use crate::sink::Sink;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use torr_import::{Draft, curl, har};

const EXAMPLES: &str = "\
Examples:
  torr import curl copied.txt -o checkout.hurl     a command as browsers copy it
  torr import curl -- curl https://example.org -d a=1
  torr import har recording.har -o visit.hurl      a recording of a browser";

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
    /// Take images, fonts, audio and video, and requests to other hosts too
    #[arg(long)]
    pub all: bool,
}

/// `torr import curl`.
#[derive(Debug, Args)]
pub struct CurlArgs {
    /// A file with the commands; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
    /// The command itself
    #[arg(value_name = "COMMAND", last = true, conflicts_with = "file")]
    pub command: Vec<String>,
    /// Where the hurl file goes
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

/// Writes the hurl file, and says on standard error what was made and what was left out.
pub fn run(args: &ImportArgs) -> Result<ExitCode, Stop> {
    let (draft, output) = match &args.kind {
        Kind::Curl(args) => (from_curl(args)?, &args.output),
        Kind::Har(args) => {
            let text = Input::default().read_text(&args.file, "a recording")?;
            (har::import(&text, har::Options { all: args.all }).map_err(Stop::usage)?, &args.output)
        }
    };
    let sink = Sink::open(output)?;
    Ok(write(&draft, sink, output).unwrap_or(ExitCode::SUCCESS))
}

fn from_curl(args: &CurlArgs) -> Result<Draft, Stop> {
    let text = match &args.command[..] {
        [] => Input::default().read_text(&args.file, "a curl command")?,
        words => shlex::try_join(words.iter().map(String::as_str)).map_err(Stop::usage)?,
    };
    curl::import(&text).map_err(Stop::usage)
}

fn write(draft: &Draft, sink: Sink, path: &std::path::Path) -> Option<ExitCode> {
    let is_file = !sink.takes_stdout();
    if let Err(line) = sink.put(&draft.text()) {
        return exit::failed(&[line]);
    }
    draft.summary().lines().for_each(output::note);
    if is_file {
        output::note(&format!("next: torr check {}", path.display()));
    }
    None
}
