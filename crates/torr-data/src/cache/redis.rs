//! A cache in Redis on the crate `redis`. Each thread has one connection that pipelines its commands.

mod config;
mod connection;
mod error;

pub(super) use config::RedisConfig;

use crate::error::{DataError, ErrorKind};
use crate::model::World;
use crate::per_thread::PerThread;
use crate::shared_connection::SharedConnection;
use connection::RedisConnection;
use redis::{FromRedisValue, Pipeline};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// The prefix of the keys of values.
const VALUE_PREFIX: &str = "torr:value:";
/// The prefix of the keys of rows, before the database's identity and the row's id. The value is the row's number as four
/// bytes in big-endian order.
const WORLD_PREFIX: &str = "torr:world:";

/// The script that atomically increments an existing number and sets its time to live. 18 digits cannot overflow.
const INCREMENT: &str = "local kept = redis.call('GET', KEYS[1])
if not kept or #kept > 18 or not string.match(kept, '^%d+$') then return false end
local sum = redis.call('INCR', KEYS[1])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return sum";

thread_local! {
    /// The connection to each cache that the thread has used.
    static LOCALS: PerThread<RedisConfig, ThreadCache> = const { PerThread::new() };
}

/// Returns the calling thread's connection to a cache.
pub(super) fn of(config: &Arc<RedisConfig>) -> Rc<ThreadCache> {
    LOCALS.with(|locals| {
        locals.of(config, || ThreadCache {
            config: Arc::clone(config),
            shared: SharedConnection::new(RedisConnection::is_closed),
        })
    })
}

pub(super) struct ThreadCache {
    config: Arc<RedisConfig>,
    shared: SharedConnection<RedisConnection>,
}

impl ThreadCache {
    pub(super) async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, DataError> {
        let mut commands = Pipeline::with_capacity(1);
        commands.get(format!("{VALUE_PREFIX}{key}"));
        self.query::<(Option<Vec<u8>>,)>(&commands).await.map(|(value,)| value)
    }

    pub(super) async fn put(&self, key: &str, value: &[u8], ttl: Duration) -> Result<(), DataError> {
        let mut commands = Pipeline::with_capacity(1);
        commands.pset_ex(format!("{VALUE_PREFIX}{key}"), value, millis(ttl)).ignore();
        self.query(&commands).await
    }

    pub(super) async fn increment(&self, key: &str, ttl: Duration) -> Result<Option<u64>, DataError> {
        let mut commands = Pipeline::with_capacity(1);
        commands.cmd("EVAL").arg(INCREMENT).arg(1).arg(format!("{VALUE_PREFIX}{key}")).arg(millis(ttl));
        self.query::<(Option<u64>,)>(&commands).await.map(|(sum,)| sum)
    }

    pub(super) async fn remove(&self, key: &str) -> Result<(), DataError> {
        let mut commands = Pipeline::with_capacity(1);
        commands.del(format!("{VALUE_PREFIX}{key}")).ignore();
        self.query(&commands).await
    }

    pub(super) async fn worlds(&self, of: u64, ids: &[i32]) -> Result<Vec<Option<World>>, DataError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut commands = Pipeline::with_capacity(ids.len());
        for id in ids {
            commands.get(world_key(of, *id));
        }
        let values: Vec<Option<Vec<u8>>> = self.query(&commands).await?;
        // A value that is not four bytes long is not Torr's: it counts as missing and is overwritten.
        let number = |bytes: Vec<u8>| bytes.try_into().ok().map(i32::from_be_bytes);
        let world = |(id, bytes): (&i32, Option<Vec<u8>>)| {
            bytes.and_then(number).map(|random_number| World { id: *id, random_number })
        };
        Ok(ids.iter().zip(values).map(world).collect())
    }

    pub(super) async fn keep_worlds(&self, of: u64, worlds: &[World], ttl: Duration) -> Result<(), DataError> {
        let mut commands = Pipeline::with_capacity(worlds.len());
        for world in worlds {
            let number = world.random_number.to_be_bytes();
            commands.pset_ex(world_key(of, world.id), &number[..], millis(ttl)).ignore();
        }
        self.query(&commands).await
    }

    /// Runs commands, and retries once if a reused connection turns out to have ended. All commands may be executed twice
    /// without harm; the documentation of [`super::Cache::increment`] says so for the increment.
    async fn query<T: FromRedisValue>(&self, commands: &Pipeline) -> Result<T, DataError> {
        if let Some(connection) = self.shared.current() {
            match self.query_on(&connection, commands).await {
                Err(error) if error.kind() == ErrorKind::Lost => {}
                response => return response,
            }
        }
        let wait = self.config.connect_timeout();
        let late = || {
            let text = format_args!("timed out after {wait:?} waiting for a connection to Redis");
            DataError::new(ErrorKind::TimedOut, text)
        };
        let connection = self.shared.open(wait, late, self.config.connect()).await?;
        self.query_on(&connection, commands).await
    }

    async fn query_on<T: FromRedisValue>(
        &self,
        connection: &Rc<RedisConnection>,
        commands: &Pipeline,
    ) -> Result<T, DataError> {
        let response = connection.query(commands).await;
        if response.as_ref().is_err_and(|error| !error.leaves_connection_usable()) {
            self.shared.discard(connection);
        }
        response
    }
}

/// Returns the key of a row. Several databases may share one Redis.
fn world_key(of: u64, id: i32) -> String {
    format!("{WORLD_PREFIX}{of:016x}:{id}")
}

fn millis(ttl: Duration) -> u64 {
    u64::try_from(ttl.as_millis()).expect("a time to live has bounds")
}
