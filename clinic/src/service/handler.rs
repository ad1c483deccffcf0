//! The handler of a request, blocking or asynchronous.

use super::http::{Request, Response};
use std::pin::Pin;

/// The future of an asynchronous handler.
pub type ResponseFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A blocking or asynchronous handler.
pub enum Handler {
    /// The handler blocks its thread.
    AtOnce(Box<dyn Fn(&Request) -> Response + Send + Sync>),
    /// The handler returns a future.
    Later(Box<dyn Fn(&Request) -> ResponseFuture + Send + Sync>),
}

impl Handler {
    /// Calls a blocking handler.
    pub fn on_the_spot(&self, request: &Request) -> Response {
        match self {
            Self::AtOnce(handler) => handler(request),
            Self::Later(_) => Response::status(500),
        }
    }
}

/// Returns a blocking handler.
pub fn at_once(handler: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Handler {
    Handler::AtOnce(Box::new(handler))
}

/// Returns an asynchronous handler.
pub fn later<F: Future<Output = Response> + Send + 'static>(
    handler: impl Fn(&Request) -> F + Send + Sync + 'static,
) -> Handler {
    Handler::Later(Box::new(move |request| Box::pin(handler(request))))
}
