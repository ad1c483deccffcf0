//! A service with chosen faults: a kind of server, what its handler does, and how its answers go out.

mod burn;
mod database;
mod http;
mod limiter;
mod listener;
mod loops;
mod pool;
mod server;
mod threads;
mod wire;
mod work;

use crate::error::Error;
use clap::Args;
use server::Server;
use std::net::SocketAddr;
use std::sync::Arc;

/// What the service is like.
#[derive(Args)]
pub struct Options {
    /// Where it listens
    #[arg(long)]
    listen: SocketAddr,
    /// The kind of server: loop, loops=N, pool=N, threads=N, threads
    #[arg(long, default_value = "loops=2", value_parser = Server::parse)]
    server: Server,
    /// What the handler does; see `work.rs`
    #[arg(long, default_value = "none")]
    work: String,
    /// The only path on which the handler does that
    #[arg(long)]
    path: Option<String>,
    /// How answers go out; see `wire.rs`
    #[arg(long, default_value = "keep", value_parser = wire::Wire::parse)]
    wire: wire::Wire,
    /// A PostgreSQL to ask
    #[arg(long)]
    database: Option<String>,
    /// Connections to it
    #[arg(long, default_value_t = 4)]
    database_pool: usize,
    /// How many connections may wait to be accepted
    #[arg(long, default_value_t = 4096)]
    backlog: i32,
    /// How long to wait between two that are accepted
    #[arg(long, value_parser = humantime::parse_duration)]
    accept_every: Option<std::time::Duration>,
}

/// Serves until it is killed.
///
/// # Errors
/// If it cannot listen, or its words contradict each other.
pub fn run(options: Options) -> Result<(), Error> {
    let work = work::Work::parse(&options.work, options.path.clone(), || database::Pool::new(&options))?;
    let door = listener::Door::open(options.listen, options.backlog, options.accept_every, options.wire.nagle())?;
    let wire = Arc::new(options.wire);
    match options.server {
        Server::Threads(most) => threads::serve(&door, most, work, &wire),
        Server::Loops(threads) => loops::serve(door, threads, None, work, &wire),
        Server::Pool(workers) => loops::serve(door, 1, Some(workers), work, &wire),
    }
}
