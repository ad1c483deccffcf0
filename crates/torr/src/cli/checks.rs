//! What is expected of each answer.

use clap::Args;

/// Checks, each of which is counted; the exit code is 1 if an answer fails one.
#[derive(Debug, Args)]
#[command(next_help_heading = "Checks")]
pub struct CheckArgs {
    /// Expect one of these status codes, such as 200, 2xx or 200-204,301
    #[arg(long, value_name = "CODES")]
    pub expect_status: Vec<String>,
    /// Expect a header to be there, 'Name', to be this, 'Name: value', or to match, 'Name: ~regex'
    #[arg(long, value_name = "HEADER")]
    pub expect_header: Vec<String>,
    /// Expect the body to contain a text, to match '~regex', or to be what '@FILE' holds. A compressed body is decoded
    #[arg(long, value_name = "TEXT")]
    pub expect_body: Vec<String>,
    /// Follow redirects that stay with the same scheme, host and port; what counts is the answer that they lead to
    #[arg(short = 'L', long, visible_alias = "location", conflicts_with = "pipeline")]
    pub follow: bool,
}
