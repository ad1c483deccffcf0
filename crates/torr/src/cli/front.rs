//! `torr ab` and its like on the command line: their arguments are their own affair.

use clap::Args;
use std::ffi::OsString;

/// Arguments that are passed on as they stand.
#[derive(Debug, Args)]
pub struct FrontArgs {
    /// As that program takes them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub args: Vec<OsString>,
}
