//! Rows of World: equal to the database's, and read from the database only once.

use crate::fixture::{Fixture, Tables};
use crate::values::at_once;
use futures_util::future::join_all;
use std::thread;
use std::time::Duration;
use torr_data::{Access, Database, ErrorKind, Options, WORLD_ROWS};
use torr_test_support::databases::runtime;
use torr_test_support::wait_until;

crate::on_all!(
    as_the_database_has_them,
    they_are_read_once,
    after_their_time_they_are_read_again,
    no_such_row,
    all_of_them_by_many,
    for_who_blocks,
);

const IDS: [i32; 6] = [7, 10_000, 7, 1, 4711, 7];

fn as_the_database_has_them(fixture: Fixture) {
    let (cache, tables) = (fixture.open(), Tables::new());
    runtime().block_on(async {
        for access in Access::ALL {
            let expected = tables.database.worlds(access, &IDS).await;
            for _ in 0..3 {
                assert_eq!(cache.worlds(&tables.database, access, &IDS).await, expected, "{access}");
            }
            assert_eq!(cache.worlds(&tables.database, access, &[]).await, Ok(Vec::new()));
        }
        // Some of the rows are cached, some are not.
        let ids = Vec::from_iter((1..=500).rev());
        let expected = tables.database.worlds(Access::Raw, &ids).await;
        assert_eq!(cache.worlds(&tables.database, Access::Raw, &ids).await, expected);
    });
}

fn they_are_read_once(fixture: Fixture) {
    let (cache, tables) = (fixture.open(), Tables::new());
    runtime().block_on(async {
        let before = cache.worlds(&tables.database, Access::Raw, &IDS).await.expect("they are there");
        let mut outside = tables.outside();
        outside.run("UPDATE world SET randomnumber = 20000");
        assert_eq!(cache.worlds(&tables.database, Access::Raw, &IDS).await.as_ref(), Ok(&before));
        let other = cache.worlds(&tables.database, Access::Raw, &[7, 8]).await.expect("they are there");
        assert_eq!((other[0], other[1].random_number), (before[0], 20_000));
        outside.run("DROP TABLE world");
        assert_eq!(cache.worlds(&tables.database, Access::Raw, &IDS).await, Ok(before), "the database is not asked");
        let error = cache.worlds(&tables.database, Access::Raw, &[7, 9]).await.expect_err("it is for this one");
        assert_eq!(error.kind(), ErrorKind::MissingTable, "{error}");
    });
}

fn after_their_time_they_are_read_again(mut fixture: Fixture) {
    fixture.options.worlds_ttl = Duration::from_millis(100);
    let (cache, tables, runtime) = (fixture.open(), Tables::new(), runtime());
    runtime.block_on(cache.worlds(&tables.database, Access::Raw, &IDS)).expect("they are there");
    tables.outside().run("UPDATE world SET randomnumber = 20000");
    wait_until("the new rows are seen", || {
        let rows = runtime.block_on(cache.worlds(&tables.database, Access::Raw, &IDS)).expect("they are there");
        rows.iter().all(|row| row.random_number == 20_000).then_some(())
    });
}

fn no_such_row(fixture: Fixture) {
    let (cache, tables) = (fixture.open(), Tables::new());
    runtime().block_on(async {
        for _ in 0..2 {
            let error = cache.worlds(&tables.database, Access::Raw, &[1, 20_000]).await.expect_err("there is none");
            assert_eq!(error.kind(), ErrorKind::MissingRow, "{error}");
        }
        tables.outside().run("INSERT INTO world (id, randomnumber) VALUES (20000, 5)");
        let rows = cache.worlds(&tables.database, Access::Raw, &[20_000]).await.expect("now there is");
        assert_eq!(rows[0].random_number, 5, "that there was none is not kept");
    });
}

fn all_of_them_by_many(fixture: Fixture) {
    let (cache, tables) = (fixture.open(), Tables::new());
    let ids = Vec::from_iter(1..=WORLD_ROWS as i32);
    let expected = runtime().block_on(tables.database.worlds(Access::Raw, &ids)).expect("they are there");
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                runtime().block_on(async {
                    let many = ids.chunks(20).map(|ids| cache.worlds(&tables.database, Access::Raw, ids));
                    let rows = join_all(many).await.into_iter().flat_map(|rows| rows.expect("they are there"));
                    assert!(rows.eq(expected.iter().copied()));
                });
            });
        }
    });
    tables.outside().run("DROP TABLE world");
    let rows = runtime().block_on(cache.worlds(&tables.database, Access::Raw, &ids));
    assert_eq!(rows.as_ref(), Ok(&expected), "there is room for all of them");
}

fn for_who_blocks(fixture: Fixture) {
    let (cache, tables) = (fixture.open(), Tables::new());
    let expected = tables.database.blocking().worlds(Access::Model, &IDS);
    assert_eq!(cache.blocking().worlds(&tables.database, Access::Model, &IDS), expected);
    tables.outside().run("DROP TABLE world");
    assert_eq!(cache.blocking().worlds(&tables.database, Access::Model, &IDS), expected);
    let error = cache.blocking().worlds(&tables.database, Access::Model, &[9]).expect_err("the table is gone");
    assert_eq!(error.kind(), ErrorKind::MissingTable, "{error}");
}

#[test]
fn in_memory_and_with_sqlite_no_caller_waits() {
    let cache = Fixture::memory().open();
    let options = Options { rows: 10, ..Options::default() };
    let database = Database::open("sqlite::memory:", &options, |_| {}).expect("memory");
    for access in Access::ALL {
        for _ in 0..2 {
            let rows = at_once(cache.worlds(&database, access, &IDS)).expect("they are there");
            assert_eq!(rows.len(), IDS.len());
        }
    }
}
