//! Databases behind services, and ORMs between the two.

use crate::environment::Environment;
use crate::environment::databases::Make;
use crate::subject::{Start, Subject};
use std::process::Command;
use torr_gauge::Factor::{self, Database, Orm};
use torr_test_support::error::Error;

/// Starts the clinic's own service with a PostgreSQL behind it.
fn querying(env: &mut Environment, handler: &str, pool: &str) -> Result<String, Error> {
    let database = env.database(Make::Postgres);
    env.service(&["--path", "/", "--database", &database.url, "--handler", handler, "--database-pool", pool])
}

/// Starts the clinic's own service with a query that keeps the database's CPU busy for some milliseconds, and returns one row.
fn heavy_query(env: &mut Environment, rows: u32) -> Result<String, Error> {
    querying(env, &format!("sql=SELECT sum(sqrt(n)) FROM generate_series(1, {rows}) AS n"), "16")
}

/// Starts `torr serve` with a PostgreSQL under a quota of `percent` of one CPU.
fn starved(env: &mut Environment, percent: u32) -> Result<String, Error> {
    let database = env.starved_database(Make::Postgres, percent)?.url;
    Ok(env.torr_serve(&["--database", &database, "--db-rows", "1000"])? + "/db/raw")
}

fn with_postgres(name: &'static str, factor: Factor, start: Start) -> Subject {
    Subject::fault(name, factor, start).needs(&["postgres", "initdb"])
}

/// Starts a PHP that sends MariaDB a query of `rounds` of computation, over a connection for each request as PHP does.
fn php_and_mariadb(env: &mut Environment, rounds: u32) -> Result<String, Error> {
    let modules = Command::new("php").arg("-m").output().map_err(Error::at("php -m"))?;
    if !String::from_utf8_lossy(&modules.stdout).contains("mysqli") {
        return Err(Error::failed("php lacks its module mysqli: clinic/README.md has the packages"));
    }
    let port = env.database(Make::MariaDb).port;
    let password = torr_test_support::databases::PASSWORD;
    let script = format!(
        "<?php $db = new mysqli('127.0.0.1', 'torr', '{password}', 'mysql', {port});
        echo $db->query(\"SELECT BENCHMARK({rounds}, MD5('torr'))\")->fetch_row()[0], $db->close();"
    );
    env.php("8", &script)
}

pub fn subjects() -> Vec<Subject> {
    vec![
        with_postgres("database-pool-four", Database, |env| querying(env, "sql=SELECT pg_sleep(0.005)", "4"))
            .cured(|env| querying(env, "sql=SELECT pg_sleep(0.005)", "8")),
        with_postgres("database-heavy-query", Database, |env| heavy_query(env, 20_000))
            .cured(|env| heavy_query(env, 10_000)),
        with_postgres("database-starved", Database, |env| starved(env, 20)).cured(|env| starved(env, 40)).for_root(),
        Subject::fault("database-php-mariadb", Database, |env| php_and_mariadb(env, 10_000))
            .cured(|env| php_and_mariadb(env, 5_000))
            .needs(&["php", "mariadbd"]),
        with_postgres("orm-many-queries", Orm, |env| querying(env, "many-sql=SELECT 1", "16"))
            .cured(|env| querying(env, "sql=SELECT 1", "16")),
        with_postgres("orm-heavy-rows", Orm, |env| {
            querying(env, "rows=SELECT n, n::text FROM generate_series(1, 200) AS n", "16")
        })
        .cured(|env| querying(env, "sql=SELECT n, n::text FROM generate_series(1, 200) AS n", "16")),
    ]
}
