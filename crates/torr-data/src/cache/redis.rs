//! A cache in Redis, by the crate `redis`: a thread has one connection, over which all that it asks is pipelined.

mod error;
mod link;
mod plan;

pub(super) use plan::Plan;

use crate::error::{DataError, ErrorKind};
use crate::model::World;
use crate::per_thread::PerThread;
use crate::shared::Shared;
use link::Link;
use redis::{FromRedisValue, Pipeline};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// What the keys of values begin with.
const VALUES: &str = "torr:value:";
/// What the keys of rows begin with, before their database and their id: a row is kept as the four bytes of its number, the highest first.
const WORLDS: &str = "torr:world:";

/// Adds one to a number, if there is one, and gives it a time to live, as a whole. 18 digits are far from the largest number.
const INCREMENT: &str = "local kept = redis.call('GET', KEYS[1])
if not kept or #kept > 18 or not string.match(kept, '^%d+$') then return false end
local sum = redis.call('INCR', KEYS[1])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return sum";

thread_local! {
    /// Of each cache that this thread has asked.
    static LOCALS: PerThread<Plan, Local> = const { PerThread::new() };
}

/// This thread's connection to a cache.
pub(super) fn of(plan: &Arc<Plan>) -> Rc<Local> {
    LOCALS.with(|locals| locals.of(plan, || Local { plan: Arc::clone(plan), shared: Shared::new(Link::is_closed) }))
}

pub(super) struct Local {
    plan: Arc<Plan>,
    shared: Shared<Link>,
}

impl Local {
    pub(super) async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, DataError> {
        let mut commands = Pipeline::with_capacity(1);
        commands.get(format!("{VALUES}{key}"));
        self.ask::<(Option<Vec<u8>>,)>(&commands).await.map(|(value,)| value)
    }

    pub(super) async fn put(&self, key: &str, value: &[u8], ttl: Duration) -> Result<(), DataError> {
        let mut commands = Pipeline::with_capacity(1);
        commands.pset_ex(format!("{VALUES}{key}"), value, millis(ttl)).ignore();
        self.ask(&commands).await
    }

    pub(super) async fn increment(&self, key: &str, ttl: Duration) -> Result<Option<u64>, DataError> {
        let mut commands = Pipeline::with_capacity(1);
        commands.cmd("EVAL").arg(INCREMENT).arg(1).arg(format!("{VALUES}{key}")).arg(millis(ttl));
        self.ask::<(Option<u64>,)>(&commands).await.map(|(sum,)| sum)
    }

    pub(super) async fn remove(&self, key: &str) -> Result<(), DataError> {
        let mut commands = Pipeline::with_capacity(1);
        commands.del(format!("{VALUES}{key}")).ignore();
        self.ask(&commands).await
    }

    pub(super) async fn worlds(&self, of: u64, ids: &[i32]) -> Result<Vec<Option<World>>, DataError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut commands = Pipeline::with_capacity(ids.len());
        for id in ids {
            commands.get(world_key(of, *id));
        }
        let values: Vec<Option<Vec<u8>>> = self.ask(&commands).await?;
        // What is not four bytes long is not ours: it counts as missing, and is replaced.
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
        self.ask(&commands).await
    }

    /// Asks once more, if a connection that was kept turns out to have ended meanwhile: nothing of this does harm if it
    /// happens twice, and [`super::Cache::increment`] says that it may.
    async fn ask<T: FromRedisValue>(&self, commands: &Pipeline) -> Result<T, DataError> {
        if let Some(link) = self.shared.current() {
            match self.ask_over(&link, commands).await {
                Err(error) if error.kind() == ErrorKind::Lost => {}
                answer => return answer,
            }
        }
        let wait = self.plan.connect_timeout();
        let late = || {
            let text = format_args!("no connection to Redis within {wait:?}: others have been connecting");
            DataError::new(ErrorKind::TimedOut, text)
        };
        let link = self.shared.open(wait, late, self.plan.connect()).await?;
        self.ask_over(&link, commands).await
    }

    async fn ask_over<T: FromRedisValue>(&self, link: &Rc<Link>, commands: &Pipeline) -> Result<T, DataError> {
        let answer = link.ask(commands).await;
        if answer.as_ref().is_err_and(|error| !error.leaves_connection_sound()) {
            self.shared.give_up(link);
        }
        answer
    }
}

/// Of one database: several may share a Redis.
fn world_key(of: u64, id: i32) -> String {
    format!("{WORLDS}{of:016x}:{id}")
}

fn millis(ttl: Duration) -> u64 {
    u64::try_from(ttl.as_millis()).expect("a time to live has bounds")
}
