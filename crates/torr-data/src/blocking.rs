//! Database operations for code that blocks its thread.

use crate::access::Access;
use crate::address::DatabaseKind;
use crate::block_on;
use crate::database::Database;
use crate::error::DataError;
use crate::model::{Fortune, Item, World};

/// A database whose operations block the calling thread. They may be called from any thread, also from one that runs a
/// tokio runtime.
///
/// With MySQL and PostgreSQL, operations run on a companion thread of the calling thread. An operation costs what it costs
/// otherwise, plus two context switches.
#[derive(Debug, Clone, Copy)]
pub struct BlockingDatabase<'d> {
    database: &'d Database,
}

impl Database {
    /// Returns the operations in a form that blocks the thread. With SQLite each is a direct call.
    pub fn blocking(&self) -> BlockingDatabase<'_> {
        BlockingDatabase { database: self }
    }
}

impl BlockingDatabase<'_> {
    /// Blocking form of [`Database::world`].
    #[expect(clippy::missing_errors_doc, reason = "the database's errors")]
    pub fn world(&self, access: Access, id: i32) -> Result<World, DataError> {
        self.run(move |database| database.world(access, id))
    }

    /// Blocking form of [`Database::worlds`].
    #[expect(clippy::missing_errors_doc, reason = "the database's errors")]
    pub fn worlds(&self, access: Access, ids: &[i32]) -> Result<Vec<World>, DataError> {
        let ids = ids.to_vec();
        self.run(move |database| database.worlds(access, &ids))
    }

    /// Blocking form of [`Database::fortunes`].
    #[expect(clippy::missing_errors_doc, reason = "the database's errors")]
    pub fn fortunes(&self, access: Access) -> Result<Vec<Fortune>, DataError> {
        self.run(move |database| database.fortunes(access))
    }

    /// Blocking form of [`Database::item`].
    #[expect(clippy::missing_errors_doc, reason = "the database's errors")]
    pub fn item(&self, access: Access, id: i32) -> Result<Item, DataError> {
        self.run(move |database| database.item(access, id))
    }

    /// Blocking form of [`Database::update`].
    #[expect(clippy::missing_errors_doc, reason = "the database's errors")]
    pub fn update(&self, access: Access, rows: &[World]) -> Result<Vec<World>, DataError> {
        let rows = rows.to_vec();
        self.run(move |database| database.update(access, &rows))
    }

    /// Runs any future over the database: `database.blocking().run(|database| database.item(access, 7))`.
    ///
    /// # Errors
    /// Those of the future.
    ///
    /// # Panics
    /// With SQLite, if the future is not ready at the first poll.
    pub fn run<T, F>(&self, operation: impl FnOnce(&Database) -> F + Send + 'static) -> Result<T, DataError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, DataError>> + 'static,
    {
        if self.database.kind() == DatabaseKind::Sqlite {
            return block_on::ready(operation(self.database));
        }
        #[cfg(feature = "network")]
        {
            let database = self.database.clone();
            crate::driver_thread::run(move || operation(&database))
        }
        #[cfg(not(feature = "network"))]
        unreachable!("this program was built with SQLite only");
    }
}
