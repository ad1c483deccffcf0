//! The roster of a run: which candidates are wanted and here, and where their programs are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::built::on_path;
use crate::candidates::loads::LOADS;
use crate::candidates::servers::SERVICES;
use crate::candidates::{FLOOR, Origin, TOOLS, TORR, Tool, instruments};
use crate::options::Options;
use crate::scenario::{Scenario, Side};
use torr_test_support::error::Error;

/// The candidates of this run: those that are wanted, and are here.
pub struct Roster {
    programs: BTreeMap<&'static str, String>,
    wanted: Option<Vec<String>>,
    /// The `torr` measured is this tree's own build.
    pub torr_is_ours: bool,
    /// Tools that are not here, and need not be.
    pub left_out: Vec<&'static str>,
}

impl Roster {
    /// Finds all programs needed for these scenarios, and builds `torr` if it is needed.
    pub fn choose(options: &Options, scenarios: &[Scenario]) -> Result<Self, Error> {
        let is_instrument =
            |tool: &str| scenarios.iter().any(|scenario| instruments::needed(*scenario).contains(&tool));
        let takes_part = |tool: &str| {
            scenarios.iter().any(|&scenario| match scenario.side {
                Side::Serve => SERVICES.iter().any(|s| s.tool == tool && s.takes_part(scenario)),
                Side::Press | Side::Transport => {
                    LOADS.iter().any(|load| load.tool == tool && load.takes_part(scenario))
                }
            })
        };
        Self::find(&options.only, options.run.torr.as_deref(), is_instrument, takes_part)
    }

    /// Finds or builds the programs that are instruments, and those that take part and are wanted.
    ///
    /// `only` names the candidates that are wanted, all if it names none; `torr` is measured instead of this tree's.
    pub fn find(
        only: &[String],
        torr: Option<&Path>,
        is_instrument: impl Fn(&str) -> bool,
        takes_part: impl Fn(&str) -> bool,
    ) -> Result<Self, Error> {
        let known = || std::iter::once(FLOOR).chain(TOOLS.iter().map(|tool| tool.name));
        if let Some(unknown) = only.iter().find(|name| !known().any(|k| k == *name)) {
            let known = known().collect::<Vec<_>>().join(", ");
            return Err(Error::Usage(format!("`{unknown}` in --only is none of {known}")));
        }
        let wanted = (!only.is_empty()).then(|| only.to_vec());
        let mut roster =
            Roster { programs: BTreeMap::new(), wanted, torr_is_ours: torr.is_none(), left_out: Vec::new() };
        roster.programs.insert(FLOOR, env::current_exe()?.to_string_lossy().into_owned());

        let (mut missing, mut to_build) = (Vec::new(), Vec::new());
        for tool in &TOOLS {
            if !(is_instrument(tool.name) || takes_part(tool.name) && roster.wants(tool.name)) {
                continue;
            }
            let mut found = |program: PathBuf| {
                roster.programs.insert(tool.name, program.to_string_lossy().into_owned());
            };
            match (tool.origin, torr) {
                (Origin::Built(_), Some(given)) if tool.name == TORR => found(given_torr(given)?),
                (Origin::Built(build), _) => to_build.push((tool.name, build)), // once all else is known to be here
                (Origin::Package(package), _) => match on_path(tool.name) {
                    Some(program) => found(program),
                    None => missing.push((tool.name, package)),
                },
                (Origin::Path, _) => match on_path(tool.name) {
                    Some(program) => found(program),
                    None if roster.wanted.is_some() => {
                        return Err(Error::failed(format!("{} is not on the PATH", tool.name)));
                    }
                    None => {
                        eprintln!("{} is not on the PATH: left out", tool.name);
                        roster.left_out.push(tool.name);
                    }
                },
            }
        }
        if !missing.is_empty() {
            let (names, packages): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
            let (names, packages) = (names.join(", "), packages.join(" "));
            return Err(Error::failed(format!("not on the PATH: {names}; apt-get install {packages}")));
        }
        for (name, build) in to_build {
            roster.programs.insert(name, build.run()?.to_string_lossy().into_owned());
        }
        Ok(roster)
    }

    /// Takes part in the comparison; the floor always does.
    pub fn wants(&self, name: &str) -> bool {
        name == FLOOR || self.wanted.as_ref().is_none_or(|wanted| wanted.iter().any(|w| w == name))
    }

    /// Is to be compared, and is here.
    pub fn has(&self, name: &str) -> bool {
        self.wants(name) && self.programs.contains_key(name)
    }

    /// The program of a tool that is here.
    pub fn program(&self, name: &str) -> &str {
        &self.programs[name]
    }

    /// All tools that are here, with their programs.
    pub fn tools(&self) -> impl Iterator<Item = (&'static Tool, &str)> {
        TOOLS.iter().filter_map(|tool| Some((tool, self.programs.get(tool.name)?.as_str())))
    }

    /// `torr` alone, built or given.
    pub fn torr(given: Option<&Path>) -> Result<Self, Error> {
        let program = match (given, TOOLS.iter().find(|tool| tool.name == TORR).map(|tool| tool.origin)) {
            (Some(given), _) => given_torr(given)?,
            (None, Some(Origin::Built(build))) => build.run()?,
            (None, _) => return Err(Error::failed("torr is not among the tools")),
        };
        let programs = BTreeMap::from([(TORR, program.to_string_lossy().into_owned())]);
        Ok(Roster { programs, wanted: None, torr_is_ours: given.is_none(), left_out: Vec::new() })
    }
}

/// The program that `--torr` names.
pub fn given_torr(path: &Path) -> Result<PathBuf, Error> {
    fs::canonicalize(path).map_err(|e| Error::Usage(format!("--torr {}: {e}", path.display())))
}
