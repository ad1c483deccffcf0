//! `torr import`: turns what people have into hurl files that they would want to read.

mod args;
mod collection;
mod parts;

use crate::exit::{self, CliError};
use crate::output;
use crate::sink::Sink;
use args::{ArtilleryArgs, BrunoArgs, CurlArgs, HttpArgs, InsomniaArgs, JmeterArgs, OpenApiArgs, PostmanArgs};
pub use args::{ImportArgs, Kind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use torr_import::httpfile::Environment;
use torr_import::{Draft, apipost, artillery, bruno, curl, har, httpfile, insomnia, jmeter, openapi, postman};
use torr_net::errors::describe;
use torr_plan::input::Input;

/// The largest file that is read because a description refers to it, in bytes: as much as a description may have.
const LARGEST_PART: u64 = 64 * 1024 * 1024;

/// Writes the hurl file, and says on standard error what was made and what was left out.
pub fn run(args: &ImportArgs) -> Result<ExitCode, CliError> {
    let mut input = Input::default();
    let (draft, output) = match &args.kind {
        Kind::Curl(args) => (from_curl(args)?, &args.output),
        Kind::Har(args) => {
            let text = input.read_text(&args.file, "a recording")?;
            let options = har::Options { all: args.all, hosts: args.host.clone() };
            (har::import(&text, &options).map_err(CliError::usage)?, &args.output)
        }
        Kind::Openapi(args) => (from_openapi(args, &mut input)?, &args.output),
        Kind::Postman(args) => (from_postman(args, &mut input)?, &args.output),
        Kind::Apipost(args) => {
            let text = input.read_text(&args.file, "an Apipost export")?;
            (apipost::import(&text).map_err(CliError::usage)?, &args.output)
        }
        Kind::Bruno(args) => (from_bruno(args)?, &args.output),
        Kind::Insomnia(args) => (from_insomnia(args, &mut input)?, &args.output),
        Kind::Http(args) => (from_http(args, &mut input)?, &args.output),
        Kind::Jmeter(args) => return from_jmeter(args, &mut input),
        Kind::Artillery(args) => return from_artillery(args, &mut input),
    };
    let sink = Sink::open(output)?;
    Ok(write(&draft, sink, output).unwrap_or(ExitCode::SUCCESS))
}

fn from_curl(args: &CurlArgs) -> Result<Draft, CliError> {
    let read = |name: &str| curl_file(Path::new(name));
    let draft = match &args.command[..] {
        // A whole command in quotes, as people paste it.
        [] if curl::is_command(&args.file) && !Path::new(&args.file).exists() => curl::import_with(&args.file, &read),
        [] => {
            let text = Input::default().read_text(&args.file, "a curl command")?;
            curl::import_with(&text, &read)
        }
        [command] if curl::is_command(command) => curl::import_with(command, &read),
        words => curl::import_words(words, &read),
    };
    draft.map_err(CliError::usage)
}

/// Reads a file that a command of curl sends.
fn curl_file(path: &Path) -> Result<Vec<u8>, String> {
    let wrong = |error: std::io::Error| format!("cannot read it: {}", describe(&error));
    let metadata = std::fs::metadata(path).map_err(wrong)?;
    if !metadata.is_file() || metadata.len() > LARGEST_PART {
        return Err("not a file, or larger than 64 MiB".to_owned());
    }
    std::fs::read(path).map_err(wrong)
}

fn from_openapi(args: &OpenApiArgs, input: &mut Input) -> Result<Draft, CliError> {
    let text = input.read_text(&args.file, "an OpenAPI description")?;
    let options = openapi::Options {
        tags: args.tag.clone(),
        paths: args.path.clone(),
        methods: args.method.clone(),
        server: args.server.clone(),
    };
    openapi::import_with(&text, &options, &|name| beside(&args.file, name)).map_err(CliError::usage)
}

/// Reads a text file that a description refers to, by its path relative to the description.
fn beside(description: &str, name: &str) -> Result<String, String> {
    String::from_utf8(bytes_beside(description, name)?).map_err(|_| format!("'{name}' is not UTF-8"))
}

/// Reads a file that a description refers to, by its path relative to the description.
fn bytes_beside(description: &str, name: &str) -> Result<Vec<u8>, String> {
    if description == "-" {
        return Err("relative files need a description that is read from a file instead of standard input".to_owned());
    }
    let path = Path::new(description).with_file_name("").join(name);
    let shown = path.display();
    let wrong = |error: std::io::Error| format!("cannot read '{shown}': {}", describe(&error));
    let metadata = std::fs::metadata(&path).map_err(wrong)?;
    if !metadata.is_file() || metadata.len() > LARGEST_PART {
        return Err(format!("'{shown}' is not a file, or too large"));
    }
    std::fs::read(&path).map_err(wrong)
}

fn from_postman(args: &PostmanArgs, input: &mut Input) -> Result<Draft, CliError> {
    let text = input.read_text(&args.file, "a Postman collection")?;
    let environment = args.environment.as_ref().map(|path| input.read_text(path, "an environment")).transpose()?;
    let globals = args.globals.as_ref().map(|path| input.read_text(path, "globals")).transpose()?;
    let beside = postman::Beside { environment: environment.as_deref(), globals: globals.as_deref() };
    postman::import_with(&text, beside).map_err(CliError::usage)
}

fn from_insomnia(args: &InsomniaArgs, input: &mut Input) -> Result<Draft, CliError> {
    let text = input.read_text(&args.file, "an Insomnia export")?;
    let globals = args.globals.as_ref().map(|path| input.read_text(path, "globals")).transpose()?;
    let options = insomnia::Options { environment: args.env.as_deref(), globals: globals.as_deref() };
    insomnia::import(&text, &options).map_err(CliError::usage)
}

fn from_http(args: &HttpArgs, input: &mut Input) -> Result<Draft, CliError> {
    let text = input.read_text(&args.file, "a file of HTTP requests")?;
    let environments = environments(args).map_err(CliError::Usage)?;
    let read = |name: &str| bytes_beside(&args.file, name);
    let options = httpfile::Options { environments, environment: args.env.clone(), read: &read };
    httpfile::import(&text, &options).map_err(CliError::usage)
}

/// Returns the files of variables beside a file of requests, those that win last.
fn environments(args: &HttpArgs) -> Result<Vec<Environment>, String> {
    let read = |name: &str| {
        let is_there = args.file != "-" && Path::new(&args.file).with_file_name(name).exists();
        is_there.then(|| beside(&args.file, name)).transpose()
    };
    let mut found = Vec::new();
    for (name, is_secret) in [("http-client.env.json", false), ("http-client.private.env.json", true)] {
        found.extend(read(name)?.map(|text| Environment::Json { text, is_secret }));
    }
    found.extend(read(".env")?.map(|text| Environment::Lines { text, is_chosen: false }));
    // A name that leads into another folder is that of no file.
    let chosen = args.env.as_deref().filter(|name| !name.contains('/'));
    for name in chosen.into_iter().flat_map(|name| [format!("{name}.env"), format!(".env.{name}")]) {
        found.extend(read(&name)?.map(|text| Environment::Lines { text, is_chosen: true }));
    }
    Ok(found)
}

fn from_bruno(args: &BrunoArgs) -> Result<Draft, CliError> {
    let collection::Collection { files, only } = collection::read(&args.path).map_err(CliError::Usage)?;
    let options = bruno::Options { environment: args.env.clone(), only };
    bruno::import(&files, &options).map_err(CliError::usage)
}

fn from_jmeter(args: &JmeterArgs, input: &mut Input) -> Result<ExitCode, CliError> {
    let text = input.read_text(&args.file, "a JMeter plan")?;
    let groups = jmeter::import(&text).map_err(CliError::usage)?;
    let groups = parts::chosen(groups, |group| &group.name, args.group.as_deref(), "thread group")?;
    let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
    let message = "each thread group becomes a file: choose one with --group, or pass -o FILE";
    let files = parts::files(&names, &args.output, &format!("the plan has {}; {message}", parts::listed(&names)))?;
    let drafts: Vec<&Draft> = groups.iter().map(|group| &group.draft).collect();
    Ok(write_all(&drafts, &files)?.unwrap_or(ExitCode::SUCCESS))
}

fn from_artillery(args: &ArtilleryArgs, input: &mut Input) -> Result<ExitCode, CliError> {
    let text = input.read_text(&args.file, "an Artillery script")?;
    let read = |name: &str| bytes_beside(&args.file, name);
    let folder = Path::new(&args.file).parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.map_or_else(String::new, |folder| format!("{}/", folder.display()));
    let options = artillery::Options { environment: args.environment.clone(), folder, read: &read };
    let mut script = artillery::import(&text, &options).map_err(CliError::usage)?;
    script.scenarios = parts::chosen(script.scenarios, |of| &of.name, args.scenario.as_deref(), "scenario")?;
    if args.scenario.is_some() {
        (script.before, script.after) = (None, None);
    }
    let mut drafts: Vec<&Draft> = script.scenarios.iter().map(|of| &of.draft).collect();
    let mut names: Vec<&str> = script.scenarios.iter().map(|of| of.name.as_str()).collect();
    for (name, draft) in [("before", &script.before), ("after", &script.after)] {
        if let Some(draft) = draft {
            drafts.push(draft);
            names.push(name);
        }
    }
    let message = "each becomes a file: choose a scenario with --scenario, or pass -o FILE";
    let files = parts::files(&names, &args.output, &format!("the script has {}; {message}", parts::listed(&names)))?;
    if let Some(code) = write_all(&drafts, &files)? {
        return Ok(code);
    }
    output::note(&format!("load: {}", parts::command(&script, &files)));
    Ok(ExitCode::SUCCESS)
}

/// Writes several hurl files, of which none is written if one cannot be.
fn write_all(drafts: &[&Draft], files: &[PathBuf]) -> Result<Option<ExitCode>, CliError> {
    let mut sinks = Vec::new();
    for (draft, path) in drafts.iter().zip(files) {
        sinks.push((draft, Sink::open(path)?, path));
    }
    for (draft, sink, path) in sinks {
        if let Some(code) = write(draft, sink, path) {
            return Ok(Some(code));
        }
    }
    Ok(None)
}

fn write(draft: &Draft, sink: Sink, path: &Path) -> Option<ExitCode> {
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
