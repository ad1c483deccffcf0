//! SQLite, embedded. A query takes microseconds, so operations run on the calling thread.
//!
//! A database in memory uses SQLite's `memdb`, which all threads share: no system call per query, a third of the time of a
//! WAL file on a RAM disk, and, unlike a shared cache, one page cache per connection. Its writers exclude readers, and
//! SQLite makes a reader that meets a writer sleep for a millisecond; a lock of our own in front of it avoids the sleep. A
//! file is in WAL mode, where writers exclude only each other.

mod connections;
mod database;
mod error;
mod tables;

pub(crate) use connections::SqliteConnections;
pub(crate) use database::SqliteDatabase;
