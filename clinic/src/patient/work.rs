//! What the handler does: on the thread that it is called on, or as a future.

use super::burn::burn;
use super::database::Pool;
use super::http::{Answer, Request};
use super::limiter;
use crate::error::Error;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What a future of a handler is.
pub type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A handler.
pub enum Does {
    /// It answers on the spot, however long that takes.
    AtOnce(Box<dyn Fn(&Request) -> Answer + Send + Sync>),
    /// It lets others work while it waits.
    Later(Box<dyn Fn(&Request) -> Answering + Send + Sync>),
}

/// A handler, and the path that it is for.
#[derive(Clone)]
pub struct Work {
    does: Arc<Does>,
    path: Option<Arc<str>>,
}

impl Work {
    /// From `KIND` or `KIND=VALUE`; the database is opened if the kind wants one.
    ///
    /// # Errors
    /// If there is no such kind, or its value makes no sense, or the database cannot be had.
    pub fn parse(
        text: &str,
        path: Option<String>,
        database: impl FnOnce() -> Result<Pool, Error>,
    ) -> Result<Self, Error> {
        let (kind, value) = text.split_once('=').unwrap_or((text, ""));
        let time = || humantime::parse_duration(value).map_err(|error| Error::Usage(format!("{value:?}: {error}")));
        let number = || value.parse::<u32>().map_err(|error| Error::Usage(format!("{value:?}: {error}")));
        let does = match kind {
            "none" => at_once(|_| Answer::hello()),
            "sleep" => on_thread(time()?, thread::sleep),
            "burn" => on_thread(time()?, burn),
            "lock-sleep" => on_thread(time()?, locked(thread::sleep)),
            "lock-burn" => on_thread(time()?, locked(burn)),
            "errors" => errors(number()?),
            "async-sleep" => async_sleep(time()?),
            "async-lock" => async_lock(time()?),
            "bucket" => limiter::bucket(number()?),
            "pace" => limiter::pace(number()?),
            "per-address" => limiter::per_address(number()?),
            "sql" => database()?.statements(1, value),
            "many-sql" => database()?.statements(40, value),
            "rows" => database()?.rows(value),
            _ => return Err(Error::Usage(format!("there is no work {kind:?}"))),
        };
        Ok(Self { does: Arc::new(does), path: path.map(Into::into) })
    }

    /// What is to be done for a request.
    pub fn of(&self, request: &Request) -> Option<&Does> {
        self.path.as_deref().is_none_or(|path| path == request.path).then_some(&*self.does)
    }

    /// Whether it can be done on any thread.
    pub fn is_at_once(&self) -> bool {
        matches!(*self.does, Does::AtOnce(_))
    }
}

impl Does {
    /// The answer, on this thread.
    pub fn on_the_spot(&self, request: &Request) -> Answer {
        match self {
            Self::AtOnce(does) => does(request),
            Self::Later(_) => Answer::status(500),
        }
    }
}

fn at_once(does: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Does {
    Does::AtOnce(Box::new(does))
}

/// One of the `Later` kind.
pub fn later<F: Future<Output = Answer> + Send + 'static>(
    does: impl Fn(&Request) -> F + Send + Sync + 'static,
) -> Does {
    Does::Later(Box::new(move |request| Box::pin(does(request))))
}

fn on_thread(time: Duration, spend: impl Fn(Duration) + Send + Sync + 'static) -> Does {
    at_once(move |_| {
        spend(time);
        Answer::hello()
    })
}

/// The same for one thread at a time.
fn locked(spend: fn(Duration)) -> impl Fn(Duration) + Send + Sync {
    let lock = Mutex::new(());
    move |time| {
        let _held = lock.lock().expect("nobody panics who holds it");
        spend(time);
    }
}

fn errors(percent: u32) -> Does {
    at_once(move |_| if fastrand::u32(..100) < percent { Answer::status(500) } else { Answer::hello() })
}

fn async_sleep(time: Duration) -> Does {
    later(move |_| async move {
        tokio::time::sleep(time).await;
        Answer::hello()
    })
}

fn async_lock(time: Duration) -> Does {
    let lock = Arc::new(tokio::sync::Mutex::new(()));
    later(move |_| {
        let lock = lock.clone();
        async move {
            let _held = lock.lock().await;
            tokio::time::sleep(time).await;
            Answer::hello()
        }
    })
}
