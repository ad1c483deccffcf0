//! PostgreSQL: a pool of connections for each worker thread, with prepared statements, and the operations on `items`.
//!
//! The pools belong to the application and not to the threads, so that the tasks of their connections end with the server.

use crate::item::{Item, Rating};
use deadpool::Runtime;
use deadpool::managed::{Manager, Metrics, Object, Pool, PoolError, RecycleError, RecycleResult, Timeouts};
use std::cell::Cell;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio_postgres::{Client, Config, Error, NoTls, Row, Statement};

/// The columns of an item in the order of [`item`]. The driver reads JSON as text.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, category, price, quantity, active, tags::text, rating_score, rating_count FROM items ",
            $rest
        )
    };
}
const RANGE: &str = select!("WHERE price BETWEEN $1 AND $2 LIMIT $3");
const ONE: &str = select!("WHERE id = $1");
const PAGE: &str = select!("WHERE category = $1 ORDER BY id LIMIT $2 OFFSET $3");
const CHANGE: &str = "UPDATE items SET name = $2, category = $3, price = $4, quantity = $5 WHERE id = $1";
const ADD: &str = "INSERT INTO items (id, name, category, price, quantity, active, tags, rating_score, rating_count) \
                   VALUES ($1, $2, $3, $4, $5, true, '[]', 0, 0) \
                   ON CONFLICT (id) DO UPDATE SET name = $2, category = $3, price = $4, quantity = $5";

/// The most time that an operation waits for a connection, or that opening one takes.
const PATIENCE: Duration = Duration::from_secs(5);

/// The error of an operation: of the pool or of the database.
pub type Failure = PoolError<Error>;

/// What a client gives of an item.
#[derive(Debug, serde::Deserialize, serde::Serialize)]
pub struct Fields {
    /// The name.
    pub name: String,
    /// The category.
    pub category: String,
    /// The price of one.
    pub price: i32,
    /// How many there are.
    pub quantity: i32,
}

/// The database. Clones share the connections.
#[derive(Clone)]
pub struct Database {
    pools: Arc<[Pool<Connector>]>,
}

struct Connector(Config);

/// A connection with its prepared statements.
struct Connection {
    client: Client,
    range: Statement,
    one: Statement,
    page: Statement,
    change: Statement,
    add: Statement,
}

impl Manager for Connector {
    type Type = Connection;
    type Error = Error;

    async fn create(&self) -> Result<Connection, Error> {
        let (client, connection) = self.0.connect(NoTls).await?;
        // Ends with the client.
        tokio::spawn(connection);
        let prepare = |sql| client.prepare(sql);
        let (range, one, page) = (prepare(RANGE).await?, prepare(ONE).await?, prepare(PAGE).await?);
        let (change, add) = (prepare(CHANGE).await?, prepare(ADD).await?);
        Ok(Connection { client, range, one, page, change, add })
    }

    async fn recycle(&self, connection: &mut Connection, _: &Metrics) -> RecycleResult<Error> {
        if connection.client.is_closed() { Err(RecycleError::message("closed")) } else { Ok(()) }
    }
}

impl Database {
    /// Prepares pools for the database of a URL, with so many connections in all of them, and opens none yet.
    ///
    /// # Errors
    /// In words, for a URL that cannot be used.
    pub fn new(url: &str, connections: usize) -> Result<Self, String> {
        // The error does not show the URL, which may have a password.
        let config = Config::from_str(url).map_err(|error| format!("DATABASE_URL cannot be used: {error}"))?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let pool = || {
            let timeouts = Timeouts { wait: Some(PATIENCE), create: Some(PATIENCE), recycle: None };
            let pool = Pool::builder(Connector(config.clone())).max_size((connections / threads).max(1));
            pool.timeouts(timeouts).runtime(Runtime::Tokio1).build().map_err(|error| error.to_string())
        };
        Ok(Self { pools: (0..threads).map(|_| pool()).collect::<Result<_, _>>()? })
    }

    /// Returns a connection of the calling thread's pool.
    async fn connection(&self) -> Result<Object<Connector>, Failure> {
        self.pools[thread_number() % self.pools.len()].get().await
    }

    /// Reads at most so many items with a price of a range.
    pub async fn range(&self, min: i32, max: i32, limit: i64) -> Result<Vec<Item>, Failure> {
        let connection = self.connection().await?;
        Ok(items(&connection.client.query(&connection.range, &[&min, &max, &limit]).await?)?)
    }

    /// Reads the item with an id, if there is one.
    pub async fn one(&self, id: i32) -> Result<Option<Item>, Failure> {
        let connection = self.connection().await?;
        let row = connection.client.query_opt(&connection.one, &[&id]).await?;
        Ok(row.as_ref().map(item).transpose()?)
    }

    /// Reads at most so many items of a category, ordered by id, from an offset on.
    pub async fn page(&self, category: &str, limit: i64, offset: i64) -> Result<Vec<Item>, Failure> {
        let connection = self.connection().await?;
        Ok(items(&connection.client.query(&connection.page, &[&category, &limit, &offset]).await?)?)
    }

    /// Changes an item. Returns whether there is one with this id.
    pub async fn change(&self, id: i32, to: &Fields) -> Result<bool, Failure> {
        let connection = self.connection().await?;
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
            [&id, &to.name, &to.category, &to.price, &to.quantity];
        Ok(connection.client.execute(&connection.change, &values).await? > 0)
    }

    /// Adds an item, or changes the one with this id.
    pub async fn add(&self, id: i32, fields: &Fields) -> Result<(), Failure> {
        let connection = self.connection().await?;
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
            [&id, &fields.name, &fields.category, &fields.price, &fields.quantity];
        connection.client.execute(&connection.add, &values).await?;
        Ok(())
    }
}

/// Returns a number for the calling thread; those of threads that start one after the other follow each other.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: Cell<Option<usize>> = const { Cell::new(None) };
    }
    NUMBER.get().unwrap_or_else(|| {
        let number = NEXT.fetch_add(1, Relaxed);
        NUMBER.set(Some(number));
        number
    })
}

fn items(rows: &[Row]) -> Result<Vec<Item>, Error> {
    rows.iter().map(item).collect()
}

fn item(row: &Row) -> Result<Item, Error> {
    Ok(Item {
        id: row.try_get(0)?,
        name: row.try_get(1)?,
        category: row.try_get(2)?,
        price: row.try_get(3)?,
        quantity: row.try_get(4)?,
        active: row.try_get(5)?,
        // JSON that is no list of words is shown without any.
        tags: serde_json::from_str(row.try_get(6)?).unwrap_or_default(),
        rating: Rating { score: row.try_get(7)?, count: row.try_get(8)? },
    })
}

#[cfg(test)]
mod tests {
    use super::Database;

    #[test]
    fn a_url_that_cannot_be_used_is_an_error_without_the_url() {
        let error = Database::new("postgres://user:secret@host:port/name", 8).err().expect("the port is no number");
        assert!(error.starts_with("DATABASE_URL cannot be used") && !error.contains("secret"), "{error}");
    }
}
