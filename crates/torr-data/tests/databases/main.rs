//! The same tests for every database: SQLite in memory and in a file, and private instances of MariaDB and PostgreSQL.

mod failures;
mod place;
mod reading;
mod tables;
mod writing;

/// Makes a test of each function for each kind of place.
#[macro_export]
macro_rules! everywhere {
    ($($test:ident),* $(,)?) => {
        $crate::tests_at!(in_memory, $crate::place::Place::memory(), $($test),*);
        $crate::where_it_lasts!($($test),*);
    };
}

/// The same for places where something is left for the next one who opens them.
#[macro_export]
macro_rules! where_it_lasts {
    ($($test:ident),* $(,)?) => {
        $crate::tests_at!(in_file, $crate::place::Place::file(), $($test),*);
        $crate::at_servers!($($test),*);
    };
}

/// The same for places beyond a socket only.
#[macro_export]
macro_rules! at_servers {
    ($($test:ident),* $(,)?) => {
        $crate::tests_at!(mariadb, $crate::place::Place::mariadb(), $($test),*);
        $crate::tests_at!(postgres, $crate::place::Place::postgres(), $($test),*);
        $crate::tests_at!(postgres_pipelined, $crate::place::Place::postgres().pipelined(), $($test),*);
    };
}

/// The tests of one kind of place.
#[macro_export]
macro_rules! tests_at {
    ($module:ident, $place:expr, $($test:ident),*) => {
        mod $module {
            $(#[test]
            fn $test() {
                super::$test($place);
            })*
        }
    };
}
