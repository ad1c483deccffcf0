//! The cost of reading 20 rows of World from a warm cache.

use crate::args::Args;
use crate::rounds::{Cost, blocking_round, round};
use torr_data::{Access, Cache, CacheKind, CacheOptions, DataError, Database, Options, WORLD_ROWS};

pub fn measure(args: &Args, url: &str) -> Result<(), DataError> {
    let hour = std::time::Duration::from_secs(3600);
    let cache = Cache::open(url, &CacheOptions { worlds_ttl: hour, ..CacheOptions::default() })?;
    let database = Database::open("sqlite::memory:", &Options { rows: 1, ..Options::default() }, |_| {})?;
    let (name, tasks) = match cache.kind() {
        // A cache in memory is ready at the first poll, so that several tasks would only take turns.
        CacheKind::Memory => ("memory", 1),
        CacheKind::Redis => ("redis", args.tasks),
    };
    for ids in Vec::from_iter(1..=WORLD_ROWS as i32).chunks(500) {
        cache.blocking().worlds(&database, Access::Raw, ids)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    let ids = || [(); 20].map(|()| fastrand::i32(1..=WORLD_ROWS as i32));
    let mut costs = Vec::new();
    // The first round warms up.
    for number in 0..=args.rounds {
        let cost = if args.blocking {
            blocking_round(args.round, || cache.blocking().worlds(&database, Access::Raw, &ids()).map(drop))?
        } else {
            let once = async || cache.worlds(&database, Access::Raw, &ids()).await.map(drop);
            runtime.block_on(round(args.round, tasks, once))?
        };
        if number > 0 {
            costs.push(cost);
        }
    }
    let Cost { per_second, cpu_us } = Cost::median(&costs);
    println!("{name:<12}{:<10}{:<9}{per_second:>12.0}{cpu_us:>10.2}", "cached20", "");
    Ok(())
}
