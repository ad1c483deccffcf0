//! The same tables through three ways on three databases: TechEmpower's World and Fortune, and the documents' table of 100,000
//! rows, through a raw driver, a query builder and an ORM's model, on SQLite, MySQL or MariaDB, and PostgreSQL.
//!
//! ```
//! use torr_data::{Database, Options, Access};
//!
//! let options = Options { rows: 1000, ..Options::default() };
//! let database = Database::open("sqlite::memory:", &options, |_| {})?;
//! let item = database.blocking().item(Access::Model, 7)?;
//! assert_eq!(item.name, "Item 000007");
//! # Ok::<(), torr_data::DataError>(())
//! ```
//!
//! A [`Database`] is opened once, and cloned for all who use it. Connections belong to threads: each thread that calls an
//! operation has its own, opened when they are needed. Operations give futures that run on the thread's own tokio runtime (of a
//! current thread, with time and sockets enabled) and so are not `Send`; those of SQLite are ready when they are polled first,
//! and need none. [`Database::blocking`] has the same operations for who wants to wait.
//!
//! A [`Cache`], in memory or in Redis, is used in the same manner. It keeps bytes by their keys, and rows of World.
#![forbid(unsafe_code)]

mod access;
mod address;
#[cfg(feature = "sockets")]
mod aside;
mod blocking;
mod builder;
mod cache;
#[cfg(feature = "sockets")]
mod companion;
mod contents;
mod database;
mod error;
mod fill;
mod local;
mod model;
#[cfg(any(feature = "postgres", feature = "redis"))]
mod mover;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "network")]
mod network;
mod options;
mod per_thread;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sockets")]
mod shared;
#[cfg(feature = "sqlite")]
mod sqlite;
mod waits;

pub use access::Access;
pub use address::DatabaseKind;
pub use blocking::BlockingDatabase;
pub use cache::{BlockingCache, Cache, CacheKind, CacheOptions};
pub use contents::WORLD_ROWS;
pub use database::Database;
pub use error::{DataError, ErrorKind, Side};
pub use fill::Progress;
pub use model::{Fortune, Item, World};
pub use options::Options;
pub use waits::{PoolEvent, PoolWaits};
