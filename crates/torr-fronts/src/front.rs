//! The programs whose command lines Torr accepts, by their names.

use crate::error::FrontError;
use crate::host::Host;
use crate::wrk::Program;
use crate::{ab, httpress, k6_command, press, wrk};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

/// A program whose command line Torr accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Front {
    /// ApacheBench.
    Ab,
    /// wrk, which takes the flags of wrk2 as well.
    Wrk,
    /// wrk2, which needs `-R`.
    Wrk2,
    /// httpress.
    Httpress,
    /// `drogon_ctl press`.
    Press,
    /// `drogon_ctl`, of which `press` is one command.
    DrogonCtl,
    /// k6, of which `run`, `inspect` and `version` are commands.
    K6,
}

impl Front {
    /// The names of programs by which Torr is called through a link. `press` is a command of `drogon_ctl`, and no program.
    pub const LINKS: [&str; 6] = ["ab", "wrk", "wrk2", "httpress", "drogon_ctl", "k6"];

    /// Returns the program by whose name Torr was called, through a link.
    pub fn called_as(program: &OsStr) -> Option<Self> {
        match Path::new(program).file_name()?.to_str()? {
            "ab" => Some(Self::Ab),
            "wrk" => Some(Self::Wrk),
            "wrk2" => Some(Self::Wrk2),
            "httpress" => Some(Self::Httpress),
            "press" => Some(Self::Press),
            "drogon_ctl" => Some(Self::DrogonCtl),
            "k6" => Some(Self::K6),
            _ => None,
        }
    }

    /// Returns whether a command of `torr` is one of these.
    pub fn is_called(command: &str) -> bool {
        Self::called_as(OsStr::new(command)).is_some()
    }

    /// Runs the program's command line.
    ///
    /// # Errors
    /// [`FrontError`], where the program has no output of its own for a mistake.
    pub fn run<H: Host>(self, mut args: Vec<OsString>, host: &mut H) -> Result<ExitCode, FrontError> {
        match self {
            Self::Ab => ab::run(args, host),
            Self::Wrk => wrk::run(args, Program::Wrk, host),
            Self::Wrk2 => wrk::run(args, Program::Wrk2, host),
            Self::Httpress => httpress::run(args, host),
            Self::Press => press::run(args, host),
            Self::DrogonCtl if args.first().is_some_and(|command| command == "press") => {
                press::run(args.split_off(1), host)
            }
            Self::K6 => k6_command::run(args, host),
            Self::DrogonCtl => Err(FrontError::Usage("only 'drogon_ctl press' of drogon_ctl is supported".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_known_by_their_file_name() {
        assert!(Front::LINKS.iter().all(|name| Front::called_as(OsStr::new(name)).is_some()));
        let called_as = |path: &str| Front::called_as(OsStr::new(path));
        assert_eq!(called_as("/usr/local/bin/ab"), Some(Front::Ab));
        assert_eq!(called_as("wrk"), Some(Front::Wrk));
        assert_eq!(called_as("/opt/wrk2"), Some(Front::Wrk2));
        assert_eq!(called_as("./drogon_ctl"), Some(Front::DrogonCtl));
        assert_eq!(called_as("/usr/bin/k6"), Some(Front::K6));
        assert_eq!([called_as("torr"), called_as("/ab/torr"), called_as("abc"), called_as("")], [None; 4]);
    }
}
