//! Another client of the same database, by its driver.

use mysql_async::prelude::Queryable;
use tokio::runtime::{Builder, Runtime};

/// A connection of another client.
pub enum Outside {
    /// By its library.
    Sqlite(rusqlite::Connection),
    /// With the runtime that it lives on.
    MariaDb(Runtime, mysql_async::Conn),
    /// With the runtime that it lives on.
    Postgres(Runtime, tokio_postgres::Client),
}

/// A runtime of this thread alone.
pub fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime can be made")
}

impl Outside {
    /// To the database of a URL as `torr serve` takes it.
    pub fn new(url: &str) -> Self {
        if let Some(file) = url.strip_prefix("sqlite:") {
            return Self::Sqlite(rusqlite::Connection::open(file).expect("the file can be opened"));
        }
        // With a thread of its own, so that idle connections are kept alive.
        let runtime =
            Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime can be made");
        if url.starts_with("mysql") {
            let opts = mysql_async::Opts::from_url(url).expect("the test's URL is right");
            let conn = runtime.block_on(mysql_async::Conn::new(opts)).expect("the server is there");
            return Self::MariaDb(runtime, conn);
        }
        let (client, connection) =
            runtime.block_on(tokio_postgres::connect(url, tokio_postgres::NoTls)).expect("the server is there");
        runtime.spawn(connection);
        Self::Postgres(runtime, client)
    }

    /// Runs statements.
    pub fn run(&mut self, sql: &str) {
        match self {
            Self::Sqlite(db) => db.execute_batch(sql).expect(sql),
            Self::MariaDb(runtime, db) => runtime.block_on(db.query_drop(sql)).expect(sql),
            Self::Postgres(runtime, db) => runtime.block_on(db.batch_execute(sql)).expect(sql),
        }
    }

    /// The number that a query gives.
    pub fn number(&mut self, sql: &str) -> i64 {
        match self {
            Self::Sqlite(db) => db.query_row(sql, (), |row| row.get(0)).expect(sql),
            Self::MariaDb(runtime, db) => runtime.block_on(db.query_first(sql)).expect(sql).expect(sql),
            Self::Postgres(runtime, db) => runtime.block_on(db.query_one(sql, &[])).expect(sql).get(0),
        }
    }

    /// What [`Outside::number`] can read: some databases tell integers of 32 bits from others.
    pub fn wide_integer(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "INTEGER",
            Self::MariaDb(..) => "SIGNED",
            Self::Postgres(..) => "BIGINT",
        }
    }

    /// How many tables there are.
    pub fn tables(&mut self) -> i64 {
        self.number(match self {
            Self::Sqlite(_) => "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table'",
            Self::MariaDb(..) => "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()",
            Self::Postgres(..) => "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'public'",
        })
    }

    /// Keeps all others from the table `world`, in SQLite from writing.
    pub fn lock(&mut self) {
        self.run(match self {
            Self::Sqlite(_) => "BEGIN IMMEDIATE",
            Self::MariaDb(..) => "LOCK TABLES world WRITE",
            Self::Postgres(..) => "BEGIN; LOCK TABLE world IN ACCESS EXCLUSIVE MODE",
        });
    }

    /// Lets them again.
    pub fn unlock(&mut self) {
        self.run(match self {
            Self::MariaDb(..) => "UNLOCK TABLES",
            _ => "ROLLBACK",
        });
    }
}
