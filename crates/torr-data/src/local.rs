//! What a thread has of a database: connections are never shared between threads.

use crate::access::Access;
use crate::database::{Backend, Inner};
use crate::error::DataError;
use crate::model::{Fortune, Item, World};
use crate::per_thread::PerThread;
use std::rc::Rc;
use std::sync::Arc;

#[cfg(not(any(feature = "sqlite", feature = "mysql", feature = "postgres")))]
compile_error!("torr-data needs at least one of its features: sqlite, mysql, postgres");

/// A thread's connections to one database.
pub(crate) enum Local {
    #[cfg(feature = "sqlite")]
    Sqlite(crate::sqlite::Local),
    #[cfg(feature = "mysql")]
    MySql(crate::network::Local<crate::mysql::Link>),
    #[cfg(feature = "postgres")]
    Postgres(crate::network::Local<crate::postgres::Link>),
}

thread_local! {
    /// Of each database that this thread has asked.
    static LOCALS: PerThread<Inner, Local> = const { PerThread::new() };
}

/// This thread's connections to a database.
pub(crate) fn of(database: &Arc<Inner>) -> Rc<Local> {
    LOCALS.with(|locals| locals.of(database, || Local::new(database)))
}

macro_rules! ask {
    ($self:ident, $operation:ident($($argument:expr),*)) => {
        match $self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(local) => local.$operation($($argument),*),
            #[cfg(feature = "mysql")]
            Self::MySql(local) => local.$operation($($argument),*).await,
            #[cfg(feature = "postgres")]
            Self::Postgres(local) => local.$operation($($argument),*).await,
        }
    };
}

impl Local {
    fn new(database: &Inner) -> Self {
        match &database.backend {
            #[cfg(feature = "sqlite")]
            Backend::Sqlite(shared) => Self::Sqlite(crate::sqlite::Local::new(Arc::clone(shared))),
            #[cfg(feature = "mysql")]
            Backend::MySql(plan) => {
                // Its protocol foresees one statement at a time.
                Self::MySql(crate::network::Local::new(plan, &database.options, false, &database.waits))
            }
            #[cfg(feature = "postgres")]
            Backend::Postgres(plan) => {
                let options = &database.options;
                Self::Postgres(crate::network::Local::new(plan, options, options.pipelined, &database.waits))
            }
        }
    }

    pub(crate) async fn world(&self, access: Access, id: i32) -> Result<World, DataError> {
        ask!(self, world(access, id))
    }

    pub(crate) async fn worlds(&self, access: Access, ids: &[i32]) -> Result<Vec<World>, DataError> {
        ask!(self, worlds(access, ids))
    }

    pub(crate) async fn fortunes(&self, access: Access) -> Result<Vec<Fortune>, DataError> {
        ask!(self, fortunes(access))
    }

    pub(crate) async fn item(&self, access: Access, id: i32) -> Result<Item, DataError> {
        ask!(self, item(access, id))
    }

    /// Reads `ids`, then writes `rows`, which are sorted by their ids, of which none comes twice.
    pub(crate) async fn update(&self, access: Access, ids: &[i32], rows: &[World]) -> Result<Vec<World>, DataError> {
        ask!(self, update(access, ids, rows))
    }
}
