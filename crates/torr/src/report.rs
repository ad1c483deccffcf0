//! `torr report RESULT... -o FILE` and `--report FILE`: results as one HTML page.

mod before;

use crate::command_line::Repeatable;
use crate::exit::CliError;
use crate::sink::{self, Sink};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use torr_lab::runs::{Archive, SCHEMA};
use torr_lab::table::WholeTable;
use torr_net::errors::describe;
use torr_page::Document;

/// The name of a result that was not read from a file.
const FRESH: &str = "this run";

/// `torr report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Results that --json wrote, of 'torr URL', 'doctor', 'limit', 'compare' or 'demo', or archives of 'torr lab run'; one
    /// page shows several side by side
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<PathBuf>,
    /// Write the page here; '-' is standard output
    #[arg(short, long, default_value = "report.html", value_name = "FILE")]
    pub output: PathBuf,
}

/// Reads the results and writes the page.
pub fn run(args: &ReportArgs) -> Result<ExitCode, CliError> {
    let documents = args.results.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    if args.results.iter().any(|path| is_same(path, &args.output)) {
        return Err(CliError::Usage(format!("{} is a result: use another file for -o", args.output.display())));
    }
    let sink = Sink::open(&args.output)?;
    let page = torr_page::page(&linked(documents, sink.path()));
    sink.put(&page).map_err(CliError::Failed)?;
    Ok(ExitCode::SUCCESS)
}

/// Links a page of one run to the run before it, whose result lies beside the page.
fn linked(mut documents: Vec<Document>, page: Option<&Path>) -> Vec<Document> {
    if let (Some(page), [document]) = (page, &mut documents[..]) {
        document.before = before::run_before(page, document.value());
    }
    documents
}

fn read(path: &Path) -> Result<Document, CliError> {
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| CliError::Usage(format!("cannot read {name}: {}", describe(&error))))?;
    let text =
        String::from_utf8(bytes).map_err(|_| CliError::Usage(format!("{name} is not a result: expected text")))?;
    if is_archive(&text) {
        let archive = Archive::read(path).map_err(CliError::Usage)?;
        let table = serde_json::to_value(WholeTable::of(&archive)).map_err(CliError::usage)?;
        return Document::new(&name, table).map_err(CliError::usage);
    }
    Document::parse(&name, &text).map_err(CliError::usage)
}

/// Whether a text is an archive of the lab, of which the first line is a document by itself.
fn is_archive(text: &str) -> bool {
    let first = text.lines().next().and_then(|line| serde_json::from_str::<Value>(line).ok());
    first.is_some_and(|first| first["schema"] == SCHEMA)
}

fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Returns the flag of the JSON of a command, and that of its page, with the file where it is requested.
pub fn outputs<'a>(json: Option<&'a Path>, page: Option<&'a Path>) -> [(&'static str, Option<&'a Path>); 2] {
    [("--json", json), ("--report", page)]
}

/// Opens the JSON and the page of a command, before its work.
pub fn open_beside(json: Option<&Path>, page: Option<&Path>) -> Result<(Option<Sink>, Option<Sink>), CliError> {
    let [json, page] = sink::open_all(outputs(json, page))?;
    Ok((json, page))
}

/// Returns a result that the program just made as JSON, with the command that repeats it.
pub fn json_of(result: &impl Serialize) -> Result<Value, String> {
    serde_json::to_value(Repeatable::new(result)).map_err(|error| error.to_string())
}

/// Returns the page of a result that the program just made, for the file `page`, if it becomes one.
pub fn page_of(result: &impl Serialize, page: Option<&Path>) -> Result<String, String> {
    page_of_json(json_of(result)?, page)
}

fn page_of_json(result: Value, page: Option<&Path>) -> Result<String, String> {
    let document = Document::new(FRESH, result).map_err(|error| error.to_string())?;
    Ok(torr_page::page(&linked(vec![document], page)))
}

/// Writes the page of a result. An error is a line that says what could not be written.
pub fn put(result: &impl Serialize, sink: Sink) -> Result<(), String> {
    let page = page_of(result, sink.path());
    write(page, sink)
}

/// Writes the page of what an archive has, which may be that of another machine, as [`put`] does.
pub fn put_archived(archived: &impl Serialize, sink: Sink) -> Result<(), String> {
    let value = serde_json::to_value(archived).map_err(|error| error.to_string());
    let page = value.and_then(|value| page_of_json(value, sink.path()));
    write(page, sink)
}

fn write(page: Result<String, String>, sink: Sink) -> Result<(), String> {
    match page {
        Ok(page) => sink.put(&page),
        Err(error) => Err(sink.failed(&error)),
    }
}
