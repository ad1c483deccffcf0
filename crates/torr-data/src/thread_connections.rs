//! A thread's connections to a database. Threads never share a connection.

use crate::access::Access;
use crate::backend::{Backend, DatabaseInner};
use crate::error::DataError;
use crate::model::{Fortune, Item, World};
use crate::per_thread::PerThread;
use std::rc::Rc;
use std::sync::Arc;

#[cfg(not(any(feature = "sqlite", feature = "mysql", feature = "postgres")))]
compile_error!("torr-data needs at least one of its features: sqlite, mysql, postgres");

/// A thread's connections to one database.
pub(crate) enum ThreadConnections {
    #[cfg(feature = "sqlite")]
    Sqlite(crate::sqlite::SqliteConnections),
    #[cfg(feature = "mysql")]
    MySql(crate::network::NetworkConnections<crate::mysql::MySqlConnection>),
    #[cfg(feature = "postgres")]
    Postgres(crate::network::NetworkConnections<crate::postgres::PostgresConnection>),
}

thread_local! {
    /// The connections to each database that the thread has used.
    static CONNECTIONS: PerThread<DatabaseInner, ThreadConnections> = const { PerThread::new() };
}

/// Returns the calling thread's connections to a database.
pub(crate) fn of(database: &Arc<DatabaseInner>) -> Rc<ThreadConnections> {
    CONNECTIONS.with(|connections| connections.of(database, || ThreadConnections::new(database)))
}

/// Calls an operation of whichever database it is.
macro_rules! dispatch {
    ($self:ident, $operation:ident($($argument:expr),*)) => {
        match $self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(connections) => connections.$operation($($argument),*),
            #[cfg(feature = "mysql")]
            Self::MySql(connections) => connections.$operation($($argument),*).await,
            #[cfg(feature = "postgres")]
            Self::Postgres(connections) => connections.$operation($($argument),*).await,
        }
    };
}

impl ThreadConnections {
    fn new(database: &DatabaseInner) -> Self {
        match &database.backend {
            #[cfg(feature = "sqlite")]
            Backend::Sqlite(shared) => Self::Sqlite(crate::sqlite::SqliteConnections::new(Arc::clone(shared))),
            #[cfg(feature = "mysql")]
            Backend::MySql(config) => {
                // MySQL's protocol allows one statement in flight.
                let counters = &database.pool_counters;
                Self::MySql(crate::network::NetworkConnections::new(config, &database.options, false, counters))
            }
            #[cfg(feature = "postgres")]
            Backend::Postgres(config) => {
                let (options, counters) = (&database.options, &database.pool_counters);
                let pipelined = options.pipelined;
                Self::Postgres(crate::network::NetworkConnections::new(config, options, pipelined, counters))
            }
        }
    }

    pub(crate) async fn world(&self, access: Access, id: i32) -> Result<World, DataError> {
        dispatch!(self, world(access, id))
    }

    pub(crate) async fn worlds(&self, access: Access, ids: &[i32]) -> Result<Vec<World>, DataError> {
        dispatch!(self, worlds(access, ids))
    }

    pub(crate) async fn fortunes(&self, access: Access) -> Result<Vec<Fortune>, DataError> {
        dispatch!(self, fortunes(access))
    }

    pub(crate) async fn item(&self, access: Access, id: i32) -> Result<Item, DataError> {
        dispatch!(self, item(access, id))
    }

    /// Reads `ids`, then writes `rows`, which are sorted by id without duplicates.
    pub(crate) async fn update(&self, access: Access, ids: &[i32], rows: &[World]) -> Result<Vec<World>, DataError> {
        dispatch!(self, update(access, ids, rows))
    }
}
