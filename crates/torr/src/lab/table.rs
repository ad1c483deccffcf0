//! The table of an archive, as text, Markdown and JSON.

use super::args::{OutputArgs, TableArgs};
use crate::exit::{self, CliError};
use crate::output;
use crate::report;
use crate::sink::{self, Sink};
use std::fmt::Write;
use std::process::ExitCode;
use torr_gauge::verdict::{Advice, Fact, Factor};
use torr_lab::block::InvalidReason;
use torr_lab::runs::{Archive, Header};
use torr_lab::table::{Cell, Figures, Lead, Line, Table, WholeTable};
use torr_report::human::{cut, micros, percent, plural, rate};
use torr_report::sentence;
use torr_report::style::{FAINT, STRONG, paint};
use torr_report::table::align_within;

/// The longest reason in the notes.
const LONGEST: usize = 400;

/// The requested outputs, opened before the work.
pub struct Outputs {
    markdown: Option<Sink>,
    json: Option<Sink>,
    report: Option<Sink>,
}

impl Outputs {
    /// Opens the outputs.
    pub fn open(args: &OutputArgs) -> Result<Self, CliError> {
        let [markdown, json, report] = sink::open_all([
            ("--markdown", args.markdown.as_deref()),
            ("--json", args.json.as_deref()),
            ("--report", args.report.as_deref()),
        ])?;
        Ok(Self { markdown, json, report })
    }
}

/// Prints the table of an archive that is there already.
pub fn print(args: &TableArgs) -> Result<ExitCode, CliError> {
    let archive = Archive::read(&args.archive).map_err(CliError::Usage)?;
    put(&archive, Outputs::open(&args.outputs)?)
}

/// Writes the table, and returns the exit code that it stands for.
pub fn put(archive: &Archive, outputs: Outputs) -> Result<ExitCode, CliError> {
    let whole = WholeTable::of(archive);
    let table = &whole.table;
    let Outputs { markdown: to_markdown, json, report } = outputs;
    let takes_stdout = [&to_markdown, &json, &report].into_iter().flatten().any(Sink::takes_stdout);
    if !takes_stdout {
        output::print(&text(&archive.header, table));
    }
    let json = json.map(|sink| match serde_json::to_string_pretty(&whole) {
        Ok(text) => sink.put(&text),
        Err(error) => Err(sink.failed(&error)),
    });
    let markdown = to_markdown.map(|sink| sink.put(&markdown(&archive.header, table)));
    let report = report.map(|sink| report::put_archived(&whole, sink));
    let failed: Vec<String> = [json, markdown, report].into_iter().flatten().filter_map(Result::err).collect();
    if let Some(code) = exit::failed(&failed) {
        return Ok(code);
    }
    Ok(if table.has_failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn text(header: &Header, table: &Table) -> String {
    let mut rows = vec![[vec![String::new()], table.subjects.clone(), table.references.clone()].concat()];
    for line in &table.lines {
        let cells = line.cells.iter().map(|cell| cell_text(cell, header.rounds));
        rows.push(std::iter::once(line.level.clone()).chain(cells).chain(line.references.iter().cloned()).collect());
    }
    let mut text = format!("\n{}  {}\n", paint(STRONG, &header.suite), header.about);
    writeln!(text, "{}\n", paint(FAINT, conditions(header))).expect("writing to memory does not fail");
    text += &align_within(&rows, output::columns());
    let notes = [leads(table), marks(table), disturbances(table), reasons(table)].concat();
    if !notes.is_empty() {
        text += &format!("\n{}\n", notes.join("\n"));
    }
    text
}

/// Returns how the figures came about.
fn conditions(header: &Header) -> String {
    let Header { rounds, scale, machine, .. } = header;
    let scale = if (scale - 1.0).abs() < f64::EPSILON { String::new() } else { format!(", scale {scale}") };
    let runs =
        if *rounds == 1 { "one run".to_owned() } else { format!("median of {rounds} runs, smallest to largest") };
    format!("responses/s, {runs}{scale}; {} CPUs, {}, torr {}", machine.cores, machine.kernel, header.torr)
}

fn cell_text(cell: &Cell, rounds: usize) -> String {
    match cell {
        Cell::Measured(figures) => {
            let range = match rounds {
                1 => String::new(),
                _ => format!(" {}-{}", rate(figures.least_rps), rate(figures.most_rps)),
            };
            let mark = mark(figures).map_or_else(String::new, |mark| format!(" {}", mark.letter()));
            format!("{}{range}{mark}", rate(figures.rps))
        }
        Cell::Absent => "not available".into(),
        Cell::NotOffered => "-".into(),
        Cell::Failed(_) => "failed".into(),
        Cell::Missing => "not run".into(),
    }
}

/// What stands beside a figure that is not the subject's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Generator,
    Disturbed,
    Failed,
    Database,
    Fewer,
}

impl Mark {
    const ALL: [Self; 5] = [Self::Generator, Self::Disturbed, Self::Failed, Self::Database, Self::Fewer];

    fn letter(self) -> char {
        match self {
            Self::Generator => 'g',
            Self::Disturbed => 's',
            Self::Failed => 'e',
            Self::Database => 'd',
            Self::Fewer => 'f',
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Generator => "limited by the generator",
            Self::Disturbed => "the hypervisor took CPU time",
            Self::Failed => "requests failed",
            Self::Database => "limited by the database",
            Self::Fewer => "limited by the number of connections or workers",
        }
    }
}

fn mark(figures: &Figures) -> Option<Mark> {
    let is_invalid = |reason| figures.invalid.contains(&reason);
    Some(match figures.limit {
        _ if figures.failed.is_some() => Mark::Failed,
        Some(Factor::Generator) => Mark::Generator,
        _ if is_invalid(InvalidReason::GeneratorSaturated) => Mark::Generator,
        _ if is_invalid(InvalidReason::HypervisorSteal) => Mark::Disturbed,
        Some(Factor::Database) => Mark::Database,
        Some(Factor::Connections | Factor::Workers) => Mark::Fewer,
        _ => return None,
    })
}

/// Returns the meanings of the marks that there are.
fn marks(table: &Table) -> Vec<String> {
    let is_there = |mark: &Mark| {
        let has = |cell: &Cell| matches!(cell, Cell::Measured(figures) if self::mark(figures) == Some(*mark));
        table.lines.iter().flat_map(|line| &line.cells).any(has)
    };
    Mark::ALL
        .iter()
        .filter(|mark| is_there(mark))
        .map(|mark| format!("{}: {}", mark.letter(), mark.meaning()))
        .collect()
}

/// Returns for each level which subject is the fastest, or that the rounds cannot tell.
fn leads(table: &Table) -> Vec<String> {
    let lead = |line: &Line| {
        let text = match line.lead.as_ref()? {
            Lead::Fastest(subject) => format!("{subject} is the fastest"),
            Lead::CannotTell(subjects) => format!("cannot tell which is the fastest of {}", subjects.join(", ")),
        };
        Some(format!("{}: {text}", line.level))
    };
    table.lines.iter().filter_map(lead).collect()
}

/// Returns what took CPU time from the runs of cells, with the number of cells.
fn disturbances(table: &Table) -> Vec<String> {
    let cells = table.lines.iter().flat_map(|line| &line.cells);
    let taken: Vec<&Fact> = cells
        .filter_map(|cell| match cell {
            Cell::Measured(figures) => figures.disturbed.as_ref(),
            _ => None,
        })
        .collect();
    let text = |first: &&Fact| {
        let figures = plural(taken.len() as u64, "figure");
        format!("disturbed, {figures}: {}; {}", sentence::fact(first), sentence::advice(&Advice::StopOthers))
    };
    taken.first().map(text).into_iter().collect()
}

/// Returns the reasons of cells without figures.
fn reasons(table: &Table) -> Vec<String> {
    let absent = table.absent.iter().map(|(subject, why)| format!("{subject} is not available: {}", cut(why, LONGEST)));
    let mut reasons: Vec<_> = absent.collect();
    // A subject that does not start fails at each level for the same reason.
    let mut known: Vec<(&str, &str)> = Vec::new();
    for line in &table.lines {
        for (subject, cell) in table.subjects.iter().zip(&line.cells) {
            let Cell::Failed(why) = cell else { continue };
            if !known.contains(&(subject, why)) {
                reasons.push(format!("{subject} failed at '{}': {}", line.level, cut(why, LONGEST)));
                known.push((subject, why));
            }
        }
    }
    reasons
}

fn markdown(header: &Header, table: &Table) -> String {
    let mut text = format!("## {}: {}\n\n{}.\n\n", header.suite, header.about, conditions(header));
    let mut row = |cells: Vec<String>| {
        let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        text += &format!("| {} |\n", cells.join(" | "));
    };
    let names = [vec![String::new()], table.subjects.clone(), table.references.clone()].concat();
    let columns = names.len();
    row(names);
    row((0..columns).map(|column| if column == 0 { "---" } else { "---:" }.to_owned()).collect());
    for line in &table.lines {
        let cells = line.cells.iter().map(|cell| cell_markdown(cell, header.rounds));
        row(std::iter::once(line.level.clone()).chain(cells).chain(line.references.iter().cloned()).collect());
    }
    for note in [leads(table), disturbances(table), reasons(table)].concat() {
        text += &format!("\n- {note}");
    }
    let versions = table.versions.iter().map(|(subject, version)| format!("{subject}: {version}"));
    let versions: Vec<_> = versions.collect();
    if !versions.is_empty() {
        text += &format!("\n\nVersions: {}.", versions.join("; "));
    }
    text + "\n"
}

/// Returns a cell with its limit in words, its p99 and the server's CPU time for each response.
fn cell_markdown(cell: &Cell, rounds: usize) -> String {
    let Cell::Measured(figures) = cell else { return cell_text(cell, rounds) };
    let mut parts = vec![format!("**{}**", rate(figures.rps))];
    if rounds > 1 {
        parts.push(format!("{} to {}", rate(figures.least_rps), rate(figures.most_rps)));
    }
    parts.extend(figures.p99_us.map(|us| format!("p99 {}", micros(us))));
    parts.extend(figures.cpu_us.map(|us| format!("{} CPU", micros(us))));
    parts.extend(figures.failed.map(|share| format!("{} failed", percent(share))));
    let limit = figures.limit.filter(|limit| *limit != Factor::None).map(|limit| limit.to_string());
    parts.extend(mark(figures).filter(|mark| *mark == Mark::Disturbed).map(|mark| mark.meaning().to_owned()));
    match mark(figures) {
        Some(Mark::Generator) => parts.push(Mark::Generator.meaning().to_owned()),
        _ => parts.extend(limit),
    }
    parts.join("<br>")
}
