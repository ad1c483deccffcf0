//! Work for a PostgreSQL behind the service, over a pool of connections.

use super::Options;
use super::burn::burn;
use super::http::Answer;
use super::work::{Does, later};
use crate::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OnceCell, Semaphore};
use tokio_postgres::{Client, NoTls};

/// What an object costs that a heavy layer makes of a row.
const PER_ROW: Duration = Duration::from_micros(20);

/// Connections that are opened when they are first asked for.
#[derive(Clone)]
pub struct Pool(Arc<Inner>);

struct Inner {
    url: String,
    size: usize,
    free: Semaphore,
    idle: Mutex<Vec<Client>>,
    opened: OnceCell<()>,
}

impl Pool {
    /// One that knows its database.
    ///
    /// # Errors
    /// If there is none on the command line.
    pub fn new(options: &Options) -> Result<Self, Error> {
        let url = options.database.clone().ok_or_else(|| Error::Usage("this work wants a --database".into()))?;
        let size = options.database_pool;
        let free = Semaphore::new(size);
        Ok(Self(Arc::new(Inner { url, size, free, idle: Mutex::default(), opened: OnceCell::new() })))
    }

    /// A handler that has a statement done so many times, one after another.
    pub fn statements(self, times: u32, sql: &str) -> Does {
        self.handler(times, sql, Duration::ZERO)
    }

    /// A handler that makes an object of each row of a statement.
    pub fn rows(self, sql: &str) -> Does {
        self.handler(1, sql, PER_ROW)
    }

    fn handler(self, times: u32, sql: &str, per_row: Duration) -> Does {
        let sql: Arc<str> = sql.into();
        later(move |_| {
            let (pool, sql) = (self.clone(), sql.clone());
            async move {
                match pool.ask(times, &sql, per_row).await {
                    Ok(()) => Answer::hello(),
                    Err(error) => {
                        eprintln!("{error}");
                        Answer::status(500)
                    }
                }
            }
        })
    }

    async fn ask(&self, times: u32, sql: &str, per_row: Duration) -> Result<(), tokio_postgres::Error> {
        let Inner { url, size, free, idle, opened } = &*self.0;
        opened.get_or_try_init(|| open(url, *size, idle)).await?;
        let _one = free.acquire().await.expect("it is never closed");
        let client = idle.lock().await.pop().expect("there is one for each who may have one");
        let mut done = Ok(());
        for _ in 0..times {
            done = client.simple_query(sql).await.map(|rows| burn(per_row * rows.len() as u32));
        }
        idle.lock().await.push(client);
        done
    }
}

async fn open(url: &str, size: usize, idle: &Mutex<Vec<Client>>) -> Result<(), tokio_postgres::Error> {
    for _ in 0..size {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(connection);
        idle.lock().await.push(client);
    }
    Ok(())
}
