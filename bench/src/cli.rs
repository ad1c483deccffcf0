//! The command line: the commands, each with the options of its module, and the one-line error of a bad one.

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use crate::computing::ComputingOptions;
use crate::data::options::DataOptions;
use crate::files::FileOptions;
use crate::fleet::FleetOptions;
use crate::floor::client::FloorClient;
use crate::floor::server::FloorServer;
use crate::http3::Http3Options;
use crate::launch::Launch;
use crate::options::Options;
use crate::power::PowerOptions;
use crate::power::planted::Planted;
use crate::profile::options::WhereOptions;
use crate::reload::ReloadOptions;
use crate::sessions::SessionOptions;
use crate::soak::SoakOptions;
use crate::streams::StreamOptions;
use crate::users::UserOptions;
use torr_test_support::error::Error;

#[derive(Parser)]
#[command(name = "torr-bench", about = "What Torr costs per request, against the kernel's floor and its peers")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What is to be done.
#[derive(Subcommand)]
pub enum Command {
    /// Measure all of the below, and archive the run
    All(Options),
    /// Measure the load generators only
    Press(Options),
    /// Measure the servers only
    Serve(Options),
    /// Measure the load generators with TLS, HTTP/2, pipelining and an open loop only
    Transport(Options),
    /// Measure what each way to a database costs through HTTP
    Data(DataOptions),
    /// Sample where each way to a database spends its time, and plot it
    Where(WhereOptions),
    /// Reload a server under full load, over and over, and count the requests that fail
    Reload(ReloadOptions),
    /// Measure what sessions and scripts cost beside a bare GET, and beside wrk
    Sessions(SessionOptions),
    /// Measure the memory that virtual users take
    Users(UserOptions),
    /// Measure what events, messages of a WebSocket and calls of gRPC cost, and the memory of a stream
    Streams(StreamOptions),
    /// Measure what HTTP/3 costs the load and the server, and the memory of a connection
    Http3(Http3Options),
    /// Measure what a handler that computes does to other requests, beside `axum::serve`
    Computing(ComputingOptions),
    /// Measure what static files cost, beside nginx
    Files(FileOptions),
    /// Measure how a fleet keeps its rate, begins together, and what a thousand agents cost its coordinator
    Fleet(FleetOptions),
    /// Load servers for hours while they are reloaded and disturbed, and look whether memory or descriptors grow
    Soak(SoakOptions),
    /// Plant differences in a service, and count how often `torr compare` shows them
    Power(PowerOptions),
    /// The floor of HTTP service: responds to every blank line with a fixed page
    #[command(hide = true)]
    FloorServer(FloorServer),
    /// The floor of HTTP load: a closed loop that reads and sends
    #[command(hide = true)]
    FloorClient(FloorClient),
    /// A service with a planted difference
    #[command(hide = true)]
    Planted(Planted),
    /// Become another program, pinned to one CPU and ending with the driver
    #[command(hide = true)]
    Launch(Launch),
}

/// Reads the command line. Help goes to stdout and ends the process; an error is one line.
pub fn parse() -> Result<Command, Error> {
    Cli::try_parse().map(|cli| cli.command).map_err(|e| match e.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => e.exit(),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => Error::Usage(
            "say what to measure: all, press, serve, transport, data, where, reload, sessions, users, streams, http3, computing, files, fleet, soak or power (see \
             --help)"
                .into(),
        ),
        _ => Error::Usage(format!("{} (see --help)", one_line(&e.to_string()))),
    })
}

/// What clap has to say, without its usage lines, on one line.
fn one_line(text: &str) -> String {
    let what = text.split("\n\n").next().unwrap_or_default();
    what.trim_start_matches("error: ").split_whitespace().collect::<Vec<_>>().join(" ")
}
