//! Statements with a fault, to PostgreSQL, MariaDB and Redis.

use crate::environment::Environment;
use crate::environment::databases::Make;
use crate::environment::shops::{MARIADB, POSTGRES, REDIS};
use crate::location::Location;
use crate::subject::{Start, Subject};
use torr_gauge::Factor::{self, Database, Lock, Orm};
use torr_test_support::error::Error;

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
            |env| postgres(env, "orders", &[("LISTED", "20")]),
        )
        .or(Database)
        .at(Location::statement("FROM customers WHERE id = ?", POSTGRES, &["orders"], &["orders"])),
        on_postgres(
            "where-postgres-history",
            Database,
            |env| postgres(env, "history", &[]),
            |env| postgres(env, "history", &[("STORED", "30000")]),
        )
        .at(Location::statement("FROM orders WHERE customer_id = ?", POSTGRES, &["history"], &["history"])),
        // Transactions wait for each other in the database, which is idle meanwhile: a lock, though not one of the shop. The statements
        // after the notification hold the row as well, so that a third of its time halves the whole.
        on_postgres(
            "where-postgres-checkout",
            Database,
            |env| postgres(env, "checkout", &[]),
            |env| postgres(env, "checkout", &[("HELD_US", "1000")]),
        )
        .or(Lock)
        .at(Location::statement(COUNTS, POSTGRES, &["checkout", "notifyWarehouse"], &["checkout"])),
        on_postgres(
            "where-postgres-settle",
            Lock,
            |env| postgres(env, "settle", &[]),
            |env| postgres(env, "settle", &[("PAID", "15000")]),
        )
        .or(Database)
        .at(Location::lock(POSTGRES, &["settle", "sumPayments"], &["settle", "settle-held"])
            .named("settlement")
            .or_statement("FROM payments WHERE day < ?")),
        Subject::fault("where-mariadb-article", Database, |env| env.shop_before(Make::MariaDb, "article", &[]))
            .cured(|env| env.shop_before(Make::MariaDb, "article", &[("STORED", "10000")]))
            .needs(&["go", "mariadbd"])
            .at(Location::statement("FROM shop.articles WHERE sku = ?", MARIADB, &["article"], &["article"])),
        Subject::fault("where-mariadb-basket", Orm, |env| env.shop_before(Make::MariaDb, "basket", &[]))
            .or(Database)
            .cured(|env| env.shop_before(Make::MariaDb, "basket", &[("BASKET", "20")]))
            .needs(&["go", "mariadbd"])
            .at(Location::statement("FROM shop.articles WHERE id = ?", MARIADB, &["basket"], &["basket"])),
        Subject::fault("where-redis-sessions", Database, |env| env.shop_before(Make::Redis, "sessions", &[]))
            // Each key of a smaller table costs less to go through: measured, this is half of the cost.
            .cured(|env| env.shop_before(Make::Redis, "sessions", &[("SESSIONS", "12000")]))
            .needs(&["go", "redis-check-rdb"])
            .at(Location::statement("KEYS", REDIS, &["sessions"], &["sessions"])),
        Subject::fault("where-redis-prices", Orm, |env| env.shop_before(Make::Redis, "prices", &[]))
            .or(Database)
            .cured(|env| env.shop_before(Make::Redis, "prices", &[("PRICES", "30")]))
            .needs(&["go", "redis-check-rdb"])
            .at(Location::statement("GET", REDIS, &["prices"], &["prices"])),
    ]
}
