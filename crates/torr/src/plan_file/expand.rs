//! A command line with a plan in it, as one command line without.

use super::read::{Entry, PlanFile};
use super::settings::{Settings, TARGETS};
use crate::exit::Stop;
use crate::flags::given::{GivenFlag, given};
use crate::output;
use crate::target::{self, TargetKind};
use clap::ArgMatches;
use std::ffi::OsString;

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
}

impl Expanded {
    /// Reads the plan of a command line. Returns none if there is no plan in it. The program's name comes first.
    ///
    /// # Errors
    /// If the plan has a mistake. A mistake of the command line alone is none here: it stays without its plan's settings.
    pub fn of(args: &[OsString]) -> Result<Option<Self>, Stop> {
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
                _ => Err(Stop::Usage(format!("'{}' and '{}' are two plans: give one", plans[0], plans[1]))),
            };
        };
        let TargetKind::Plan(path) = TargetKind::of(std::slice::from_ref(plan))? else { return Ok(None) };
        let plan = PlanFile::read(&path, &settings)?;
        if args.iter().any(|word| word.to_str().is_none()) {
            return Err(Stop::Usage(format!("beside the plan '{}' all words must be UTF-8 text", plan.name)));
        }
        Ok(Some(Self::merge(plan, others, &matches, &settings)))
    }

    /// Leaves out what the command line says otherwise.
    fn merge(mut plan: PlanFile, targets: Vec<String>, matches: &ArgMatches, settings: &Settings) -> Self {
        let flags = given(settings.relaxed().get_arguments(), matches);
        let name = plan.name.clone();
        plan.entries.retain(|entry| {
            let stands = flags.iter().find_map(|flag| yields(entry, flag, settings));
            match stands {
                Some(Yield::Silently) => false,
                Some(Yield::To(flag)) => {
                    output::note(&format!("{name}:{}: '{}' gives way to {flag}", entry.at, entry.key));
                    false
                }
                None => entry.id != TARGETS || targets.is_empty(),
            }
        });
        let beside = flags.iter().map(GivenFlag::word).chain(targets).collect();
        Self { plan, beside }
    }

    /// Returns the words of the whole command line, the program's name first.
    pub fn words(&self) -> Vec<OsString> {
        self.words_without(None)
    }

    fn words_without(&self, left_out: Option<usize>) -> Vec<OsString> {
        let entries = self.plan.entries.iter().enumerate().filter(|(at, _)| Some(*at) != left_out);
        let words = entries.map(|(_, entry)| &entry.word).chain(&self.beside);
        ["torr".into()].into_iter().chain(words.map(OsString::from)).collect()
    }

    /// Returns a mistake with its position: that of the value of the plan without which it would be none, or another one.
    /// `attempt` returns the mistake of a command line.
    pub fn locate(&self, mistake: &str, attempt: impl Fn(Vec<OsString>) -> Option<String>) -> Stop {
        let name = &self.plan.name;
        // Standard input can be read once only.
        let reads_input = |word: &String| ["@-", "<-", "--urls=-"].iter().any(|end| word.ends_with(end));
        if self.plan.entries.iter().map(|entry| &entry.word).chain(&self.beside).any(reads_input) {
            return Stop::Usage(format!("{name}: {mistake}"));
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
        Stop::Usage(match cured.or_else(other) {
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

fn yields(entry: &Entry, flag: &GivenFlag, settings: &Settings) -> Option<Yield> {
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
    settings.exclude(&entry.id, &flag.id).then(|| Yield::To(flag.name.clone()))
}
