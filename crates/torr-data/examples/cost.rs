//! What each way costs on each database: `cargo run --release -p torr-data --example cost -- --private`
//!
//! Ways take turns in short rounds, so that what changes on the machine meanwhile hits all of them; of the rounds the median
//! is shown. CPU is this process's only: with SQLite that is the database too, otherwise the client alone. `--pin` keeps this
//! process on the first core and the private servers on the last, for figures that can be compared.

use futures_util::future::join_all;
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};
use torr_data::{DataError, Database, Kind, Options, WORLDS, Way, World};
use torr_test_databases::{Make, Server};

const USAGE: &str = "usage: cost [--private] [--pin] [--pipelined] [--blocking] [--tasks N] [--rounds N] [--millis N] [URL...]
--private: SQLite in memory, and MariaDB and PostgreSQL started for this alone; a URL is sqlite::memory:, sqlite:FILE, mysql://USER:PASSWORD@HOST/NAME or postgres://USER:PASSWORD@HOST/NAME";

/// What is measured.
#[derive(Clone, Copy, PartialEq)]
enum Operation {
    Item,
    Fortunes,
    Queries,
    Updates,
}

struct Plan {
    private: bool,
    pin: bool,
    pipelined: bool,
    blocking: bool,
    tasks: usize,
    rounds: usize,
    round: Duration,
    urls: Vec<String>,
}

/// Of one way in one round.
#[derive(Clone, Copy)]
struct Cost {
    per_second: f64,
    cpu_us: f64,
}

fn main() {
    let plan = plan(std::env::args().skip(1)).unwrap_or_else(|wrong| {
        eprintln!("cost: {wrong}\n{USAGE}");
        std::process::exit(2);
    });
    println!(
        "{:<12}{:<10}{:<9}{:>12}{:>10}{:>12}{:>12}",
        "database", "operation", "way", "per second", "CPU us", "rate/raw", "raw CPU/its"
    );
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // What is started is where its starter was then.
    pin(&plan, cores - 1);
    let servers =
        if plan.private { vec![Server::start(Make::MariaDb), Server::start(Make::Postgres)] } else { Vec::new() };
    pin(&plan, 0);
    let private = servers.iter().map(Server::new_database);
    let memory = plan.private.then(|| "sqlite::memory:".to_owned());
    for url in memory.into_iter().chain(private).chain(plan.urls.clone()) {
        if let Err(error) = measure(&plan, &url) {
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

fn plan(mut args: impl Iterator<Item = String>) -> Result<Plan, String> {
    let mut plan = Plan {
        private: false,
        pin: false,
        pipelined: false,
        blocking: false,
        tasks: 32,
        rounds: 9,
        round: Duration::from_millis(500),
        urls: Vec::new(),
    };
    while let Some(arg) = args.next() {
        let mut number = || {
            let value = args.next().and_then(|value| value.parse().ok()).filter(|number| *number > 0);
            value.ok_or_else(|| format!("{arg} needs a number from 1"))
        };
        match arg.as_str() {
            "--private" => plan.private = true,
            "--pin" => plan.pin = true,
            "--pipelined" => plan.pipelined = true,
            "--blocking" => plan.blocking = true,
            "--tasks" => plan.tasks = number()?,
            "--rounds" => plan.rounds = number()?,
            "--millis" => plan.round = Duration::from_millis(number()? as u64),
            option if option.starts_with('-') => return Err(format!("there is no option {option}")),
            _ => plan.urls.push(arg),
        }
    }
    if plan.urls.is_empty() && !plan.private { Err("no URL is given".to_owned()) } else { Ok(plan) }
}

fn measure(plan: &Plan, url: &str) -> Result<(), DataError> {
    let options = Options { pool_size: plan.tasks, pipelined: plan.pipelined, ..Options::default() };
    let database = Database::open(url, &options, |progress| {
        if progress.done == progress.of {
            eprintln!("{}: {} rows", progress.table, progress.of);
        }
    })?;
    let name = match database.kind() {
        Kind::Sqlite => "sqlite",
        Kind::MySql => "mysql",
        Kind::Postgres if plan.pipelined => "postgres |",
        Kind::Postgres => "postgres",
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    for operation in [Operation::Item, Operation::Fortunes, Operation::Queries, Operation::Updates] {
        let mut costs = Way::ALL.map(|_| Vec::new());
        // The first round warms up: connections, statements, the database's memory.
        for round in 0..=plan.rounds {
            for (costs, way) in costs.iter_mut().zip(Way::ALL) {
                let cost = if plan.blocking {
                    blocking_round(plan, &database, operation, way)?
                } else {
                    runtime.block_on(round_of(plan, &database, operation, way))?
                };
                if round > 0 {
                    costs.push(cost);
                }
            }
        }
        let costs = costs.map(|costs| Cost {
            per_second: median(costs.iter().map(|cost| cost.per_second)),
            cpu_us: median(costs.iter().map(|cost| cost.cpu_us)),
        });
        let what = match operation {
            Operation::Item => "item",
            Operation::Fortunes => "fortunes",
            Operation::Queries => "queries20",
            Operation::Updates => "updates20",
        };
        for (way, cost) in Way::ALL.into_iter().zip(costs) {
            let (rate, cpu) = (cost.per_second / costs[0].per_second, costs[0].cpu_us / cost.cpu_us);
            println!(
                "{name:<12}{what:<10}{way:<9}{:>12.0}{:>10.2}{rate:>12.3}{cpu:>12.3}",
                cost.per_second, cost.cpu_us
            );
        }
    }
    let waits = database.pool_waits();
    println!("{name:<12}{} connections opened, {} waits for one, {:?} in all", waits.opened, waits.waits, waits.waited);
    Ok(())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn cost(operations: u64, since: Instant, cpu_before: Duration) -> Cost {
    let (wall, cpu) = (since.elapsed().as_secs_f64(), (cpu() - cpu_before).as_secs_f64());
    Cost { per_second: operations as f64 / wall, cpu_us: cpu * 1e6 / operations as f64 }
}

async fn round_of(plan: &Plan, database: &Database, operation: Operation, way: Way) -> Result<Cost, DataError> {
    let (since, cpu_before) = (Instant::now(), cpu());
    // SQLite answers at once: several tasks would only take turns without need.
    let tasks = if database.kind() == Kind::Sqlite { 1 } else { plan.tasks };
    let counts = join_all((0..tasks).map(|_| async {
        let mut done = 0;
        while since.elapsed() < plan.round {
            match operation {
                Operation::Item => drop(database.item(way, any(database.items())).await?),
                Operation::Fortunes => drop(database.fortunes(way).await?),
                Operation::Queries => drop(database.worlds(way, &[(); 20].map(|()| any(WORLDS))).await?),
                Operation::Updates => drop(database.update(way, &[(); 20].map(|()| changed())).await?),
            }
            done += 1;
        }
        Ok(done)
    }));
    let done = counts.await.into_iter().sum::<Result<u64, DataError>>()?;
    Ok(cost(done, since, cpu_before))
}

fn blocking_round(plan: &Plan, database: &Database, operation: Operation, way: Way) -> Result<Cost, DataError> {
    let (since, cpu_before) = (Instant::now(), cpu());
    let (items, database, mut done) = (database.items(), database.blocking(), 0);
    while since.elapsed() < plan.round {
        match operation {
            Operation::Item => drop(database.item(way, any(items))?),
            Operation::Fortunes => drop(database.fortunes(way)?),
            Operation::Queries => drop(database.worlds(way, &[(); 20].map(|()| any(WORLDS)))?),
            Operation::Updates => drop(database.update(way, &[(); 20].map(|()| changed()))?),
        }
        done += 1;
    }
    Ok(cost(done, since, cpu_before))
}

/// The id of any row.
fn any(rows: u32) -> i32 {
    fastrand::i32(1..=rows as i32)
}

fn changed() -> World {
    World { id: any(WORLDS), random_number: any(WORLDS) }
}
