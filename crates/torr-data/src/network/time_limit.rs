//! Time limits for database servers.

use crate::error::DataError;
use crate::fill::TableStore;
use crate::tables::Cell;
use std::time::Duration;
use tokio::time::timeout;

/// How long one step of preparing the tables may take: one INSERT, or the wait for another process that fills them all.
pub(crate) const STEP_LIMIT: Duration = Duration::from_secs(60);

/// How much longer than the database's own statement limit to wait before the connection is closed.
pub(super) const GRACE: Duration = Duration::from_millis(250);

/// A table store with a time limit on each step.
pub(crate) struct TimeLimited<S>(pub(crate) S);

async fn limited<T>(step: impl Future<Output = Result<T, DataError>>) -> Result<T, DataError> {
    timeout(STEP_LIMIT + GRACE, step).await.unwrap_or_else(|_| Err(DataError::timed_out(STEP_LIMIT)))
}

impl<S: TableStore> TableStore for TimeLimited<S> {
    const BEGIN: &'static str = S::BEGIN;
    const COMMIT: &'static str = S::COMMIT;
    const INTEGER: &'static str = S::INTEGER;
    const SUFFIX: &'static str = S::SUFFIX;

    fn placeholder(n: usize) -> String {
        S::placeholder(n)
    }

    async fn lock(&mut self) -> Result<(), DataError> {
        limited(self.0.lock()).await
    }

    async fn unlock(&mut self, success: bool) -> Result<(), DataError> {
        limited(self.0.unlock(success)).await
    }

    async fn existing(&mut self) -> Result<Vec<&'static str>, DataError> {
        limited(self.0.existing()).await
    }

    async fn command(&mut self, sql: &str) -> Result<(), DataError> {
        limited(self.0.command(sql)).await
    }

    async fn execute(&mut self, sql: &str, values: Vec<Cell>) -> Result<(), DataError> {
        limited(self.0.execute(sql, values)).await
    }

    async fn query(&mut self, sql: &str) -> Result<Vec<Vec<Cell>>, DataError> {
        limited(self.0.query(sql)).await
    }
}
