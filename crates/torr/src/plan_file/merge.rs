//! A load with a plan in it, as one load without.

use super::read::{Entry, PlanFile};
use crate::exit::CliError;
use crate::flags::reads::{self, InputFile};
use crate::output;
use clap::ArgMatches;
use std::path::PathBuf;
use torr_load::{Given, Load, Merge, Mistake, Work, given};
use torr_plan::target::{self, TargetKind};

/// The name of the targets.
const TARGET: &str = "target";

/// A plan, of which what stands beside it has replaced a part.
#[derive(Debug)]
pub struct Merged {
    /// The plan's name, and those of its values that hold.
    plan: PlanFile,
    /// What stands beside the plan.
    beside: Vec<Given>,
    /// The script's arguments beside the plan, which replace those of the plan.
    arguments: Vec<String>,
}

/// Settings of the pace that mean the same to the commands that take a plan's target: the others are of its load.
const OF_TARGETS: [&str; 6] = [TARGET, "connections", "threads", "max-rate", "no-keepalive", "timeout"];

impl Merged {
    /// Reads the plan among the targets of a load. Returns none if there is no plan among them.
    ///
    /// # Errors
    /// If the plan has a mistake or no target, or if there are two.
    pub fn of(load: &Load) -> Result<Option<Self>, CliError> {
        let (plans, others): (Vec<_>, Vec<_>) =
            load.given().into_iter().partition(|given| given.id == TARGET && is_plan(given));
        let plan = match &plans[..] {
            [] => return Ok(None),
            [plan] => plan.word(),
            [one, other, ..] => {
                return Err(CliError::Usage(format!(
                    "expected one plan, found '{}' and '{}'",
                    one.word(),
                    other.word()
                )));
            }
        };
        let Some(plan) = read(&plan)? else { return Ok(None) };
        let mut all = plan.entries.iter().map(|entry| &entry.given).chain(&others);
        if !all.any(|given| [TARGET, "urls"].contains(&given.id.as_str())) {
            return Err(CliError::Usage(format!("{}: missing 'target'", plan.name)));
        }
        Ok(Some(Self { arguments: load.arguments.clone(), ..Self::merge(plan, others) }))
    }

    /// Reads the plan that is the target of a command that loads in its own way. Of the plan stays what is sent, the
    /// way there, and what means the same to the command; the script's arguments too, if the command takes some.
    /// Returns none if there is no plan.
    ///
    /// # Errors
    /// If the plan has a mistake, or several targets.
    pub fn of_command(command: &clap::Command, matches: &ArgMatches) -> Result<Option<Self>, CliError> {
        let name = command.get_name();
        let (arguments, known): (Vec<_>, Vec<_>) = command.get_arguments().partition(|arg| arg.is_last_set());
        let (plans, beside): (Vec<_>, Vec<_>) =
            given(known.into_iter(), matches).into_iter().partition(|given| given.name.is_empty() && is_plan(given));
        let [plan] = &plans[..] else { return Ok(None) };
        let Some(mut plan) = read(&plan.word())? else { return Ok(None) };
        let has_script = plan.entries.iter().map(|entry| &entry.given).chain(&beside).any(is_script);
        let targets = plan.entries.iter().filter(|entry| entry.given.id == TARGET).count();
        if targets == 0 || (targets > 1 && !has_script) {
            let hint = format!("'torr {name}' needs one: pass one of its files instead");
            return Err(CliError::Usage(format!("{}: found {targets} targets ({hint})", plan.name)));
        }
        let mut passed_over = pass_over(&mut plan, command);
        if arguments.is_empty() && pass_over_arguments(&mut plan) {
            passed_over.push("the script's arguments".to_owned());
        }
        if !passed_over.is_empty() {
            output::note(&format!("{}: not used by 'torr {name}': {}", plan.name, passed_over.join(", ")));
        }
        // A flag of the command has the name that it has in a load.
        let named = |flag: Given| Given { id: flag.name.trim_start_matches("--").to_owned(), ..flag };
        let arguments = given(arguments.into_iter(), matches).iter().map(Given::word).collect();
        Ok(Some(Self { arguments, ..Self::merge(plan, beside.into_iter().map(named).collect()) }))
    }

    /// Returns the load of a command. What stands beside the plan and is no part of an exchange has been read by the command itself.
    pub fn load_of_command(&self) -> Load {
        let beside = self.beside.iter().filter(|given| given.is_exchanged());
        self.load_of(self.plan.entries.iter().map(|entry| &entry.given).chain(beside))
    }

    /// Returns the files that the plan names, with the plan's own.
    pub fn inputs(&self) -> Vec<InputFile> {
        let given: Vec<_> = self.plan.entries.iter().map(|entry| entry.given.clone()).collect();
        [("the plan".to_owned(), self.path())].into_iter().chain(reads::files(&given)).collect()
    }

    /// Leaves out what stands beside the plan otherwise, and what needs something that is left out.
    fn merge(mut plan: PlanFile, beside: Vec<Given>) -> Self {
        let name = plan.name.clone();
        let (targets, flags): (Vec<_>, Vec<_>) = beside.into_iter().partition(|given| given.name.is_empty());
        let work = work(&plan, &targets, &flags);
        let mut left_out: Vec<Entry> = Vec::new();
        plan.entries.retain(|entry| {
            let stands = flags.iter().find_map(|flag| yields(&entry.given, flag, work));
            match stands {
                Some(Yield::Silently) => false,
                Some(Yield::To(flag)) => {
                    output::note(&format!("{name}:{}: '{}' is replaced by {flag}", entry.at, entry.given.id));
                    left_out.push(entry.clone());
                    false
                }
                None => entry.given.id != TARGET || targets.is_empty(),
            }
        });
        let stays: Vec<_> =
            flags.iter().chain(plan.entries.iter().map(|entry| &entry.given)).map(|given| given.id.clone()).collect();
        plan.entries.retain(|entry| {
            let lost = left_out.iter().find(|gone| depends(&entry.given, &gone.given.id, &stays));
            if let Some(gone) = lost {
                let (key, other) = (&entry.given.id, &gone.given.id);
                output::note(&format!("{name}:{}: '{key}' is dropped together with '{other}'", entry.at));
            }
            lost.is_none()
        });
        Self { plan, beside: flags.into_iter().chain(targets).collect(), arguments: Vec::new() }
    }

    /// Returns the path of the plan.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(&self.plan.name)
    }

    /// Returns the load.
    pub fn load(&self) -> Load {
        self.load_without(None)
    }

    /// Returns the settings of the plan that hold, and what stands beside it.
    pub fn given(&self) -> impl Iterator<Item = &Given> {
        self.plan.entries.iter().map(|entry| &entry.given).chain(&self.beside)
    }

    fn load_without(&self, left_out: Option<usize>) -> Load {
        self.load_of(self.given().enumerate().filter(|(at, _)| Some(*at) != left_out).map(|(_, given)| given))
    }

    /// Returns the load of some of the settings.
    fn load_of<'g>(&self, given: impl Iterator<Item = &'g Given>) -> Load {
        let mut load = Load::of(given).expect("each setting has taken its value before");
        load.take_arguments();
        if !self.arguments.is_empty() {
            load.arguments.clone_from(&self.arguments);
        }
        load
    }

    /// Returns a mistake of the load with its position: that of the last value of the plan that has part in it.
    pub fn locate(&self, mistake: &Mistake) -> CliError {
        let is_part = |entry: &&Entry| mistake.settings.contains(&entry.given.id.as_str());
        self.at(self.plan.entries.iter().rev().find(is_part), &mistake.line)
    }

    /// Returns another mistake with its position: that of the value of the plan without which it would be none, or another one.
    /// `attempt` returns the mistake of a load.
    pub fn find(&self, mistake: &str, attempt: impl Fn(Load) -> Option<String>) -> CliError {
        // Standard input can be read once only.
        if self.given().any(|given| reads::file(given) == Some("-")) {
            return self.at(None, mistake);
        }
        let entries = || self.plan.entries.iter().enumerate();
        let left = |(at, entry)| (entry, attempt(self.load_without(Some(at))));
        let changed: Vec<(&Entry, _)> =
            entries().map(left).filter(|(_, left)| left.as_deref() != Some(mistake)).collect();
        // Of two that exclude each other the later one is the mistake.
        let cured = changed.iter().rev().find(|(_, left)| left.is_none());
        let other = || changed.iter().rev().find(|(entry, _)| entry.given.id != TARGET);
        self.at(cured.or_else(other).map(|(entry, _)| *entry), mistake)
    }

    fn at(&self, entry: Option<&Entry>, mistake: &str) -> CliError {
        let name = &self.plan.name;
        CliError::Usage(match entry {
            Some(Entry { given, at }) => format!("{name}:{at}: '{}': {mistake}", given.id),
            None => format!("{name}: {mistake}"),
        })
    }
}

fn is_plan(given: &Given) -> bool {
    given.value.as_deref().is_some_and(target::is_plan)
}

fn is_script(given: &Given) -> bool {
    given.id == "script"
}

/// Leaves out of a plan what a command does not use, and returns the names of that.
fn pass_over(plan: &mut PlanFile, command: &clap::Command) -> Vec<String> {
    let takes = |id: &str| id == TARGET || command.get_arguments().any(|arg| arg.get_long() == Some(id));
    let mut passed_over: Vec<_> = Vec::new();
    plan.entries.retain(|entry| {
        let Given { id, .. } = &entry.given;
        let stays = (entry.given.is_exchanged() || OF_TARGETS.contains(&id.as_str())) && takes(id);
        if !stays && !passed_over.contains(id) {
            passed_over.push(id.clone());
        }
        stays
    });
    passed_over
}

/// Leaves out of a plan the arguments of its script, and returns whether it had any. They stand behind the URL.
fn pass_over_arguments(plan: &mut PlanFile) -> bool {
    let before = plan.entries.len();
    let mut targets = 0;
    plan.entries.retain(|entry| {
        targets += usize::from(entry.given.id == TARGET);
        entry.given.id != TARGET || targets == 1
    });
    plan.entries.len() < before
}

/// Reads the plan of this name, unless it is a host that has such a name.
fn read(name: &str) -> Result<Option<PlanFile>, CliError> {
    match TargetKind::of(&[name.to_owned()])? {
        TargetKind::Plan(path) => PlanFile::read(&path).map(Some),
        _ => Ok(None),
    }
}

/// How a value of the plan gives way to a flag.
enum Yield {
    /// The flag gives the same setting.
    Silently,
    /// The flag excludes the setting.
    To(String),
}

fn yields(entry: &Given, flag: &Given, work: Work) -> Option<Yield> {
    let merge = |given: &Given| given.setting().map(|setting| setting.merge);
    let is_same = entry.id == flag.id;
    match merge(entry) {
        Some(Merge::Adds) => None,
        Some(Merge::Field) if is_same => {
            let field = |given: &Given| {
                let text = given.value.as_deref().unwrap_or_default();
                text.split(':').next().unwrap_or_default().trim().to_ascii_lowercase()
            };
            (field(entry) == field(flag)).then_some(Yield::Silently)
        }
        Some(Merge::Body) if merge(flag) == Some(Merge::Body) => Some(Yield::Silently),
        _ if is_same => Some(Yield::Silently),
        _ => exclude(entry, flag, work).then(|| Yield::To(flag.name.clone())),
    }
}

/// Returns whether two settings do not go together.
fn exclude(one: &Given, other: &Given, work: Work) -> bool {
    let excluded = |given: &[&Given]| Load::of(given.iter().copied()).is_ok_and(|load| load.excluded(work).is_some());
    excluded(&[one, other]) && !excluded(&[one]) && !excluded(&[other])
}

/// Returns whether a setting needs another one, and nothing of what stays stands in for it.
fn depends(entry: &Given, gone: &str, stays: &[String]) -> bool {
    let needs = entry.setting().map_or(&[][..], |setting| setting.needs);
    needs.iter().any(|names| names.contains(&gone) && !names.iter().any(|name| stays.iter().any(|id| id == name)))
}

/// Returns what makes the requests of a plan, or of the targets beside it.
fn work(plan: &PlanFile, targets: &[Given], flags: &[Given]) -> Work {
    let of_plan = || plan.entries.iter().map(|entry| &entry.given).filter(|given| given.id == TARGET);
    let targets: Vec<_> = if targets.is_empty() {
        of_plan().map(Given::word).collect()
    } else {
        targets.iter().map(Given::word).collect()
    };
    let mut all = plan.entries.iter().map(|entry| &entry.given).chain(flags);
    let has_script = all.any(is_script);
    // What stands behind the URL of a script are the script's arguments.
    let targets = if has_script { &targets[..targets.len().min(1)] } else { &targets[..] };
    TargetKind::of(targets).ok().and_then(|kind| kind.work(has_script)).unwrap_or(Work::Sessions)
}
