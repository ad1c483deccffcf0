//! The flags of sessions, and which flags have a meaning for sessions and for URLs.

use super::given::GivenFlag;
use super::variables::VariableArgs;
use crate::exit::CliError;
use clap::Args;
use std::path::PathBuf;

/// What only sessions have. `--think`, `--feeder` and the flags of the load stand with those of a URL.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sessions")]
pub struct SessionFlags {
    #[command(flatten)]
    pub variables: VariableArgs,
    /// Run this hurl file once before the load; its captures are variables of every session
    #[arg(long, value_name = "FILE")]
    pub setup: Option<PathBuf>,
    /// Run this hurl file once after the load
    #[arg(long, value_name = "FILE")]
    pub teardown: Option<PathBuf>,
}

/// Flags that a URL has no use for.
const ONLY_SESSIONS: &[&str] = &["variables", "variables_file", "secrets", "setup", "teardown"];

/// Where a hurl file says what a flag says of a URL.
const ENTRY: &str = "a hurl file has its own requests";
const HEADER: &str = "a header line below the request says it in the file";
const ASSERTS: &str = "'HTTP 200' and [Asserts] say it in the file";

/// Flags that sessions have no use for, each with what to do instead.
const ONLY_URLS: &[(&str, &str)] = &[
    ("headers", HEADER),
    ("method", ENTRY),
    ("data", ENTRY),
    ("data_raw", ENTRY),
    ("data_binary", ENTRY),
    ("data_urlencode", ENTRY),
    ("json_body", ENTRY),
    ("form", ENTRY),
    ("get", ENTRY),
    ("head", ENTRY),
    ("url_query", "[Query] says it in the file"),
    ("user", "[BasicAuth] says it in the file"),
    ("oauth2_bearer", HEADER),
    ("cookies", "[Cookies] says it in the file"),
    ("user_agent", HEADER),
    ("referer", HEADER),
    ("compressed", "'compressed: true' in [Options] says it in the file"),
    ("urls", "several hurl files are several targets, as in a.hurl=7 b.hurl=1"),
    ("order", "several hurl files are several targets, as in a.hurl=7 b.hurl=1"),
    ("no_template", "a hurl file has variables, not placeholders"),
    ("script", "a script goes with a URL"),
    ("pipeline", "a virtual user has one request in flight"),
    ("streams", "a virtual user has one request in flight"),
    ("expect_status", ASSERTS),
    ("expect_header", ASSERTS),
    ("expect_body", ASSERTS),
    ("follow", "'location: true' in [Options] says it in the file"),
];

/// Finds a flag without a meaning for sessions among those of a command line.
///
/// # Errors
/// With the first such flag and what to do instead.
pub fn check_sessions(given: &[GivenFlag]) -> Result<(), CliError> {
    for flag in given {
        if let Some((_, hint)) = ONLY_URLS.iter().find(|(id, _)| *id == flag.id) {
            return Err(CliError::Usage(format!("{} has no meaning for sessions ({hint})", flag.name)));
        }
    }
    Ok(())
}

/// Finds a flag without a meaning for scripts among those of a command line.
///
/// # Errors
/// With the first such flag.
pub fn check_script(given: &[GivenFlag]) -> Result<(), CliError> {
    match given.iter().find(|flag| ["setup", "teardown"].contains(&flag.id.as_str())) {
        Some(flag) => Err(CliError::Usage(format!("{} has no meaning for scripts (it is for hurl files)", flag.name))),
        None => Ok(()),
    }
}

/// Finds a flag without a meaning for a URL among those of a command line.
///
/// # Errors
/// With the first such flag.
pub fn check_url(given: &[GivenFlag]) -> Result<(), CliError> {
    for flag in given {
        if ONLY_SESSIONS.contains(&flag.id.as_str()) {
            let hint = "it is for hurl files, as in 'torr checkout.hurl'; a URL has placeholders and --feeder";
            return Err(CliError::Usage(format!("{} has no meaning for a URL ({hint})", flag.name)));
        }
    }
    Ok(())
}
