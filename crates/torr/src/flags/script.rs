//! The flags of scripts.

use clap::Args;
use std::path::PathBuf;

/// A script, which says what is sent to a URL.
#[derive(Debug, Args)]
#[command(next_help_heading = "Request")]
pub struct ScriptArgs {
    /// A Lua script of wrk, or one with a function session(user), that says what is sent; its arguments follow the URL and '--'
    #[arg(long, value_name = "FILE", conflicts_with = "urls")]
    pub script: Option<PathBuf>,
}
