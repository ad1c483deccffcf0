//! The flags of `torr doctor` for comparisons.

use clap::{ArgGroup, Args, ValueEnum};
use torr_load::values::threads;

/// clap takes '{n}' for the end of a line, unless a style that changes nothing stands in it.
const COMMAND: &str = "The command that starts it, without a shell, and stays in the foreground; '{\u{1b}[0mn}' stands for the \
                       number of workers, '{port}' for a free port, in URL too [default URL: http://127.0.0.1:{port}/]";

/// One comparison at a time.
#[derive(Debug, Args)]
#[command(next_help_heading = "Comparisons, instead of a diagnosis")]
#[command(group(ArgGroup::new("comparison").args(["sweep", "via", "tls", "paths"])))]
pub struct CompareArgs {
    /// Start a server with ever more workers, and recommend a number
    #[arg(long, value_enum, value_name = "WHAT", requires = "command", conflicts_with = "watch")]
    pub sweep: Option<Swept>,
    #[arg(long, value_name = "COMMAND", requires = "sweep", help = COMMAND)]
    pub command: Option<String>,
    /// The numbers of workers to try [default: 1, and 1 to 8 times the CPUs]
    #[arg(long, value_name = "N,N", requires = "sweep", value_delimiter = ',', value_parser = threads)]
    pub counts: Vec<usize>,
    /// URL is the service itself, and this a proxy before it: what the proxy costs. Without a path that of URL is used
    #[arg(long, value_name = "PROXY_URL")]
    pub via: Option<String>,
    /// The URL of the service over TLS: what TLS and its handshakes cost. Where URL itself is https it needs no value
    #[arg(long, num_args = 0..=1, value_name = "HTTPS_URL")]
    #[expect(clippy::option_option, reason = "absent, present, and present with a value are three things")]
    pub tls: Option<Option<String>>,
    /// The URL of the service without TLS, where URL is https
    #[arg(long, value_name = "HTTP_URL", requires = "tls")]
    pub plain: Option<String>,
    /// Paths of the same server, to be compared with the first of them
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
