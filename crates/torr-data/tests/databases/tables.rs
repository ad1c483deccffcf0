//! Tables are created once and completely, and tables of other programs stay unchanged.

use crate::fixture::{Fixture, ITEMS};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use torr_data::{Access, Database, ErrorKind, Progress, WORLD_ROWS, World};
use torr_test_support::databases::runtime;

crate::persistent!(
    filling_tells_how_far_it_is,
    interrupted_filling_is_done_again,
    tables_that_others_have_changed_are_left_alone,
    tables_grow_and_never_shrink,
    others_tables_are_left_alone,
    another_torr_meta_is_left_alone,
    names_of_others_in_other_letters,
    what_is_no_table_but_has_the_name,
    two_at_the_same_time,
    a_table_that_was_dropped,
);

#[test]
fn each_database_in_memory_is_new() {
    let mut fixture = Fixture::memory();
    let first = fixture.open();
    let row = World { id: 1, random_number: 12_345 };
    first.blocking().update(Access::Raw, &[row]).expect("it is there");
    fixture.options.rows = 3;
    let second = fixture.open();
    assert_eq!(progress(&fixture).last(), Some(&Progress { table: "item", done: 3, of: 3 }));
    assert_ne!(second.blocking().world(Access::Raw, 1), Ok(row));
    assert_eq!((first.items(), second.items()), (ITEMS, 3));
    let elsewhere = first.clone();
    let seen = thread::spawn(move || elsewhere.blocking().world(Access::Model, 1)).join().expect("it does not panic");
    assert_eq!(seen, Ok(row), "all threads share one");
}

fn progress(fixture: &Fixture) -> Vec<Progress> {
    let mut progress = Vec::new();
    Database::open(&fixture.url, &fixture.options, |step| progress.push(step)).expect("it can be opened");
    progress
}

fn filling_tells_how_far_it_is(fixture: Fixture) {
    let steps = progress(&fixture);
    let of = |table: &str| {
        let steps = steps.iter().filter(|step| step.table == table);
        steps.map(|step| (step.done, step.of)).collect::<Vec<_>>()
    };
    assert_eq!(of("item"), [(0, ITEMS), (1000, ITEMS), (2000, ITEMS), (ITEMS, ITEMS)]);
    assert_eq!(of("fortune"), [(0, 12), (12, 12)]);
    assert_eq!(of("world").last(), Some(&(WORLD_ROWS, WORLD_ROWS)));
    assert_eq!(progress(&fixture), [], "all is there");
    let mut outside = fixture.outside();
    assert_eq!(outside.tables(), 4);
    assert_eq!(outside.number("SELECT COUNT(*) FROM item"), i64::from(ITEMS));
    assert_eq!(outside.number("SELECT COUNT(*) FROM world"), i64::from(WORLD_ROWS));
}

fn interrupted_filling_is_done_again(fixture: Fixture) {
    let stop_at = |table: &str| {
        let open = || {
            Database::open(&fixture.url, &fixture.options, |progress| {
                assert!(progress.table != table || progress.done == 0, "interrupted");
            })
        };
        catch_unwind(AssertUnwindSafe(open)).expect_err("it was interrupted");
    };
    stop_at("world");
    stop_at("item");
    let steps = progress(&fixture);
    assert_eq!(steps.last().map(|step| (step.table, step.done)), Some(("item", ITEMS)));
    assert_eq!(progress(&fixture), []);
    let mut outside = fixture.outside();
    assert_eq!(outside.number("SELECT COUNT(DISTINCT id) FROM item"), i64::from(ITEMS));
    assert_eq!(outside.number("SELECT COUNT(DISTINCT id) FROM world"), i64::from(WORLD_ROWS));
}

fn tables_that_others_have_changed_are_left_alone(fixture: Fixture) {
    fixture.open();
    let mut outside = fixture.outside();
    outside.run("DELETE FROM item WHERE id = 9");
    outside.run("DROP TABLE world");
    outside.run("CREATE TABLE world (id INTEGER NOT NULL PRIMARY KEY, randomNumber INTEGER NOT NULL)");
    outside.run("INSERT INTO world (id, randomNumber) VALUES (1, 42)");
    for (table, mend) in [("world", "DROP TABLE world"), ("item", "DROP TABLE item")] {
        let error = fixture.try_open().expect_err("its rows are not Torr's");
        assert_eq!(error.kind(), ErrorKind::ForeignTable);
        assert!(error.to_string().contains(&format!("the rows of the table {table} were changed")), "{error}");
        assert_eq!(outside.number("SELECT COUNT(*) FROM item"), i64::from(ITEMS) - 1);
        outside.run(mend);
    }
    fixture.open();
    assert_eq!(outside.number("SELECT COUNT(*) FROM item"), i64::from(ITEMS));
}

fn tables_grow_and_never_shrink(mut fixture: Fixture) {
    let first = fixture.open();
    fixture.options.rows = 700;
    assert_eq!(progress(&fixture), [], "others may use all that there are");
    assert!(first.blocking().item(Access::Raw, ITEMS as i32).is_ok());
    fixture.options.rows = ITEMS + 300;
    assert_eq!(progress(&fixture).last().map(|step| (step.table, step.done)), Some(("item", ITEMS + 300)));
    assert!(first.blocking().item(Access::Raw, ITEMS as i32 + 300).is_ok());
}

fn others_tables_are_left_alone(fixture: Fixture) {
    for table in ["world", "fortune", "item"] {
        let mut outside = fixture.outside();
        outside.run(&format!("CREATE TABLE {table} (id INTEGER, theirs BIGINT)"));
        outside.run(&format!("INSERT INTO {table} (id, theirs) VALUES (1, 42)"));
        let error = fixture.try_open().expect_err("the table is not Torr's");
        assert_eq!(error.kind(), ErrorKind::ForeignTable);
        let text = error.to_string();
        assert!(text.contains(table) && !text.contains('\n'), "{text}");
        assert_eq!(outside.number(&format!("SELECT theirs FROM {table}")), 42);
        assert_eq!(outside.tables(), 1, "nothing else was made");
        outside.run(&format!("DROP TABLE {table}"));
    }
    fixture.open();
}

fn another_torr_meta_is_left_alone(fixture: Fixture) {
    let mut outside = fixture.outside();
    outside.run("CREATE TABLE torr_meta (theirs INTEGER)");
    let error = fixture.try_open().expect_err("the table is not Torr's");
    assert_eq!(error.kind(), ErrorKind::ForeignTable);
    assert_eq!(outside.tables(), 1);
}

/// SQLite ignores the case of names, the other databases do not.
fn names_of_others_in_other_letters(fixture: Fixture) {
    let mut outside = fixture.outside();
    let quote = if fixture.url.starts_with("mysql") { '`' } else { '"' };
    outside.run(&format!("CREATE TABLE {quote}World{quote} (theirs BIGINT)"));
    outside.run(&format!("INSERT INTO {quote}World{quote} (theirs) VALUES (42)"));
    match fixture.try_open() {
        Err(error) => assert!(fixture.is_sqlite() && error.kind() == ErrorKind::ForeignTable, "{error}"),
        Ok(database) => {
            assert!(!fixture.is_sqlite());
            assert_eq!(database.blocking().world(Access::Model, 3).expect("it is there").id, 3);
        }
    }
    assert_eq!(outside.number(&format!("SELECT theirs FROM {quote}World{quote}")), 42);
}

fn what_is_no_table_but_has_the_name(fixture: Fixture) {
    let mut outside = fixture.outside();
    outside.run("CREATE TABLE theirs (id BIGINT)");
    outside.run("CREATE VIEW item AS SELECT id FROM theirs");
    assert_eq!(fixture.try_open().expect_err("the view is not Torr's").kind(), ErrorKind::ForeignTable);
}

fn two_at_the_same_time(fixture: Fixture) {
    let databases = thread::scope(|scope| {
        let opening = [(); 3].map(|()| scope.spawn(|| fixture.open()));
        opening.map(|opening| opening.join().expect("it can be opened"))
    });
    for database in &databases {
        assert_eq!(database.blocking().item(Access::Model, 5).expect("it is there").name, "Item 000005");
    }
    assert_eq!(fixture.outside().number("SELECT COUNT(*) FROM item"), i64::from(ITEMS));
}

fn a_table_that_was_dropped(fixture: Fixture) {
    let (database, runtime) = (fixture.open(), runtime());
    for access in Access::ALL {
        runtime.block_on(database.item(access, 1)).expect("it is there");
    }
    fixture.outside().run("DROP TABLE item");
    for access in Access::ALL {
        let error = runtime.block_on(database.item(access, 1)).expect_err("it is gone");
        assert_eq!(error.kind(), ErrorKind::MissingTable, "{access}: {error}");
        runtime.block_on(database.world(access, 1)).expect("the others are there");
    }
    let again = fixture.open();
    for access in Access::ALL {
        runtime.block_on(again.item(access, 1)).expect("it is there again");
        runtime.block_on(database.item(access, 1)).expect("it is there again");
    }
}
