//! Handlers that query a PostgreSQL over a pool of connections.

use super::burn::burn;
use super::handler::{Handler, later};
use super::http::Response;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Mutex, OnceCell, Semaphore, SemaphorePermit};
use tokio_postgres::{Client, NoTls};

/// The CPU time of the object that a heavy ORM makes of each row.
const PER_ROW: Duration = Duration::from_micros(20);

/// A pool of connections, which are opened with the first request.
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
    /// Creates a pool that opens `size` connections with the first request.
    pub fn new(url: String, size: usize) -> Self {
        let free = Semaphore::new(size);
        Self(Arc::new(Inner { url, size, free, idle: Mutex::default(), opened: OnceCell::new() }))
    }

    /// Returns a handler that executes a statement `times` times, one after another.
    pub fn statements(self, times: u32, sql: &str) -> Handler {
        self.querying(times, sql, Duration::ZERO)
    }

    /// Returns a handler that makes an object of each row of a statement's result.
    pub fn rows(self, sql: &str) -> Handler {
        self.querying(1, sql, PER_ROW)
    }

    /// Returns a handler that executes a statement, and then keeps its connection while it calls another service, HOST:PORT.
    pub fn query_then_call(self, upstream: &str) -> Handler {
        let upstream: Arc<str> = upstream.into();
        self.handler(move |pool| {
            let upstream = upstream.clone();
            async move { pool.query_and_call(&upstream).await }
        })
    }

    fn querying(self, times: u32, sql: &str, per_row: Duration) -> Handler {
        let sql: Arc<str> = sql.into();
        self.handler(move |pool| {
            let sql = sql.clone();
            async move { pool.query(times, &sql, per_row).await }
        })
    }

    /// Returns a handler that responds with 500 if its work fails.
    fn handler<E: Display, F: Future<Output = Result<(), E>> + Send + 'static>(
        self,
        work: impl Fn(Self) -> F + Send + Sync + 'static,
    ) -> Handler {
        later(move |_| {
            let work = work(self.clone());
            async move {
                match work.await {
                    Ok(()) => Response::hello(),
                    Err(error) => {
                        eprintln!("{error}");
                        Response::status(500)
                    }
                }
            }
        })
    }

    async fn query_and_call(&self, upstream: &str) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let (_permit, client) = self.take().await?;
        let done = client.simple_query("SELECT 1").await;
        let called = call(upstream).await;
        self.give_back(client).await;
        done?;
        Ok(called?)
    }

    async fn query(&self, times: u32, sql: &str, per_row: Duration) -> Result<(), tokio_postgres::Error> {
        let (_permit, client) = self.take().await?;
        let mut done = Ok(());
        for _ in 0..times {
            done = client.simple_query(sql).await.map(|rows| burn(per_row * rows.len() as u32));
        }
        self.give_back(client).await;
        done
    }

    /// Waits for a connection. The first request opens all of them.
    async fn take(&self) -> Result<(SemaphorePermit<'_>, Client), tokio_postgres::Error> {
        let Inner { url, size, free, idle, opened } = &*self.0;
        opened.get_or_try_init(|| open(url, *size, idle)).await?;
        let permit = free.acquire().await.expect("the semaphore is never closed");
        let client = idle.lock().await.pop().expect("there is a connection for each permit");
        Ok((permit, client))
    }

    async fn give_back(&self, client: Client) {
        self.0.idle.lock().await.push(client);
    }
}

/// Sends a service a request, and waits for the end of the response.
async fn call(upstream: &str) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(upstream).await?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: upstream\r\nConnection: close\r\n\r\n").await?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.map(|_| ())
}

async fn open(url: &str, size: usize, idle: &Mutex<Vec<Client>>) -> Result<(), tokio_postgres::Error> {
    for _ in 0..size {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(connection);
        idle.lock().await.push(client);
    }
    Ok(())
}
