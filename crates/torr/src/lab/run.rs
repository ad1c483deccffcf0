//! `torr lab run`: each subject is started, checked and loaded at each level, in turns, with an archive that grows by a
//! line for each run.

use super::args::RunArgs;
use super::call::Ended;
use super::check::check;
use super::databases::Databases;
use super::load::load;
use super::programs::Program;
use super::requests::Requests;
use super::running::{Running, Setting};
use super::table::{Outputs, put};
use crate::certificate::OwnCertificate;
use crate::command_line;
use crate::exit::{self, CliError};
use crate::interrupt;
use crate::output;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use torr_gauge::Machine;
use torr_gauge::machine::cpus;
use torr_lab::order::{Due, order};
use torr_lab::runs::{Archive, Entry, Header, Run, SCHEMA, Writer};
use torr_lab::shipped;
use torr_lab::subject::Subject;
use torr_lab::suite::{Level, Suite};
use torr_net::errors::describe;
use torr_report::live::LiveProgress;

/// The time of a server's start and of the load's, about.
const START: Duration = Duration::from_millis(600);

/// Runs a suite and prints its table.
pub fn run(args: &RunArgs) -> Result<ExitCode, CliError> {
    let suite = suite(args)?;
    let names = if args.subjects.is_empty() { &suite.subjects } else { &args.subjects };
    let subjects = names.iter().map(|name| shipped::subject(name)).collect::<Result<Vec<_>, _>>();
    let subjects = subjects.map_err(CliError::Usage)?;
    if let Some(database) = subjects.iter().find(|subject| subject.is_database()) {
        return Err(CliError::Usage(format!("'{}' is a database: choose a server", database.name)));
    }
    check_databases(args, &suite)?;
    let mut once = BTreeSet::new();
    if let Some(twice) = subjects.iter().find(|subject| !once.insert(&subject.name)) {
        return Err(CliError::Usage(format!("duplicate subject '{}': rename a file", twice.name)));
    }
    let stop = interrupt::flag()?;
    let requests = Requests::new(&suite, args.scale).map_err(CliError::Failed)?;
    if let Some(mistake) = requests.mistake(&stop) {
        return Err(CliError::Usage(mistake));
    }
    let outputs = Outputs::open(&args.outputs)?;
    let path = args.archive.clone().unwrap_or_else(|| PathBuf::from(format!("{}.jsonl", suite.name)));
    let (archive, writer) = archive(args, &path, header(args, &suite, &subjects))?;
    let shown = path.canonicalize().unwrap_or_else(|_| path.clone());
    if !args.quiet {
        output::note(&format!("each run appends a line to {}", shown.display()));
    }
    let length = suite.length(args.scale) + suite.warmup(args.scale);
    let runs = archive.header.rounds * archive.header.levels.len() * subjects.len();
    let each = length + START;
    let live = LiveProgress::new(Some(each * runs as u32), !args.quiet && io::stderr().is_terminal());
    let mut session = Session {
        suite: &suite,
        path: &path,
        archive,
        writer,
        programs: BTreeMap::new(),
        databases: Databases::new(&args.databases),
        checked: BTreeSet::new(),
        left_out: BTreeSet::new(),
        certificate: None,
        requests,
        stop: Arc::clone(&stop),
        live: &live,
        quiet: args.quiet,
        each_s: each.as_secs_f64(),
    };
    let ended = session.find(&subjects).and_then(|()| session.all(&subjects));
    live.clear();
    let interrupted = ended?.is_none();
    let archive = session.archive;
    drop((session.databases, session.certificate, session.requests));
    let code = put(&archive, outputs)?;
    if !args.quiet {
        let how = if interrupted { "; continue with --resume" } else { "" };
        output::note(&format!("the runs are in {}{how}", shown.display()));
    }
    Ok(if interrupted { exit::interrupted() } else { code })
}

/// Returns the suite, with the rows that are wanted.
fn suite(args: &RunArgs) -> Result<Suite, CliError> {
    let mut suite = shipped::suite(&args.suite).map_err(CliError::Usage)?;
    if !args.rows.is_empty() {
        let names: Vec<_> = suite.rows.iter().map(|row| row.name.clone()).collect();
        suite.rows.retain(|row| args.rows.iter().any(|text| row.name.contains(text)));
        if suite.rows.is_empty() {
            let rows = names.join("', '");
            return Err(CliError::Usage(format!("no row of {} has this name: use '{rows}'", suite.name)));
        }
    }
    Ok(suite)
}

/// Demands that each database of the command line is one that a row needs.
fn check_databases(args: &RunArgs, suite: &Suite) -> Result<(), CliError> {
    let needed: BTreeSet<String> = suite.levels().into_iter().filter_map(|level| level.database).collect();
    let Some((unused, _)) = args.databases.iter().find(|(name, _)| !needed.contains(name)) else { return Ok(()) };
    let there = match needed.len() {
        0 => "they need none".to_owned(),
        _ => format!("they need {}", needed.into_iter().collect::<Vec<_>>().join(", ")),
    };
    Err(CliError::Usage(format!("--database {unused}: none of these rows needs it; {there}")))
}

fn header(args: &RunArgs, suite: &Suite, subjects: &[Subject]) -> Header {
    let levels = suite.levels();
    let references = levels.iter().map(|level| (level.name.clone(), suite.rows[level.row].reference.clone()));
    Header {
        schema: SCHEMA.into(),
        torr: env!("CARGO_PKG_VERSION").into(),
        suite: suite.name.clone(),
        about: suite.about.clone(),
        started_at: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
        machine: Machine::this(),
        subjects: subjects.iter().map(|subject| subject.name.clone()).collect(),
        rounds: args.rounds.unwrap_or(suite.rounds),
        scale: args.scale,
        seed: args.seed.unwrap_or_else(|| fastrand::u64(1..1_000_000)),
        command: command_line::given(),
        references: references.filter(|(_, figures)| !figures.is_empty()).collect(),
        levels: levels.into_iter().map(|level| level.name).collect(),
    }
}

/// Begins the archive, or opens that of a suite which was interrupted.
fn archive(args: &RunArgs, path: &Path, header: Header) -> Result<(Archive, Writer), CliError> {
    let shown = path.display();
    let unwritable =
        |error: io::Error| CliError::Usage(format!("cannot write the archive {shown}: {}", describe(&error)));
    if args.resume && path.exists() {
        let archive = Archive::read(path).map_err(CliError::Usage)?;
        if let Some(what) = archive.header.differs(&header) {
            let line = format!("{shown} has runs of another {what}: use the same, or another --archive");
            return Err(CliError::Usage(line));
        }
        return Ok((archive, Writer::resume(path).map_err(unwritable)?));
    }
    let writer = Writer::create(path, &header).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => CliError::Usage(format!(
            "{shown} exists: continue it with --resume, or start another one with --archive FILE"
        )),
        _ => unwritable(error),
    })?;
    Ok((Archive { header, entries: Vec::new() }, writer))
}

/// A suite in progress.
struct Session<'s> {
    suite: &'s Suite,
    path: &'s Path,
    archive: Archive,
    writer: Writer,
    /// The subjects that are here, and their upstreams.
    programs: BTreeMap<String, Program>,
    databases: Databases,
    /// The subjects, rows and databases whose check has passed.
    checked: BTreeSet<(String, usize, Option<String>)>,
    /// The subjects and levels that have failed, or are not offered.
    left_out: BTreeSet<(String, String)>,
    certificate: Option<OwnCertificate>,
    requests: Requests<'s>,
    stop: Arc<AtomicBool>,
    live: &'s LiveProgress,
    quiet: bool,
    each_s: f64,
}

/// The end of a part: `None` if the user has interrupted it.
type Part<T> = Result<Option<T>, CliError>;

impl Session<'_> {
    /// Finds and builds all subjects. One that is not here has its line in the archive.
    fn find(&mut self, subjects: &[Subject]) -> Result<(), CliError> {
        for subject in subjects {
            let upstream = subject.upstream.as_ref().map(|name| shipped::subject(name)).transpose();
            for needed in upstream.map_err(CliError::Usage)?.iter().chain([subject]) {
                if self.programs.contains_key(&needed.name) {
                    continue;
                }
                let live = self.live;
                // A build takes longer than a run, and is no part of it: also where there is no progress line.
                let tell = |what: &str| {
                    live.clear();
                    if !self.quiet {
                        output::note(what);
                    }
                };
                match Program::find(needed, &self.stop, &tell) {
                    Ok(program) => {
                        if needed.name == subject.name
                            && let Some(version) = program.version(&self.stop)
                        {
                            self.put(Entry::Version { subject: subject.name.clone(), version })?;
                        }
                        self.programs.insert(needed.name.clone(), program);
                    }
                    Err(Ended::Failed(why)) => {
                        let why = if needed.name == subject.name { why } else { format!("{}: {why}", needed.name) };
                        self.put(Entry::Absent { subject: subject.name.clone(), why })?;
                        break;
                    }
                    Err(Ended::Interrupted) => return Ok(()),
                }
            }
        }
        Ok(())
    }

    /// Runs all cells that are not in the archive yet.
    fn all(&mut self, subjects: &[Subject]) -> Part<()> {
        let levels = self.suite.levels();
        let header = &self.archive.header;
        let all = order(header.rounds, levels.len(), subjects.len(), header.seed);
        for (number, Due { round, level, subject }) in all.into_iter().enumerate() {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let (level, subject) = (&levels[level], &subjects[subject]);
            let key = (subject.name.clone(), level.name.clone());
            let is_done = self.archive.has(&subject.name, &level.name, round);
            if is_done || self.left_out.contains(&key) || !self.is_here(subject) {
                continue;
            }
            self.live.begin(number as f64 * self.each_s, &format!("{}: {}", subject.name, level.name));
            match self.cell(subject, level, round) {
                Ok(()) => {}
                Err(Left::Interrupted) => return Ok(None),
                Err(Left::NotOffered) => {
                    self.left_out.insert(key.clone());
                    self.put(Entry::NotOffered { subject: key.0, level: key.1 })?;
                }
                Err(Left::Failed(why)) => {
                    self.left_out.insert(key.clone());
                    self.put(Entry::Failed { subject: key.0, level: key.1, why })?;
                }
                Err(Left::Stop(stop)) => return Err(stop),
            }
        }
        Ok(Some(()))
    }

    fn is_here(&self, subject: &Subject) -> bool {
        let has = |name: &String| self.programs.contains_key(name);
        has(&subject.name) && subject.upstream.as_ref().is_none_or(has)
    }

    /// Starts a subject, checks its responses, and loads it.
    fn cell(&mut self, subject: &Subject, level: &Level, round: usize) -> Result<(), Left> {
        let row = &self.suite.rows[level.row];
        let path = subject.paths.get(&row.path).ok_or(Left::NotOffered)?;
        let suffix = row.suffix.replace("{n}", &level.n.unwrap_or(0).to_string());
        if row.tls && subject.tls.is_none() {
            return Err(Left::NotOffered);
        }
        let database = match &level.database {
            Some(name) if !subject.databases.contains(name) => return Err(Left::NotOffered),
            Some(name) => {
                let live = self.live;
                Some(self.databases.url(name, &self.stop, &|what| live.begin(0.0, what))?)
            }
            None => None,
        };
        let tls = if row.tls { Some(self.certificate()?) } else { None };
        let certificate = tls.as_ref().map(|(certificate, _)| certificate.clone());
        let setting = Setting { workers: level.workers * cpus(), database, tls, path: Some(format!("{path}{suffix}")) };
        let running = Running::start(&self.programs[&subject.name], &setting, &self.programs, &self.stop)?;
        let scheme = if row.tls { "https" } else { "http" };
        let base = format!("{scheme}://127.0.0.1:{}{path}", running.port);
        let url = format!("{base}{suffix}");
        let key = (subject.name.clone(), level.row, level.database.clone());
        if !self.checked.contains(&key) {
            check(&self.suite.checks[&row.check], &url, &base, certificate.as_deref(), &self.stop)?;
            self.checked.insert(key);
        }
        let arguments = self.requests.arguments(level, url, certificate.as_deref()).map_err(Ended::from)?;
        let command = shlex::try_join(std::iter::once("torr").chain(arguments.iter().map(String::as_str)));
        let result = load(&arguments, &self.stop)?;
        if result.interrupted {
            return Err(Left::Interrupted);
        }
        let (subject, level) = (subject.name.clone(), level.name.clone());
        let command = command.unwrap_or_default();
        self.put(Entry::Run(Box::new(Run { subject, level, round, command, result }))).map_err(Left::Stop)
    }

    /// Returns the certificate and its key, which are made when a row first needs them.
    fn certificate(&mut self) -> Result<(PathBuf, PathBuf), Ended> {
        let made = match &self.certificate {
            Some(made) => made,
            None => {
                let made = OwnCertificate::make(["127.0.0.1", "localhost"].map(str::to_owned));
                self.certificate.insert(made.map_err(|error| format!("cannot make a certificate: {error}"))?)
            }
        };
        Ok(made.files())
    }

    fn put(&mut self, entry: Entry) -> Result<(), CliError> {
        let path = self.path.display();
        let failed = |error: io::Error| CliError::Failed(format!("cannot write {path}: {}", describe(&error)));
        self.writer.put(&entry).map_err(failed)?;
        self.archive.entries.push(entry);
        Ok(())
    }
}

/// Why a cell has no run.
enum Left {
    /// The subject does not have it.
    NotOffered,
    /// It did not start, or a check failed.
    Failed(String),
    /// The user has interrupted it.
    Interrupted,
    /// Nothing can go on.
    Stop(CliError),
}

impl From<Ended> for Left {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Failed(why) => Self::Failed(why),
            Ended::Interrupted => Self::Interrupted,
        }
    }
}
