//! `torr import`: turns what people have into hurl files that they would want to read.

mod args;
mod groups;

use crate::exit::{self, Stop};
use crate::flags::input::Input;
use crate::output;
use crate::sink::Sink;
use args::{CurlArgs, JmeterArgs, OpenApiArgs, PostmanArgs};
pub use args::{ImportArgs, Kind};
use std::process::ExitCode;
use torr_import::{Draft, apipost, curl, har, jmeter, openapi, postman};

/// Writes the hurl file, and says on standard error what was made and what was left out.
pub fn run(args: &ImportArgs) -> Result<ExitCode, Stop> {
    let mut input = Input::default();
    let (draft, output) = match &args.kind {
        Kind::Curl(args) => (from_curl(args)?, &args.output),
        Kind::Har(args) => {
            let text = input.read_text(&args.file, "a recording")?;
            (har::import(&text, har::Options { all: args.all }).map_err(Stop::usage)?, &args.output)
        }
        Kind::Openapi(args) => (from_openapi(args, &mut input)?, &args.output),
        Kind::Postman(args) => (from_postman(args, &mut input)?, &args.output),
        Kind::Apipost(args) => {
            let text = input.read_text(&args.file, "an export of Apipost")?;
            (apipost::import(&text).map_err(Stop::usage)?, &args.output)
        }
        Kind::Jmeter(args) => return from_jmeter(args, &mut input),
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

fn from_openapi(args: &OpenApiArgs, input: &mut Input) -> Result<Draft, Stop> {
    let text = input.read_text(&args.file, "an OpenAPI description")?;
    let options = openapi::Options {
        tags: args.tag.clone(),
        paths: args.path.clone(),
        methods: args.method.clone(),
        server: args.server.clone(),
    };
    openapi::import(&text, &options).map_err(Stop::usage)
}

fn from_postman(args: &PostmanArgs, input: &mut Input) -> Result<Draft, Stop> {
    let text = input.read_text(&args.file, "a Postman collection")?;
    let environment = args.environment.as_ref().map(|path| input.read_text(path, "an environment")).transpose()?;
    postman::import(&text, environment.as_deref()).map_err(Stop::usage)
}

fn from_jmeter(args: &JmeterArgs, input: &mut Input) -> Result<ExitCode, Stop> {
    let text = input.read_text(&args.file, "a JMeter plan")?;
    let groups = groups::chosen(jmeter::import(&text).map_err(Stop::usage)?, args.group.as_deref())?;
    let mut files = Vec::new();
    for (group, path) in groups::files(&groups, &args.output)? {
        files.push((&group.draft, Sink::open(&path)?, path));
    }
    for (draft, sink, path) in files {
        if let Some(code) = write(draft, sink, &path) {
            return Ok(code);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write(draft: &Draft, sink: Sink, path: &std::path::Path) -> Option<ExitCode> {
    let is_file = !sink.takes_stdout();
    if let Err(line) = sink.put(&draft.text()) {
        return exit::failed(&[line]);
    }
    draft.summary().lines().for_each(output::note);
    if is_file {
        output::note(&format!("next: torr once {}", path.display()));
    }
    None
}
