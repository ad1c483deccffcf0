//! The application server: worker threads, each with its own listener and loop, and handlers by path.
//!
//! ```no_run
//! use torr_serve::{App, Response};
//!
//! fn main() -> Result<(), torr_serve::ServeError> {
//!     App::new().get("/", |_| Response::html("<p>Hello, world!</p>")).serve("127.0.0.1:8080")
//! }
//! ```
//!
//! A handler is a function from a request to a response: a *simple controller*, called on the loop itself, which must
//! not block. [`App::get_async`] takes handlers that wait: they run as tasks of the same worker.
//!
//! [`App::router`] takes an `axum::Router`, or any other tower service of http types, for all that has no handler here.
//!
//! The hot path, from outside in: `worker` waits, `engine` moves bytes in stages, `http1` turns bytes into answers,
//! [`app`] finds the handler, `guest` calls a router.
#![deny(unsafe_code)]

mod answer_body;
pub mod app;
mod client;
mod context;
mod engine;
#[doc(hidden)]
pub mod fuzzing;
mod guest;
mod handover;
mod http1;
mod hyper_body;
mod mailbox;
mod owned;
mod pool;
mod request;
mod request_body;
mod response;
mod seats;
mod server;
mod settings;
mod stamp;
mod stream;
mod upload;
mod watched;
mod worker;

pub use app::App;
pub use client::Peer;
pub use request::Request;
pub use request_body::{BodyError, RequestBody};
pub use response::{Body, Response};
pub use server::{Bound, ServeError, Server, Stop};
pub use settings::Settings;
pub use stream::Stream;
