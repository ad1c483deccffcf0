//! What another client of Redis sees: only keys of Torr, each with a time to live, and few connections.

use crate::fixture::{Fixture, Tables};
use futures_util::future::join_all;
use redis::TypedCommands;
use std::thread;
use std::time::Duration;
use torr_data::Access;
use torr_test_support::databases::{Make, Server, runtime};

#[test]
fn what_is_not_ours_is_left_alone() {
    let (fixture, tables, runtime) = (Fixture::redis(), Tables::new(), runtime());
    let (cache, mut outside) = (fixture.open(), fixture.outside());
    for key in ["key", "torr:key", "world:7", "7"] {
        outside.set(key, "theirs").expect("there is room");
    }
    let hour = Duration::from_secs(3600);
    runtime.block_on(async {
        assert_eq!(cache.get("key").await, Ok(None));
        cache.put("key", b"ours", hour).await.expect("there is room");
        cache.put("7", b"ours", hour).await.expect("there is room");
        cache.remove("7").await.expect("it can be removed");
        cache.worlds(&tables.database, Access::Raw, &[7]).await.expect("it is there");
    });
    let row = row_key(&mut outside);
    let mut keys = outside.keys("*").expect("there are some");
    keys.sort_unstable();
    assert_eq!(keys, ["7", "key", "torr:key", "torr:value:key", &row, "world:7"]);
    for key in ["key", "torr:key", "world:7", "7"] {
        assert_eq!(outside.get(key).expect("it is there").as_deref(), Some("theirs"), "{key}");
    }
    for (key, most) in [("torr:value:key", 3_600_000), (&row, 60_000)] {
        let ttl: i64 = redis::cmd("PTTL").arg(key).query(&mut outside).expect("it is there");
        assert!((1..=most).contains(&ttl), "{key}: {ttl} ms");
    }
    let row: Vec<u8> = redis::cmd("GET").arg(&row).query(&mut outside).expect("it is there");
    assert_eq!(row.len(), 4);
}

/// Returns the key of row 7 of any database.
fn row_key(outside: &mut redis::Connection) -> String {
    let keys = outside.keys("torr:world:*:7").expect("it answers");
    let [key] = &keys[..] else { panic!("one row of this id: {keys:?}") };
    key.clone()
}

#[test]
fn a_row_that_is_none() {
    let (fixture, tables, runtime) = (Fixture::redis(), Tables::new(), runtime());
    let (cache, mut outside) = (fixture.open(), fixture.outside());
    runtime.block_on(cache.worlds(&tables.database, Access::Raw, &[7])).expect("it is there");
    let row = row_key(&mut outside);
    outside.set(&row, "not four").expect("there is room");
    let expected = runtime.block_on(tables.database.worlds(Access::Raw, &[7]));
    for _ in 0..2 {
        assert_eq!(runtime.block_on(cache.worlds(&tables.database, Access::Raw, &[7])), expected);
    }
}

fn connections(outside: &mut redis::Connection) -> u64 {
    let info: String = redis::cmd("INFO").arg("stats").query(outside).expect("it tells");
    let line = info.lines().find_map(|line| line.strip_prefix("total_connections_received:"));
    line.and_then(|count| count.parse().ok()).expect("it counts them")
}

#[test]
fn a_thread_has_one_connection_however_many_ask() {
    let mut server = Server::start(Make::Redis);
    let fixture = Fixture::at(&server, 3);
    let cache = fixture.open();
    let many = || {
        runtime().block_on(async {
            let gets = join_all((0..500).map(async |n| cache.get(&n.to_string()).await));
            gets.await.into_iter().for_each(|got| assert_eq!(got, Ok(None)));
        });
    };
    for round in ["at first", "after all were lost"] {
        let mut outside = fixture.outside();
        let before = connections(&mut outside);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    many();
                    many();
                });
            }
        });
        // A runtime's connections end with it, and each thread has had two.
        assert_eq!(connections(&mut outside) - before, 6, "{round}");
        server.kill();
        server.start_again();
    }
}
