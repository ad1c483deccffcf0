//! Databases behind services, and layers between the two.

use crate::environment::Environment;
use crate::environment::databases::Make;
use crate::error::Error;
use crate::subject::{Start, Subject};
use std::process::Command;
use torr_gauge::Factor::{self, Database, Orm};

/// A query that keeps the database's CPU busy for some milliseconds and brings one row.
const HEAVY: &str = "sql=SELECT sum(sqrt(n)) FROM generate_series(1, 20000) AS n";

/// Our own service with a PostgreSQL behind it.
fn asking(env: &mut Environment, words: &[&str]) -> Result<String, Error> {
    let database = env.database(Make::Postgres);
    env.service(&[&["--path", "/", "--database", &database.url], words].concat())
}

fn with_postgres(name: &'static str, factor: Factor, start: Start) -> Subject {
    Subject::fault(name, factor, start).needs(&["postgres", "initdb"])
}

/// PHP asks MariaDB for something that takes it long, over a connection of each request, as PHP does.
fn php_and_mariadb(env: &mut Environment) -> Result<String, Error> {
    let modules = Command::new("php").arg("-m").output().map_err(Error::at("php -m"))?;
    if !String::from_utf8_lossy(&modules.stdout).contains("mysqli") {
        return Err(Error::failed("php lacks its module mysqli: clinic/README.md has the packages"));
    }
    let port = env.database(Make::MariaDb).port;
    let password = torr_test_support::databases::PASSWORD;
    let script = format!(
        "<?php $db = new mysqli('127.0.0.1', 'torr', '{password}', 'mysql', {port});
        echo $db->query(\"SELECT BENCHMARK(10000, MD5('torr'))\")->fetch_row()[0], $db->close();"
    );
    env.php("8", &script)
}

pub fn subjects() -> Vec<Subject> {
    vec![
        with_postgres("database-pool-four", Database, |env| {
            asking(env, &["--handler", "sql=SELECT pg_sleep(0.005)", "--database-pool", "4"])
        }),
        with_postgres("database-heavy-query", Database, |env| {
            asking(env, &["--handler", HEAVY, "--database-pool", "16"])
        }),
        with_postgres("database-starved", Database, |env| {
            let database = env.starved_database(Make::Postgres, 20)?.url;
            Ok(env.torr_serve(&["--database", &database, "--db-rows", "1000"])? + "/db/raw")
        })
        .for_root(),
        Subject::fault("database-php-mariadb", Database, php_and_mariadb).needs(&["php", "mariadbd"]),
        with_postgres("orm-many-queries", Orm, |env| {
            asking(env, &["--handler", "many-sql=SELECT 1", "--database-pool", "16"])
        }),
        with_postgres("orm-heavy-rows", Orm, |env| {
            asking(
                env,
                &["--handler", "rows=SELECT n, n::text FROM generate_series(1, 200) AS n", "--database-pool", "16"],
            )
        }),
    ]
}
