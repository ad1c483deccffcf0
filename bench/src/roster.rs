//! The roster of a run: which candidates are wanted and here, and where their programs are.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{env, fs};

use crate::candidates::loads::LOADS;
use crate::candidates::servers::SERVICES;
use crate::candidates::{FLOOR, TOOLS, TORR, Tool};
use crate::cli::Options;
use crate::error::Error;
use crate::scenario::{Scenario, Side};
use crate::{press, serve, torr_binary};

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
        let known = || std::iter::once(FLOOR).chain(TOOLS.iter().map(|tool| tool.name));
        if let Some(unknown) = options.only.iter().find(|name| !known().any(|k| k == *name)) {
            let known = known().collect::<Vec<_>>().join(", ");
            return Err(Error::Usage(format!("`{unknown}` in --only is none of {known}")));
        }
        let wanted = (!options.only.is_empty()).then(|| options.only.clone());
        let mut roster =
            Roster { programs: BTreeMap::new(), wanted, torr_is_ours: options.torr.is_none(), left_out: Vec::new() };
        roster.programs.insert(FLOOR, env::current_exe()?.to_string_lossy().into_owned());

        let mut missing = Vec::new();
        for tool in &TOOLS {
            let is_instrument = |scenario: &Scenario| instrument(*scenario) == tool.name;
            let takes_part = |scenario: &Scenario| match scenario.side {
                Side::Serve => SERVICES.iter().any(|s| s.name == tool.name && serve::takes_part(s, *scenario)),
                Side::Press | Side::Transport => {
                    LOADS.iter().any(|load| load.tool == tool.name && press::takes_part(load, *scenario))
                }
            };
            if !(scenarios.iter().any(is_instrument) || scenarios.iter().any(takes_part) && roster.wants(tool.name)) {
                continue;
            }
            let program = match (tool.name, &options.torr) {
                (TORR, Some(given)) => Some(
                    fs::canonicalize(given).map_err(|e| Error::Usage(format!("--torr {}: {e}", given.display())))?,
                ),
                (TORR, None) => Some(PathBuf::new()), // built below, once all else is known to be here
                _ => on_path(tool.name),
            };
            match (program, tool.package) {
                (Some(program), _) => {
                    roster.programs.insert(tool.name, program.to_string_lossy().into_owned());
                }
                (None, Some(package)) => missing.push((tool.name, package)),
                (None, None) if roster.wanted.is_some() => {
                    return Err(Error::failed(format!("{} is not on the PATH", tool.name)));
                }
                (None, None) => {
                    eprintln!("{} is not on the PATH: left out", tool.name);
                    roster.left_out.push(tool.name);
                }
            }
        }
        if !missing.is_empty() {
            let (names, packages): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
            let (names, packages) = (names.join(", "), packages.join(" "));
            return Err(Error::failed(format!("not on the PATH: {names}; apt-get install {packages}")));
        }
        if roster.torr_is_ours && roster.programs.contains_key(TORR) {
            roster.programs.insert(TORR, torr_binary::build()?.to_string_lossy().into_owned());
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
}

/// The tool that is on the other side of those that are measured.
fn instrument(scenario: Scenario) -> &'static str {
    match scenario.side {
        Side::Serve => serve::load(scenario),
        Side::Press | Side::Transport => scenario.host(),
    }
}

/// A program on the PATH; Debian keeps nginx in a folder that only root's PATH has.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain([PathBuf::from("/usr/sbin")])
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}
