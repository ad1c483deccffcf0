//! What each access costs on each database, and a cache: `cargo run --release -p torr-data --example cost -- --private`
//!
//! Ways take turns in short rounds, so that what changes on the machine meanwhile hits all of them; of the rounds the median
//! is shown. CPU is this process's only: with SQLite that is the database too, otherwise the client alone. `--pin` keeps this
//! process on the first core and the private servers on the last, for figures that can be compared.

mod cached;
mod plan;
mod rounds;
mod ways;

use plan::{Plan, USAGE};
use rustix::thread::{CpuSet, sched_setaffinity};
use torr_test_support::databases::{Make, Server};

fn main() {
    let plan = Plan::read(std::env::args().skip(1)).unwrap_or_else(|wrong| {
        eprintln!("cost: {wrong}\n{USAGE}");
        std::process::exit(2);
    });
    println!(
        "{:<12}{:<10}{:<9}{:>12}{:>10}{:>12}{:>12}",
        "where", "operation", "access", "per second", "CPU us", "rate/raw", "raw CPU/its"
    );
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // What is started is where its starter was then.
    pin(&plan, cores - 1);
    let (mut servers, mut urls) = (Vec::new(), Vec::new());
    if plan.private {
        servers.extend([Make::MariaDb, Make::Postgres].map(Server::start));
        let redis = Server::start(Make::Redis);
        urls.push("sqlite::memory:".to_owned());
        urls.extend(servers.iter().map(Server::new_database));
        urls.extend(["memory".to_owned(), redis.url(redis.any_database())]);
        servers.push(redis);
    }
    pin(&plan, 0);
    for url in urls.iter().chain(&plan.urls) {
        let is_cache = url == "memory" || url.starts_with("redis");
        let measured = if is_cache { cached::measure(&plan, url) } else { ways::measure(&plan, url) };
        if let Err(error) = measured {
            eprintln!("cost: {error}");
            drop(servers);
            std::process::exit(3);
        }
    }
}

fn pin(plan: &Plan, core: usize) {
    if plan.pin {
        let mut cores = CpuSet::new();
        cores.set(core);
        sched_setaffinity(None, &cores).expect("the core is there");
    }
}
