//! The making of tables, with a limit to each of its steps.

use crate::contents::Cell;
use crate::error::DataError;
use crate::fill::Store;
use std::time::Duration;
use tokio::time::timeout;

/// How long one step may take: a thousand rows, or another process that fills all of them.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A store that gives up in the end.
pub(crate) struct Patient<S>(pub(crate) S);

async fn limited<T>(step: impl Future<Output = Result<T, DataError>>) -> Result<T, DataError> {
    timeout(PATIENCE + super::GRACE, step).await.unwrap_or_else(|_| Err(DataError::timed_out(PATIENCE)))
}

impl<S: Store> Store for Patient<S> {
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

    async fn unlock(&mut self, good: bool) -> Result<(), DataError> {
        limited(self.0.unlock(good)).await
    }

    async fn taken(&mut self) -> Result<Vec<&'static str>, DataError> {
        limited(self.0.taken()).await
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
