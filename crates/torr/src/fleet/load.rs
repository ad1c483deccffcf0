//! The load of a fleet, read from words of a command line.

use super::inline::inlined;
use super::words::travelling;
use crate::exit::CliError;
use crate::flags::given::GivenFlag;
use crate::flags::session::check_url;
use crate::press::{self, PressArgs};
use crate::target::TargetKind;
use torr_press::Plan;

/// Where words come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordSource {
    /// From this program's command line.
    User,
    /// From a coordinator's message.
    Message,
}

/// Reads words.
pub type Reader = fn(&[String], WordSource) -> Result<FleetLoad, CliError>;

/// The load of a fleet.
pub struct FleetLoad {
    pub args: PressArgs,
    pub plan: Plan,
    /// The words that agents read.
    pub words: Vec<String>,
}

impl FleetLoad {
    /// Returns the load of a command line. Nothing is read from a file for words of a message.
    ///
    /// # Errors
    /// If it is no load of a URL, or one that several machines cannot carry out.
    pub fn of(args: PressArgs, given: &[GivenFlag], source: WordSource) -> Result<Self, CliError> {
        let url = match &args.targets[..] {
            [url] if url.contains("://") => url.clone(),
            _ if source == WordSource::Message => return Err(no_url()),
            targets => match TargetKind::of(targets)? {
                TargetKind::Url(Some(url)) => format!("http://{url}"),
                _ => return Err(no_url()),
            },
        };
        check_url(given)?;
        let words = match source {
            WordSource::User => travelling(&given.iter().map(inlined).collect::<Result<Vec<_>, _>>()?, &url)?,
            WordSource::Message => travelling(given, &url)?,
        };
        let plan = press::plan(&args, Some(&url))?;
        Ok(Self { args, plan, words })
    }
}

fn no_url() -> CliError {
    CliError::Usage("a fleet loads one URL: hurl files, scripts and lists of URLs do not go with it yet".into())
}
