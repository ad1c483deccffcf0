//! The operations for who blocks his thread until they are done.

use crate::access::Access;
use crate::address::DatabaseKind;
use crate::database::Database;
use crate::error::DataError;
use crate::model::{Fortune, Item, World};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// A database whose operations block the calling thread. They may be called from anywhere, also on a tokio runtime.
///
/// With MySQL and PostgreSQL a thread that uses it has another one beside it, on which the same connections run as
/// otherwise: so an operation costs two switches between threads more.
#[derive(Debug, Clone, Copy)]
pub struct BlockingDatabase<'d> {
    database: &'d Database,
}

impl<'d> BlockingDatabase<'d> {
    pub(crate) fn new(database: &'d Database) -> Self {
        Self { database }
    }

    /// As [`Database::world`].
    #[expect(clippy::missing_errors_doc, reason = "those of the database")]
    pub fn world(&self, access: Access, id: i32) -> Result<World, DataError> {
        self.run(move |database| database.world(access, id))
    }

    /// As [`Database::worlds`].
    #[expect(clippy::missing_errors_doc, reason = "those of the database")]
    pub fn worlds(&self, access: Access, ids: &[i32]) -> Result<Vec<World>, DataError> {
        let ids = ids.to_vec();
        self.run(move |database| database.worlds(access, &ids))
    }

    /// As [`Database::fortunes`].
    #[expect(clippy::missing_errors_doc, reason = "those of the database")]
    pub fn fortunes(&self, access: Access) -> Result<Vec<Fortune>, DataError> {
        self.run(move |database| database.fortunes(access))
    }

    /// As [`Database::item`].
    #[expect(clippy::missing_errors_doc, reason = "those of the database")]
    pub fn item(&self, access: Access, id: i32) -> Result<Item, DataError> {
        self.run(move |database| database.item(access, id))
    }

    /// As [`Database::update`].
    #[expect(clippy::missing_errors_doc, reason = "those of the database")]
    pub fn update(&self, access: Access, rows: &[World]) -> Result<Vec<World>, DataError> {
        let rows = rows.to_vec();
        self.run(move |database| database.update(access, &rows))
    }

    /// Several operations, or one that is made of others: `database.blocking().run(|database| database.item(access, 7))`.
    ///
    /// # Errors
    /// What they come to.
    ///
    /// # Panics
    /// With SQLite, if the future waits for anything.
    pub fn run<T, F>(&self, ask: impl FnOnce(&Database) -> F + Send + 'static) -> Result<T, DataError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, DataError>> + 'static,
    {
        if self.database.kind() == DatabaseKind::Sqlite {
            return at_once(ask(self.database));
        }
        #[cfg(feature = "network")]
        {
            let database = self.database.clone();
            crate::companion::run(move || ask(&database))
        }
        #[cfg(not(feature = "network"))]
        unreachable!("only SQLite is built in");
    }
}

/// The outcome of a future that never waits, as none of SQLite does.
pub(crate) fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("a future that waits for something else than SQLite, which never has to be waited for"),
    }
}
