//! An open connection to Redis, over which many ask at the same time.

use super::error::sorted;
use crate::error::{DataError, ErrorKind};
use crate::mover::Mover;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, FromRedisValue, Pipeline, RedisConnectionInfo, RedisError, Value};
use std::time::Duration;
use tokio::net::TcpStream;

pub(super) struct Link {
    connection: MultiplexedConnection,
    mover: Mover,
    limit: Duration,
}

impl Link {
    pub(super) async fn new(stream: TcpStream, limit: Duration) -> Result<Self, RedisError> {
        // The limits are ours, so that errors can tell them.
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let nothing_said = RedisConnectionInfo::default().set_skip_set_lib_name();
        let (connection, moving) = MultiplexedConnection::new_with_config(&nothing_said, stream, config).await?;
        Ok(Self { connection, mover: Mover::start(moving), limit })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.mover.has_ended()
    }

    /// Says something that has no answer but yes.
    pub(super) async fn say(&self, command: &Cmd) -> Result<(), RedisError> {
        command.query_async::<Value>(&mut self.connection.clone()).await.map(drop)
    }

    pub(super) async fn ask<T: FromRedisValue>(&self, commands: &Pipeline) -> Result<T, DataError> {
        let mut connection = self.connection.clone();
        let answer = tokio::time::timeout(self.limit, commands.query_async(&mut connection)).await;
        let limit = self.limit;
        let late = |_| DataError::new(ErrorKind::TimedOut, format_args!("Redis did not answer within {limit:?}"));
        answer.map_err(late)?.map_err(sorted)
    }
}
