//! The tables of the benchmarks, read and written through three access methods on three databases: TechEmpower's World
//! and Fortune, and an item table of 100,000 rows, through a raw driver, a query builder and an ORM model, on SQLite,
//! MySQL or MariaDB, and PostgreSQL.
//!
//! ```
//! use torr_data::{Access, Database, Options};
//!
//! let options = Options { rows: 1000, ..Options::default() };
//! let database = Database::open("sqlite::memory:", &options, |_| {})?;
//! let item = database.blocking().item(Access::Model, 7)?;
//! assert_eq!(item.name, "Item 000007");
//! # Ok::<(), torr_data::DataError>(())
//! ```
//!
//! A [`Database`] is opened once and cloned for every user. Each thread that calls an operation opens connections of its
//! own as it needs them. Operations return futures that are not `Send`: they run on the thread's own current-thread tokio
//! runtime, with time and I/O enabled. Futures of SQLite are ready at the first poll and need no runtime.
//! [`Database::blocking`] offers the same operations to code that blocks.
//!
//! A [`Cache`], in memory or in Redis, keeps bytes by key and rows of World by id. Its operations follow the same rules.
#![forbid(unsafe_code)]

mod access;
mod address;
mod backend;
mod block_on;
mod blocking;
mod builder;
mod cache;
#[cfg(any(feature = "postgres", feature = "redis"))]
mod connection_task;
mod database;
#[cfg(feature = "sockets")]
mod driver_thread;
mod error;
mod fill;
mod model;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "network")]
mod network;
mod options;
mod per_thread;
mod pool_waits;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sockets")]
mod shared_connection;
#[cfg(feature = "sqlite")]
mod sqlite;
mod tables;
mod thread_connections;

pub use access::Access;
pub use address::DatabaseKind;
pub use blocking::BlockingDatabase;
pub use cache::{BlockingCache, Cache, CacheKind, CacheOptions};
pub use database::Database;
pub use error::{DataError, ErrorKind, Side};
pub use fill::Progress;
pub use model::{Fortune, Item, World};
pub use options::Options;
pub use pool_waits::{PoolEvent, PoolWaits};
pub use tables::WORLD_ROWS;
