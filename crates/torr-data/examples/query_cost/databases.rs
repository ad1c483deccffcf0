//! The cost of each access method on a database.

use crate::args::Args;
use crate::rounds::{Cost, blocking_round, round};
use torr_data::{Access, DataError, Database, DatabaseKind, Options, WORLD_ROWS, World};

/// A measured operation.
#[derive(Clone, Copy, PartialEq)]
enum Operation {
    Item,
    Fortunes,
    Queries,
    Updates,
}

pub fn measure(args: &Args, url: &str) -> Result<(), DataError> {
    let options = Options { pool_size: args.tasks, pipelined: args.pipelined, ..Options::default() };
    let database = Database::open(url, &options, |progress| {
        if progress.done == progress.of {
            eprintln!("{}: {} rows", progress.table, progress.of);
        }
    })?;
    let name = match database.kind() {
        DatabaseKind::Sqlite => "sqlite",
        DatabaseKind::MySql => "mysql",
        DatabaseKind::Postgres if args.pipelined => "postgres |",
        DatabaseKind::Postgres => "postgres",
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    for operation in [Operation::Item, Operation::Fortunes, Operation::Queries, Operation::Updates] {
        let mut costs = Access::ALL.map(|_| Vec::new());
        // The first round is the warm-up of connections, statements and the database's cache.
        for round in 0..=args.rounds {
            for (costs, access) in costs.iter_mut().zip(Access::ALL) {
                let cost = if args.blocking {
                    round_that_blocks(args, &database, operation, access)?
                } else {
                    runtime.block_on(round_of(args, &database, operation, access))?
                };
                if round > 0 {
                    costs.push(cost);
                }
            }
        }
        let costs = costs.map(|costs| Cost::median(&costs));
        let what = match operation {
            Operation::Item => "item",
            Operation::Fortunes => "fortunes",
            Operation::Queries => "queries20",
            Operation::Updates => "updates20",
        };
        for (access, cost) in Access::ALL.into_iter().zip(costs) {
            let (rate, cpu) = (cost.per_second / costs[0].per_second, costs[0].cpu_us / cost.cpu_us);
            println!(
                "{name:<12}{what:<10}{access:<9}{:>12.0}{:>10.2}{rate:>12.3}{cpu:>12.3}",
                cost.per_second, cost.cpu_us
            );
        }
    }
    let waits = database.pool_waits();
    println!("{name:<12}{} connections opened, {} waits for one, {:?} in all", waits.opened, waits.waits, waits.waited);
    Ok(())
}

async fn round_of(args: &Args, database: &Database, operation: Operation, access: Access) -> Result<Cost, DataError> {
    // SQLite is ready at the first poll, so that several tasks would only take turns.
    let tasks = if database.kind() == DatabaseKind::Sqlite { 1 } else { args.tasks };
    round(args.round, tasks, async || {
        match operation {
            Operation::Item => drop(database.item(access, any(database.items())).await?),
            Operation::Fortunes => drop(database.fortunes(access).await?),
            Operation::Queries => drop(database.worlds(access, &[(); 20].map(|()| any(WORLD_ROWS))).await?),
            Operation::Updates => drop(database.update(access, &[(); 20].map(|()| changed())).await?),
        }
        Ok(())
    })
    .await
}

fn round_that_blocks(
    args: &Args,
    database: &Database,
    operation: Operation,
    access: Access,
) -> Result<Cost, DataError> {
    let (items, database) = (database.items(), database.blocking());
    blocking_round(args.round, || {
        match operation {
            Operation::Item => drop(database.item(access, any(items))?),
            Operation::Fortunes => drop(database.fortunes(access)?),
            Operation::Queries => drop(database.worlds(access, &[(); 20].map(|()| any(WORLD_ROWS)))?),
            Operation::Updates => drop(database.update(access, &[(); 20].map(|()| changed()))?),
        }
        Ok(())
    })
}

/// Returns a random id.
fn any(rows: u32) -> i32 {
    fastrand::i32(1..=rows as i32)
}

fn changed() -> World {
    World { id: any(WORLD_ROWS), random_number: any(WORLD_ROWS) }
}
