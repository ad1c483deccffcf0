//! Measures the cost of each access method on each database, and of a cache:
//! `cargo run --release -p torr-data --example query_cost -- --private`
//!
//! Access methods take turns in short rounds, so that a change of the machine's speed affects all of them; the median round
//! is shown. CPU time is that of this process: with SQLite it includes the database, otherwise only the client. `--pin`
//! keeps this process on the first core and the private servers on the last, for comparable figures.

mod args;
mod cached;
mod databases;
mod rounds;

use args::{Args, USAGE};
use rustix::thread::{CpuSet, sched_setaffinity};
use torr_test_support::databases::{Make, Server};

fn main() {
    let args = Args::read(std::env::args().skip(1)).unwrap_or_else(|wrong| {
        eprintln!("cost: {wrong}\n{USAGE}");
        std::process::exit(2);
    });
    println!(
        "{:<12}{:<10}{:<9}{:>12}{:>10}{:>12}{:>12}",
        "where", "operation", "access", "per second", "CPU us", "rate/raw", "raw CPU/its"
    );
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // A child process inherits the affinity that its parent has at that moment.
    pin(&args, cores - 1);
    let (mut servers, mut urls) = (Vec::new(), Vec::new());
    if args.private {
        servers.extend([Make::MariaDb, Make::Postgres].map(Server::start));
        let redis = Server::start(Make::Redis);
        urls.push("sqlite::memory:".to_owned());
        urls.extend(servers.iter().map(Server::new_database));
        urls.extend(["memory".to_owned(), redis.url(redis.any_database())]);
        servers.push(redis);
    }
    pin(&args, 0);
    for url in urls.iter().chain(&args.urls) {
        let is_cache = url == "memory" || url.starts_with("redis");
        let measured = if is_cache { cached::measure(&args, url) } else { databases::measure(&args, url) };
        if let Err(error) = measured {
            eprintln!("cost: {error}");
            drop(servers);
            std::process::exit(3);
        }
    }
}

fn pin(args: &Args, core: usize) {
    if args.pin {
        let mut cores = CpuSet::new();
        cores.set(core);
        sched_setaffinity(None, &cores).expect("the core is there");
    }
}
