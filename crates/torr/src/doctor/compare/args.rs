//! The flags of `torr doctor` for comparisons.

use clap::{ArgGroup, Args, ValueEnum};
use torr_load::values::threads;

/// clap takes '{n}' for the end of a line, unless a style that changes nothing stands in it.
const COMMAND: &str = "Start the server of --sweep with this command, which must stay in the foreground; no shell reads it. '{\u{1b}[0mn}' \
                       becomes the number of workers, '{port}' a free port, also in URL [default URL: http://127.0.0.1:{port}/]";

/// One comparison at a time.
#[derive(Debug, Args)]
#[command(next_help_heading = "Comparisons, instead of a diagnosis")]
#[command(group(ArgGroup::new("comparison").args(["sweep", "via", "tls", "paths"])))]
pub struct CompareArgs {
    /// Compare numbers of workers, and recommend one
    #[arg(long, value_enum, value_name = "WHAT", requires = "command", conflicts_with = "watch")]
    pub sweep: Option<Swept>,
    #[arg(long, value_name = "COMMAND", requires = "sweep", help = COMMAND)]
    pub command: Option<String>,
    /// Try these numbers of workers [default: 1, and 1 to 8 times the CPUs]
    #[arg(long, value_name = "N,N", requires = "sweep", value_delimiter = ',', value_parser = threads)]
    pub counts: Vec<usize>,
    /// Measure what this proxy in front of URL costs; without a path, the path of URL is used
    #[arg(long, value_name = "PROXY_URL")]
    pub via: Option<String>,
    /// Measure what TLS and its handshakes cost, at this URL of the service over TLS; needs no value if URL is https
    #[arg(long, num_args = 0..=1, value_name = "HTTPS_URL")]
    #[expect(clippy::option_option, reason = "absent, present, and present with a value are three things")]
    pub tls: Option<Option<String>>,
    /// Compare with this URL of the service without TLS, if URL is https
    #[arg(long, value_name = "HTTP_URL", requires = "tls")]
    pub plain: Option<String>,
    /// Compare these paths of the server with the first of them
    #[arg(long, value_name = "PATH,PATH", value_delimiter = ',')]
    pub paths: Vec<String>,
}

/// The varied setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Swept {
    Workers,
}

impl CompareArgs {
    /// Returns whether a comparison is requested.
    pub fn is_requested(&self) -> bool {
        self.sweep.is_some() || self.via.is_some() || self.tls.is_some() || !self.paths.is_empty()
    }
}
