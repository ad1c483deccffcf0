//! A service with chosen faults: a kind of server, what its handler does, and how responses are sent.

mod burn;
mod database;
mod event_loop;
mod handler;
mod http;
mod limiter;
mod listener;
mod permits;
mod response;
mod route;
mod server;
mod threads;
mod worker_pool;

use clap::{Args, Parser};
use database::Pool;
use route::Route;
use server::Server;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use torr_test_support::error::Error;

/// The file of the service's options.
#[derive(Args)]
pub struct OptionsFile {
    /// The options, one in a line. The file is removed: a command line would show the fault to those who are to find it
    file: PathBuf,
}

/// The options of the service.
#[derive(Parser)]
#[command(no_binary_name = true)]
pub struct Options {
    /// The address to listen on
    #[arg(long)]
    listen: SocketAddr,
    /// The kind of server: loop, loops=N, pool=N, threads=N, threads
    #[arg(long, default_value = "loops=2", value_parser = Server::parse)]
    server: Server,
    /// What the handler does; see `route.rs`
    #[arg(long, default_value = "none")]
    handler: String,
    /// The only path on which the handler does that
    #[arg(long)]
    path: Option<String>,
    /// How responses are sent; see `response.rs`
    #[arg(long, default_value = "keep", value_parser = response::ResponseMode::parse)]
    response: response::ResponseMode,
    /// The URL of a PostgreSQL that the handler queries
    #[arg(long)]
    database: Option<String>,
    /// The connections to that database
    #[arg(long, default_value_t = 4)]
    database_pool: usize,
    /// The requests that may wait for the workers of a pool; more fail with 500
    #[arg(long)]
    queue: Option<usize>,
    /// The connections that may wait in the accept queue
    #[arg(long, default_value_t = 4096)]
    backlog: i32,
    /// The time to wait after each accepted connection
    #[arg(long, value_parser = humantime::parse_duration)]
    accept_every: Option<std::time::Duration>,
}

/// Reads the options, and removes their file.
///
/// # Errors
/// If the file cannot be read, or has an unknown option.
pub fn read(file: &OptionsFile) -> Result<Options, Error> {
    let text = fs::read_to_string(&file.file).map_err(Error::at(file.file.display()))?;
    fs::remove_file(&file.file)?;
    Options::try_parse_from(text.lines()).map_err(|error| Error::Usage(error.to_string()))
}

/// Serves until it is killed.
///
/// # Errors
/// If the service cannot listen, or its options contradict each other.
pub fn run(options: Options) -> Result<(), Error> {
    let database = || {
        let url = options.database.clone().ok_or_else(|| Error::Usage("this handler needs a --database".into()))?;
        Ok(Pool::new(url, options.database_pool))
    };
    let route = Route::parse(&options.handler, options.path.clone(), database)?;
    let listener =
        listener::Listener::open(options.listen, options.backlog, options.accept_every, options.response.nagle())?;
    let mode = Arc::new(options.response);
    match options.server {
        Server::Threads(most) => threads::serve(&listener, most, route, &mode),
        Server::Loops(threads) => event_loop::serve(listener, threads, None, route, &mode),
        Server::Pool(workers) => event_loop::serve(listener, 1, Some((workers, options.queue)), route, &mode),
    }
}
