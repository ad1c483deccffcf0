//! Tests of every database: SQLite in memory and in a file, and private instances of MariaDB and PostgreSQL.

mod failures;
mod fixture;
mod reading;
mod tables;
mod writing;

/// Defines a test of each function on each kind of database.
#[macro_export]
macro_rules! on_all {
    ($($test:ident),* $(,)?) => {
        $crate::tests_on!(in_memory, $crate::fixture::Fixture::memory(), $($test),*);
        $crate::persistent!($($test),*);
    };
}

/// Defines a test of each function on each database that outlives its connections.
#[macro_export]
macro_rules! persistent {
    ($($test:ident),* $(,)?) => {
        $crate::tests_on!(in_file, $crate::fixture::Fixture::file(), $($test),*);
        $crate::on_servers!($($test),*);
    };
}

/// Defines a test of each function on each database server.
#[macro_export]
macro_rules! on_servers {
    ($($test:ident),* $(,)?) => {
        $crate::tests_on!(mariadb, $crate::fixture::Fixture::mariadb(), $($test),*);
        $crate::tests_on!(postgres, $crate::fixture::Fixture::postgres(), $($test),*);
        $crate::tests_on!(postgres_pipelined, $crate::fixture::Fixture::postgres().pipelined(), $($test),*);
    };
}

/// Defines the tests on one kind of database.
#[macro_export]
macro_rules! tests_on {
    ($module:ident, $fixture:expr, $($test:ident),*) => {
        mod $module {
            $(#[test]
            fn $test() {
                super::$test($fixture);
            })*
        }
    };
}
