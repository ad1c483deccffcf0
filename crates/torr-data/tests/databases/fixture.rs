//! The database of one test, apart from those of other tests.

use tempfile::TempDir;
use torr_data::{DataError, Database, Options};
use torr_test_support::databases::{Make, Outside, Server, shared};

/// Rows of the table `item`: enough for two batches and a rest.
pub const ITEMS: u32 = 2500;

pub struct Fixture {
    pub url: String,
    pub options: Options,
    _folder: Option<TempDir>,
}

impl Fixture {
    pub fn memory() -> Self {
        Self::new("sqlite::memory:".to_owned(), None)
    }

    pub fn file() -> Self {
        let folder = tempfile::tempdir().expect("there is a temporary folder");
        Self::new(format!("sqlite:{}", folder.path().join("the tables.db").display()), Some(folder))
    }

    pub fn mariadb() -> Self {
        Self::at(shared(Make::MariaDb))
    }

    pub fn postgres() -> Self {
        Self::at(shared(Make::Postgres))
    }

    /// Returns a new database of a server.
    pub fn at(server: &Server) -> Self {
        Self::new(server.new_database(), None)
    }

    fn new(url: String, folder: Option<TempDir>) -> Self {
        Self { url, options: Options { rows: ITEMS, pool_size: 3, ..Options::default() }, _folder: folder }
    }

    pub fn pipelined(mut self) -> Self {
        self.options.pipelined = true;
        self
    }

    pub fn open(&self) -> Database {
        self.try_open().unwrap_or_else(|error| panic!("{}: {error}", self.url))
    }

    pub fn try_open(&self) -> Result<Database, DataError> {
        Database::open(&self.url, &self.options, |_| {})
    }

    pub fn is_sqlite(&self) -> bool {
        self.url.starts_with("sqlite:")
    }

    pub fn outside(&self) -> Outside {
        Outside::new(&self.url)
    }
}
