//! A command line with a plan in it, as one command line without.

use super::read::{Entry, PlanFile};
use super::settings::{Settings, TARGETS};
use crate::exit::CliError;
use crate::flags::given::{GivenFlag, GivenFlags, given};
use crate::flags::values::{Stages, duration, stages};
use crate::output;
use crate::target::{self, TargetKind};
use clap::ArgMatches;
use std::ffi::OsString;
use std::path::PathBuf;

/// Flags that are parts of one body.
const BODY: [&str; 6] = ["data", "data_raw", "data_binary", "data_urlencode", "json_body", "form"];
/// Flags of which each value has a name of its own: a value beside the plan replaces that of the same name only.
const NAMED: [&str; 3] = ["variables", "variables_file", "secrets"];

/// A command line whose plan was replaced by its settings.
#[derive(Debug)]
pub struct Expanded {
    /// The plan's name, and those of its values that hold.
    plan: PlanFile,
    /// The words beside the plan.
    beside: Vec<String>,
    /// The command that loads what the plan says; `None` for `torr TARGET`.
    command: Option<String>,
}

/// Settings that mean the same to the commands that take a plan's target: the others are of its load and its outputs.
const OF_TARGETS: [&str; 5] = ["connections", "threads", "max_rate", "no_keepalive", "timeout"];

impl Expanded {
    /// Reads the plan of a command line. Returns none if there is no plan in it. The program's name comes first.
    ///
    /// # Errors
    /// If the plan has a mistake. A mistake of the command line alone is none here: it stays without its plan's settings.
    pub fn of(args: &[OsString]) -> Result<Option<Self>, CliError> {
        if !args.iter().skip(1).any(|word| word.to_str().is_some_and(target::is_plan)) {
            return Ok(None);
        }
        let settings = Settings::new();
        let Ok(matches) = settings.relaxed().try_get_matches_from(args) else { return Ok(None) };
        let targets: Vec<String> = matches.get_many(TARGETS).into_iter().flatten().cloned().collect();
        let (plans, others): (Vec<_>, Vec<_>) = targets.into_iter().partition(|text| target::is_plan(text));
        let [plan] = &plans[..] else {
            return match plans.len() {
                0 => Ok(None),
                _ => Err(CliError::Usage(format!("'{}' and '{}' are two plans: give one", plans[0], plans[1]))),
            };
        };
        let TargetKind::Plan(path) = TargetKind::of(std::slice::from_ref(plan))? else { return Ok(None) };
        let plan = PlanFile::read(&path, &settings)?;
        if args.iter().any(|word| word.to_str().is_none()) {
            return Err(CliError::Usage(format!("beside the plan '{}' all words must be UTF-8 text", plan.name)));
        }
        let has_target = !others.is_empty()
            || matches.value_source("urls").is_some()
            || plan.entries.iter().any(|entry| [TARGETS, "urls"].contains(&entry.id.as_str()));
        if !has_target {
            return Err(CliError::Usage(format!("{}: there is no 'target'", plan.name)));
        }
        Ok(Some(Self::merge(plan, others, &matches, &settings)))
    }

    /// Reads the plan of a command line whose first word is a command that loads a target its own way. Of the plan stays what is sent and
    /// the way there. Returns none if there is no plan in it.
    ///
    /// # Errors
    /// If the plan has a mistake, or several targets.
    pub fn of_command(args: &[OsString], command: clap::Command) -> Result<Option<Self>, CliError> {
        if !args.iter().skip(2).any(|word| word.to_str().is_some_and(target::is_plan)) {
            return Ok(None);
        }
        let (name, own) = (command.get_name().to_owned(), Settings::of(command));
        let Ok(matches) = own.relaxed().try_get_matches_from(&args[1..]) else { return Ok(None) };
        let target =
            own.all().find(|arg| arg.is_positional() && !arg.is_last_set()).map(|arg| arg.get_id().as_str().to_owned());
        let given_target = target.and_then(|id| matches.get_one::<String>(&id).cloned());
        let Some(plan) = given_target.filter(|text| target::is_plan(text)) else { return Ok(None) };
        let TargetKind::Plan(path) = TargetKind::of(&[plan])? else { return Ok(None) };
        let mut plan = PlanFile::read(&path, &Settings::new())?;
        let targets = plan.entries.iter().filter(|entry| entry.id == TARGETS).count();
        if targets != 1 {
            let hint = format!("'torr {name}' takes one: give one of its files instead");
            return Err(CliError::Usage(format!("{}: it has {targets} targets ({hint})", plan.name)));
        }
        let known = GivenFlags::known();
        let means = |id: &str| id == TARGETS || OF_TARGETS.contains(&id) || known.contains(&id.to_owned());
        let mut passed_over: Vec<_> = Vec::new();
        plan.entries.retain(|entry| {
            let stays = means(&entry.id) && (entry.id == TARGETS || own.with_id(&entry.id).is_some());
            if !stays && !passed_over.contains(&entry.key) {
                passed_over.push(entry.key.clone());
            }
            stays
        });
        if !passed_over.is_empty() {
            output::note(&format!("{}: passed over by 'torr {name}': {}", plan.name, passed_over.join(", ")));
        }
        let mut merged = Self::merge(plan, Vec::new(), &matches, &own);
        if let Some(last) = own.all().find(|arg| arg.is_last_set()) {
            let behind = matches.get_many::<String>(last.get_id().as_str()).into_iter().flatten().cloned();
            merged.beside.extend(["--".to_owned()].into_iter().chain(behind));
        }
        Ok(Some(Self { command: Some(name), ..merged }))
    }

    /// Leaves out what the command line says otherwise, and what needs something that is left out.
    fn merge(mut plan: PlanFile, targets: Vec<String>, matches: &ArgMatches, settings: &Settings) -> Self {
        let flags = given(settings.relaxed().get_arguments(), matches);
        let name = plan.name.clone();
        let is_url = is_url(&plan, &targets, &flags);
        let mut left_out = Vec::new();
        plan.entries.retain(|entry| {
            let stands = flags.iter().find_map(|flag| yields(entry, flag, settings, is_url));
            match stands {
                Some(Yield::Silently) => false,
                Some(Yield::To(flag)) => {
                    output::note(&format!("{name}:{}: '{}' gives way to {flag}", entry.at, entry.key));
                    left_out.push(entry.clone());
                    false
                }
                None => entry.id != TARGETS || targets.is_empty(),
            }
        });
        let stays: Vec<_> =
            flags.iter().map(GivenFlag::word).chain(plan.entries.iter().map(|entry| entry.word.clone())).collect();
        plan.entries.retain(|entry| {
            let lost = left_out.iter().find(|gone| settings.depends(&entry.word, &gone.word, &stays));
            if let Some(gone) = lost {
                output::note(&format!("{name}:{}: '{}' gives way with '{}'", entry.at, entry.key, gone.key));
            }
            lost.is_none()
        });
        let beside = flags.iter().map(GivenFlag::word).chain(targets).collect();
        Self { plan, beside, command: None }
    }

    /// Returns the path of the plan.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(&self.plan.name)
    }

    /// Returns the words of the whole command line, the program's name first.
    pub fn words(&self) -> Vec<OsString> {
        self.words_without(None)
    }

    fn words_without(&self, left_out: Option<usize>) -> Vec<OsString> {
        let entries = self.plan.entries.iter().enumerate().filter(|(at, _)| Some(*at) != left_out);
        let words = entries.map(|(_, entry)| &entry.word).chain(&self.beside);
        let front = ["torr"].into_iter().chain(self.command.as_deref()).map(OsString::from);
        front.chain(words.map(OsString::from)).collect()
    }

    /// Returns a mistake with its position: that of the value of the plan without which it would be none, or another one.
    /// `attempt` returns the mistake of a command line.
    pub fn locate(&self, mistake: &str, attempt: impl Fn(Vec<OsString>) -> Option<String>) -> CliError {
        let name = &self.plan.name;
        // Standard input can be read once only.
        let reads_input = |word: &String| ["@-", "<-", "--urls=-"].iter().any(|end| word.ends_with(end));
        if self.plan.entries.iter().map(|entry| &entry.word).chain(&self.beside).any(reads_input) {
            return CliError::Usage(format!("{name}: {mistake}"));
        }
        let changed: Vec<_> = (0..self.plan.entries.len())
            .map(|at| (at, self.words_without(Some(at))))
            // A command line without any word shows help, which cures no missing target.
            .filter(|(at, words)| words.len() > 1 || self.plan.entries[*at].id == TARGETS)
            .map(|(at, words)| (at, attempt(words)))
            .filter(|(_, left)| left.as_deref() != Some(mistake))
            .collect();
        // Of two that exclude each other the later one is the mistake.
        let cured = changed.iter().rev().find(|(_, left)| left.is_none());
        let other = || changed.iter().rev().find(|(at, _)| self.plan.entries[*at].id != TARGETS);
        CliError::Usage(match cured.or_else(other) {
            Some((at, _)) => {
                let Entry { key, at, .. } = &self.plan.entries[*at];
                format!("{name}:{at}: '{key}': {mistake}")
            }
            None => format!("{name}: {mistake}"),
        })
    }
}

/// How a value of the plan gives way to a flag.
enum Yield {
    /// The flag gives the same setting.
    Silently,
    /// The flag excludes the setting.
    To(String),
}

fn yields(entry: &Entry, flag: &GivenFlag, settings: &Settings, is_url: bool) -> Option<Yield> {
    let body = |id: &str| BODY.contains(&id);
    if NAMED.contains(&entry.id.as_str()) {
        return None;
    }
    if entry.id == "headers" && flag.id == "headers" {
        let field = |text: &str| text.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
        let given = flag.value.as_deref().unwrap_or_default();
        return (field(entry.word.trim_start_matches("--header=")) == field(given)).then_some(Yield::Silently);
    }
    if entry.id == flag.id || (body(&entry.id) && body(&flag.id)) {
        return Some(Yield::Silently);
    }
    let (one, other) = (Given(&entry.id, entry.value()), Given(&flag.id, flag.value.as_deref().unwrap_or_default()));
    let exclude = settings.exclude(&entry.id, &flag.id) || one.excludes(other, is_url) || other.excludes(one, is_url);
    exclude.then(|| Yield::To(flag.name.clone()))
}

/// A setting by its id, and its value.
#[derive(Clone, Copy)]
struct Given<'g>(&'g str, &'g str);

impl Given<'_> {
    /// Returns whether this does not go with another setting because of its value or of the target, which the grammar does not know.
    fn excludes(self, other: Self, is_url: bool) -> bool {
        match self.0 {
            "think" => is_url && other.is_open_loop(),
            "max_rate" => other.is_open_loop(),
            "pipeline" | "streams" | "connections" | "max_connections" | "coalesce" => other.stages_connections(),
            "arrivals" => self.1 != "constant" && other.stages_connections(),
            "duration" => other.stages_end_before(self.1),
            "follow" => ["http2", "http2_prior_knowledge"].contains(&other.0),
            _ => false,
        }
    }

    fn is_open_loop(self) -> bool {
        self.0 == "rate" || (self.0 == "stages" && matches!(stages(self.1), Ok(Stages::Rates(_))))
    }

    /// Returns whether this is stages that are shorter than a duration.
    fn stages_end_before(self, length: &str) -> bool {
        let ends = (self.0 == "stages").then(|| stages(self.1).ok()).flatten().map(|stages| stages.length());
        ends.zip(duration(length).ok()).is_some_and(|(ends, length)| ends < length)
    }

    fn stages_connections(self) -> bool {
        self.0 == "stages" && matches!(stages(self.1), Ok(Stages::Connections(_)))
    }
}

/// Returns whether the target of a plan, or those beside it, are a URL whose requests no script makes.
fn is_url(plan: &PlanFile, targets: &[String], flags: &[GivenFlag]) -> bool {
    let of_plan = || plan.entries.iter().filter(|entry| entry.id == TARGETS).map(|entry| entry.word.clone()).collect();
    let targets: Vec<_> = if targets.is_empty() { of_plan() } else { targets.to_vec() };
    let mut ids = plan.entries.iter().map(|entry| &entry.id).chain(flags.iter().map(|flag| &flag.id));
    matches!(TargetKind::of(&targets), Ok(TargetKind::Url(_))) && !ids.any(|id| id == "script")
}
