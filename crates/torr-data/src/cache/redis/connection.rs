//! An open connection to Redis that carries many commands at the same time.

use super::error::classify;
use crate::connection_task::ConnectionTask;
use crate::error::{DataError, ErrorKind};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, FromRedisValue, Pipeline, RedisConnectionInfo, RedisError, Value};
use std::time::Duration;
use tokio::net::TcpStream;

pub(super) struct RedisConnection {
    connection: MultiplexedConnection,
    task: ConnectionTask,
    limit: Duration,
}

impl RedisConnection {
    pub(super) async fn new(stream: TcpStream, limit: Duration) -> Result<Self, RedisError> {
        // The time limit is applied here, so that errors can name it.
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let no_handshake = RedisConnectionInfo::default().set_skip_set_lib_name();
        let (connection, task) = MultiplexedConnection::new_with_config(&no_handshake, stream, config).await?;
        Ok(Self { connection, task: ConnectionTask::start(task), limit })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.task.has_ended()
    }

    /// Sends a command whose response carries no data.
    pub(super) async fn send(&self, command: &Cmd) -> Result<(), RedisError> {
        command.query_async::<Value>(&mut self.connection.clone()).await.map(drop)
    }

    pub(super) async fn query<T: FromRedisValue>(&self, commands: &Pipeline) -> Result<T, DataError> {
        let mut connection = self.connection.clone();
        let response = tokio::time::timeout(self.limit, commands.query_async(&mut connection)).await;
        let limit = self.limit;
        let late =
            |_| DataError::new(ErrorKind::TimedOut, format_args!("timed out: Redis did not respond within {limit:?}"));
        response.map_err(late)?.map_err(classify)
    }
}
