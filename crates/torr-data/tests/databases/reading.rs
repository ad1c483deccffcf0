//! Reads return the right rows, equal through every access method on every database.

use crate::fixture::{Fixture, ITEMS};
use std::collections::BTreeSet;
use torr_data::{Access, Database, DatabaseKind, ErrorKind, Fortune, Item, Options, Side, World};
use torr_test_support::PATIENCE;
use torr_test_support::databases::runtime;

crate::on_all!(rows_are_the_same_by_every_way, who_blocks_gets_the_same, an_id_without_row, many_at_a_time);

fn in_memory() -> Database {
    Database::open("sqlite::memory:", &Options { rows: ITEMS, ..Options::default() }, |_| {}).expect("it is built in")
}

fn rows_are_the_same_by_every_way(fixture: Fixture) {
    let (database, other) = (fixture.open(), in_memory());
    assert_eq!(database.items(), ITEMS);
    assert_eq!(database.kind() == DatabaseKind::Sqlite, fixture.is_sqlite());
    runtime().block_on(async {
        for access in Access::ALL {
            for id in [1, 2, 999, 1000, 1001, ITEMS as i32] {
                let item = database.item(access, id).await.expect("it is there");
                assert_eq!((item.id, item.name.as_str()), (id, format!("Item {id:06}").as_str()), "{access}");
                assert!((1..=10_000).contains(&item.number), "{item:?}");
                assert_eq!(item, other.item(Access::Raw, id).await.expect("it is there"), "{access}");
            }
            let ids = [1, 10_000, 77, 77, 5000];
            let worlds = database.worlds(access, &ids).await.expect("they are there");
            assert_eq!(worlds.iter().map(|world| world.id).collect::<Vec<_>>(), ids, "{access}");
            assert_eq!(worlds, other.worlds(Access::Raw, &ids).await.expect("they are there"), "{access}");
            assert_eq!(worlds[2], database.world(access, 77).await.expect("it is there"), "{access}");
            assert!(database.worlds(access, &[]).await.expect("nothing is asked").is_empty());
            let mut fortunes = database.fortunes(access).await.expect("they are there");
            fortunes.sort_by_key(|fortune| fortune.id);
            assert_eq!(fortunes, techempowers(), "{access}");
        }
    });
}

/// The fortunes of TechEmpower's schema.
fn techempowers() -> Vec<Fortune> {
    let texts = [
        "fortune: No such file or directory",
        "A computer scientist is someone who fixes things that aren't broken.",
        "After enough decimal places, nobody gives a damn.",
        "A bad random number generator: 1, 1, 1, 1, 1, 4.33e+67, 1, 1, 1",
        "A computer program does what you tell it to do, not what you want it to do.",
        "Emacs is a nice operating system, but I prefer UNIX. \u{2014} Tom Christaensen",
        "Any program that runs right is obsolete.",
        "A list is only as strong as its weakest link. \u{2014} Donald Knuth",
        "Feature: A bug with seniority.",
        "Computers make very fast, very accurate mistakes.",
        r#"<script>alert("This should not be displayed in a browser alert box.");</script>"#,
        "フレームワークのベンチマーク",
    ];
    (1..).zip(texts).map(|(id, text)| Fortune { id, message: text.to_owned() }).collect()
}

/// Blocking works also on a thread that runs a runtime, as a worker thread's handlers do.
fn who_blocks_gets_the_same(fixture: Fixture) {
    let database = fixture.open();
    runtime().block_on(async {
        for access in Access::ALL {
            let blocking = database.blocking();
            assert_eq!(blocking.item(access, 7), database.item(access, 7).await);
            assert_eq!(blocking.world(access, 8), database.world(access, 8).await);
            assert_eq!(blocking.worlds(access, &[9, 8]), database.worlds(access, &[9, 8]).await);
            assert_eq!(blocking.fortunes(access), database.fortunes(access).await);
            let row = World { id: 8, random_number: 1 };
            let before = blocking.update(access, &[row]).expect("it is there");
            assert_eq!(before[0].id, 8);
            assert_eq!(database.world(access, 8).await, Ok(row));
        }
    });
}

fn an_id_without_row(fixture: Fixture) {
    let database = fixture.open();
    runtime().block_on(async {
        for access in Access::ALL {
            for error in [
                database.item(access, ITEMS as i32 + 1).await.expect_err("there is none"),
                database.world(access, 0).await.expect_err("there is none"),
                database.worlds(access, &[1, -5]).await.expect_err("there is none"),
            ] {
                assert_eq!((error.kind(), error.side()), (ErrorKind::MissingRow, Side::Server), "{access}: {error}");
                assert!(!error.is_temporary());
            }
        }
    });
    assert_eq!(database.pool_waits().waits, 0, "no operation had to wait");
}

fn many_at_a_time(mut fixture: Fixture) {
    fixture.options.acquire_timeout = PATIENCE;
    let database = fixture.open();
    let expected: BTreeSet<_> = (1..=50).map(|id| format!("Item {id:06}")).collect();
    runtime().block_on(async {
        for access in Access::ALL {
            let items = futures_util::future::try_join_all((1..=50).map(|id| database.item(access, id))).await;
            let names: BTreeSet<_> = items.expect("they are there").into_iter().map(|item: Item| item.name).collect();
            assert_eq!(names, expected, "{access}");
        }
    });
    let waits = database.pool_waits();
    assert_eq!((waits.waiting, waits.exhausted), (0, 0));
    if fixture.is_sqlite() {
        assert_eq!((waits.waits, waits.opened), (0, 0));
    } else if fixture.options.pipelined {
        // All operations but the first waited for the connection to open, and none for its turn on the connection.
        assert_eq!(waits.opened, 2);
    } else {
        assert_eq!(waits.opened, 6, "three for the driver, three for the model");
        assert!(waits.waits >= 3 * 40 && !waits.waited.is_zero(), "{waits:?}");
    }
}
