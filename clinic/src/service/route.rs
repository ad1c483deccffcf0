//! Routes: what the service does for each request, and for which path.

use super::burn::burn;
use super::database::Pool;
use super::handler::{Handler, at_once, later};
use super::http::{Request, Response};
use super::limiter;
use super::permits;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use torr_test_support::error::Error;

/// A handler and its path.
#[derive(Clone)]
pub struct Route {
    handler: Arc<Handler>,
    path: Option<Arc<str>>,
}

impl Route {
    /// Parses `KIND` or `KIND=VALUE`. `database` is called if the kind needs one.
    ///
    /// # Errors
    /// If there is no such kind, or its value cannot be parsed, or there is no database.
    pub fn parse(
        text: &str,
        path: Option<String>,
        database: impl FnOnce() -> Result<Pool, Error>,
    ) -> Result<Self, Error> {
        let (kind, value) = text.split_once('=').unwrap_or((text, ""));
        let time = || humantime::parse_duration(value).map_err(|error| Error::Usage(format!("{value:?}: {error}")));
        let number = || value.parse::<u32>().map_err(|error| Error::Usage(format!("{value:?}: {error}")));
        let handler = match kind {
            "none" => at_once(|_| Response::hello()),
            "sleep" => on_thread(time()?, thread::sleep),
            "burn" => on_thread(time()?, burn),
            "lock-sleep" => on_thread(time()?, locked(thread::sleep)),
            "lock-burn" => on_thread(time()?, locked(burn)),
            "semaphore" => permits::waiting(value)?,
            "errors" => errors(number()?),
            "async-sleep" => async_sleep(time()?),
            "async-lock" => async_lock(time()?),
            "bucket" => limiter::bucket(number()?),
            "pace" => limiter::pace(number()?),
            "per-address" => limiter::per_address(number()?),
            "refusing" => permits::refusing(value)?,
            "query-then-call" => database()?.query_then_call(value),
            "sql" => database()?.statements(1, value),
            "many-sql" => database()?.statements(40, value),
            "rows" => database()?.rows(value),
            _ => return Err(Error::Usage(format!("there is no handler {kind:?}"))),
        };
        Ok(Self { handler: Arc::new(handler), path: path.map(Into::into) })
    }

    /// Returns the handler of a request. `None` if the request is for another path.
    pub fn of(&self, request: &Request) -> Option<&Handler> {
        self.path.as_deref().is_none_or(|path| path == request.path).then_some(&*self.handler)
    }

    /// Whether the handler is a blocking one.
    pub fn is_at_once(&self) -> bool {
        matches!(*self.handler, Handler::AtOnce(_))
    }
}

fn on_thread(time: Duration, spend: impl Fn(Duration) + Send + Sync + 'static) -> Handler {
    at_once(move |_| {
        spend(time);
        Response::hello()
    })
}

/// Wraps `spend` in a lock.
fn locked(spend: fn(Duration)) -> impl Fn(Duration) + Send + Sync {
    let lock = Mutex::new(());
    move |time| {
        let _held = lock.lock().expect("no holder panics");
        spend(time);
    }
}

fn errors(percent: u32) -> Handler {
    at_once(move |_| if fastrand::u32(..100) < percent { Response::status(500) } else { Response::hello() })
}

fn async_sleep(time: Duration) -> Handler {
    later(move |_| async move {
        tokio::time::sleep(time).await;
        Response::hello()
    })
}

fn async_lock(time: Duration) -> Handler {
    let lock = Arc::new(tokio::sync::Mutex::new(()));
    later(move |_| {
        let lock = lock.clone();
        async move {
            let _held = lock.lock().await;
            tokio::time::sleep(time).await;
            Response::hello()
        }
    })
}
