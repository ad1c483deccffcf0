//! Updates are durable, atomic and never lost.

use crate::fixture::Fixture;
use std::thread;
use torr_data::{Access, ErrorKind, World};
use torr_test_support::databases::runtime;

crate::on_all!(updates_are_kept, all_or_none, none_is_lost_among_many_writers);

fn updates_are_kept(fixture: Fixture) {
    let database = fixture.open();
    runtime().block_on(async {
        for (n, access) in (1..).zip(Access::ALL) {
            for size in [1, 2, 20, 21, 45, 500] {
                let rows: Vec<_> = (1..=size).rev().map(|id| World { id: id * 7, random_number: id + n }).collect();
                let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
                let before = database.worlds(access, &ids).await.expect("they are there");
                assert_eq!(database.update(access, &rows).await.as_ref(), Ok(&before), "{access}, {size} rows");
                for other in Access::ALL {
                    let after = database.worlds(other, &ids).await.expect("they are there");
                    assert_eq!(after, rows, "{access} wrote {size} rows, {other} reads them");
                }
            }
            let row = |number| World { id: 3, random_number: number };
            database.update(access, &[row(5), row(4), row(9)]).await.expect("it is there");
            assert_eq!(database.world(access, 3).await, Ok(row(9)), "the last one counts");
            database.update(access, &[]).await.expect("nothing is asked");
        }
    });
}

fn all_or_none(fixture: Fixture) {
    let database = fixture.open();
    runtime().block_on(async {
        for access in Access::ALL {
            let before = database.world(access, 5).await.expect("it is there");
            let rows =
                [World { id: 5, random_number: before.random_number + 1 }, World { id: 20_000, random_number: 1 }];
            let error = database.update(access, &rows).await.expect_err("there is no such row");
            assert_eq!(error.kind(), ErrorKind::MissingRow, "{access}");
            assert_eq!(database.world(access, 5).await, Ok(before), "{access}");
        }
    });
}

/// Each writer updates rows of its own and rows that all writers share, in different orders.
fn none_is_lost_among_many_writers(fixture: Fixture) {
    let database = fixture.open();
    const ROUNDS: i32 = 12;
    thread::scope(|scope| {
        for (writer, access) in (1..=6).zip(Access::ALL.into_iter().cycle()) {
            let database = database.clone();
            scope.spawn(move || {
                runtime().block_on(async {
                    for round in 1..=ROUNDS {
                        let number = writer * 100 + round;
                        let own = (0..5).map(|n| writer * 1000 + n);
                        let mut ids: Vec<_> = own.chain(1..=10).collect();
                        fastrand::shuffle(&mut ids);
                        let rows: Vec<_> = ids.iter().map(|id| World { id: *id, random_number: number }).collect();
                        let updated = database.update(access, &rows).await;
                        updated.unwrap_or_else(|error| panic!("{access} in round {round}: {error}"));
                    }
                });
            });
        }
    });
    runtime().block_on(async {
        for writer in 1..=6 {
            let ids: Vec<_> = (0..5).map(|n| writer * 1000 + n).collect();
            let worlds = database.worlds(Access::Raw, &ids).await.expect("they are there");
            assert!(worlds.iter().all(|world| world.random_number == writer * 100 + ROUNDS), "{worlds:?}");
        }
        let common = database.worlds(Access::Raw, &Vec::from_iter(1..=10)).await.expect("they are there");
        let last = common[0].random_number;
        assert!((1..=6).any(|writer| last == writer * 100 + ROUNDS), "{last}");
        assert!(common.iter().all(|world| world.random_number == last), "half of an update: {common:?}");
    });
}
