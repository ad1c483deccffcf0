//! What 20 rows of World cost out of a cache that has all of them.

use crate::plan::Plan;
use crate::rounds::{Cost, blocking_round, round};
use torr_data::{Access, Cache, CacheKind, CacheOptions, DataError, Database, Options, WORLD_ROWS};

pub fn measure(plan: &Plan, url: &str) -> Result<(), DataError> {
    let hour = std::time::Duration::from_secs(3600);
    let cache = Cache::open(url, &CacheOptions { worlds_ttl: hour, ..CacheOptions::default() })?;
    let database = Database::open("sqlite::memory:", &Options { rows: 1, ..Options::default() }, |_| {})?;
    let (name, tasks) = match cache.kind() {
        // It answers at once: several tasks would only take turns without need.
        CacheKind::Memory => ("memory", 1),
        CacheKind::Redis => ("redis", plan.tasks),
    };
    for ids in Vec::from_iter(1..=WORLD_ROWS as i32).chunks(500) {
        cache.blocking().worlds(&database, Access::Raw, ids)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    let ids = || [(); 20].map(|()| fastrand::i32(1..=WORLD_ROWS as i32));
    let mut costs = Vec::new();
    // The first round warms up.
    for number in 0..=plan.rounds {
        let cost = if plan.blocking {
            blocking_round(plan.round, || cache.blocking().worlds(&database, Access::Raw, &ids()).map(drop))?
        } else {
            let once = async || cache.worlds(&database, Access::Raw, &ids()).await.map(drop);
            runtime.block_on(round(plan.round, tasks, once))?
        };
        if number > 0 {
            costs.push(cost);
        }
    }
    let Cost { per_second, cpu_us } = Cost::median(&costs);
    println!("{name:<12}{:<10}{:<9}{per_second:>12.0}{cpu_us:>10.2}", "cached20", "");
    Ok(())
}
