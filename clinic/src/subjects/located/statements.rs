//! Statements with a fault, to PostgreSQL, MariaDB and Redis.

use crate::environment::Environment;
use crate::environment::databases::Make;
use crate::environment::shops::{MARIADB, POSTGRES, REDIS};
use crate::location::Location;
use crate::subject::{Start, Subject};
use torr_gauge::Factor::{self, Database, Lock, Orm};
use torr_test_support::error::Error;

const JOINED: &[(&str, &str)] = &[("JOINED", "1")];
const INDEXED: &[(&str, &str)] = &[("INDEXED", "1")];
const NARROW: &[(&str, &str)] = &[("NARROW", "1")];

/// The statement that keeps the row of the counter locked until its transaction ends.
const COUNTS: &str = "UPDATE counters SET value = value + ? WHERE name = ?";

/// Starts the shop before a PostgreSQL.
fn postgres(env: &mut Environment, page: &str, variables: &[(&str, &str)]) -> Result<String, Error> {
    env.shop_before(Make::Postgres, page, variables)
}

fn on_postgres(name: &'static str, factor: Factor, start: Start, cured: Start) -> Subject {
    Subject::fault(name, factor, start).cured(cured).needs(&["go", "postgres", "initdb"])
}

pub fn subjects() -> Vec<Subject> {
    vec![
        on_postgres(
            "where-postgres-orders",
            Orm,
            |env| postgres(env, "orders", &[]),
            |env| postgres(env, "orders", JOINED),
        )
        .or(Database)
        .at(Location::statement("FROM customers WHERE id = ?", POSTGRES, &["orders"], &["orders"])),
        on_postgres(
            "where-postgres-history",
            Database,
            |env| postgres(env, "history", &[]),
            |env| postgres(env, "history", INDEXED),
        )
        .at(Location::statement("FROM orders WHERE customer_id = ?", POSTGRES, &["history"], &["history"])),
        // Transactions wait for each other in the database, which is idle meanwhile: a lock, though not one of the shop.
        on_postgres(
            "where-postgres-checkout",
            Database,
            |env| postgres(env, "checkout", &[]),
            |env| postgres(env, "checkout", NARROW),
        )
        .or(Lock)
        .at(Location::statement(COUNTS, POSTGRES, &["checkout", "notifyWarehouse"], &["checkout"])),
        on_postgres(
            "where-postgres-settle",
            Lock,
            |env| postgres(env, "settle", &[]),
            |env| postgres(env, "settle", NARROW),
        )
        .or(Database)
        .at(Location::lock(POSTGRES, &["settle", "sumPayments"], &["settle", "settle-held"])
            .named("settlement")
            .or_statement("FROM payments WHERE day < ?")),
        Subject::fault("where-mariadb-article", Database, |env| env.shop_before(Make::MariaDb, "article", &[]))
            .cured(|env| env.shop_before(Make::MariaDb, "article", INDEXED))
            .needs(&["go", "mariadbd"])
            .at(Location::statement("FROM shop.articles WHERE sku = ?", MARIADB, &["article"], &["article"])),
        Subject::fault("where-mariadb-basket", Orm, |env| env.shop_before(Make::MariaDb, "basket", &[]))
            .or(Database)
            .cured(|env| env.shop_before(Make::MariaDb, "basket", JOINED))
            .needs(&["go", "mariadbd"])
            .at(Location::statement("FROM shop.articles WHERE id = ?", MARIADB, &["basket"], &["basket"])),
        Subject::fault("where-redis-sessions", Database, |env| env.shop_before(Make::Redis, "sessions", &[]))
            .cured(|env| env.shop_before(Make::Redis, "sessions", &[("SESSIONS", "10000")]))
            .needs(&["go", "redis-check-rdb"])
            .at(Location::statement("KEYS", REDIS, &["sessions"], &["sessions"])),
        Subject::fault("where-redis-prices", Orm, |env| env.shop_before(Make::Redis, "prices", &[]))
            .or(Database)
            .cured(|env| env.shop_before(Make::Redis, "prices", JOINED))
            .needs(&["go", "redis-check-rdb"])
            .at(Location::statement("GET", REDIS, &["prices"], &["prices"])),
    ]
}
