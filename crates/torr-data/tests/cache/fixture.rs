//! The cache of one test, apart from those of other tests, and a database whose rows are cached.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use tempfile::TempDir;
use torr_data::{Cache, CacheOptions, Database, Options};
use torr_test_support::databases::{Make, Outside, Server, shared};

pub struct Fixture {
    pub url: String,
    pub options: CacheOptions,
}

impl Fixture {
    pub fn memory() -> Self {
        Self { url: "memory".to_owned(), options: CacheOptions::default() }
    }

    /// Returns a database of its own in the Redis that all tests share.
    pub fn redis() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        Self::at(shared(Make::Redis), NUMBER.fetch_add(1, Relaxed))
    }

    pub fn at(server: &Server, database: u32) -> Self {
        Self { url: server.url(&database.to_string()), options: CacheOptions::default() }
    }

    pub fn open(&self) -> Cache {
        Cache::open(&self.url, &self.options).unwrap_or_else(|error| panic!("{}: {error}", self.url))
    }

    /// Returns a connection of another client of the same Redis.
    pub fn outside(&self) -> redis::Connection {
        let client = redis::Client::open(&*self.url).expect("the test's URL is right");
        client.get_connection().expect("the server is there")
    }
}

/// Tables in a file.
pub struct Tables {
    pub database: Database,
    url: String,
    _folder: TempDir,
}

impl Tables {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is a temporary folder");
        let url = format!("sqlite:{}", folder.path().join("tables.db").display());
        let options = Options { rows: 10, ..Options::default() };
        let database = Database::open(&url, &options, |_| {}).unwrap_or_else(|error| panic!("{url}: {error}"));
        Self { database, url, _folder: folder }
    }

    pub fn outside(&self) -> Outside {
        Outside::new(&self.url)
    }
}
