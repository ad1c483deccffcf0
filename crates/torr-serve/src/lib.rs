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
//! not block. [`App::get_async`] takes handlers that wait: they run as tasks of the same worker. [`App::get_blocking`] takes
//! handlers that block: they run on threads of their own.
//!
//! [`App::router`] takes an `axum::Router`, or any other tower service of http types, for all that has no handler here.
//!
//! # Features
//!
//! `tls-ring` and `tls-aws-lc-rs` choose the cryptography of [`Settings::tls`]. Neither is on by itself: a provider that a
//! library turns on leaves rustls without a default in each program that has another one. Without a feature TLS takes the
//! process's default provider.
//!
//! # How it is made
//!
//! The hot path, from outside in: `worker` waits, `conn::engine` moves bytes in stages, `conn::http1` turns bytes into
//! responses, [`app`] finds the handler, `app::router` calls a router. HTTP/2 and what an `Upgrade` leads to leave it by
//! `conn::handover`.
#![deny(unsafe_code)]

pub mod app;
mod callbacks;
mod client;
mod conn;
mod context;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod message;
mod observe;
mod process;
mod server;
mod settings;
mod worker;

pub use app::App;
pub use client::forwarded::{Forwarded, ForwardedField, NotTrusted, Scheme, Trusted};
pub use client::proxy_protocol::ProxyProtocol;
pub use client::request_id::RequestId;
pub use client::{Origin, Peer, Tls};
pub use error::ServeError;
pub use http;
pub use message::body_error::BodyError;
pub use message::request::Request;
pub use message::request_body::RequestBody;
pub use message::response::{Body, Response};
pub use message::stream::Stream;
pub use observe::access_log::{LogFormat, LogTarget};
pub use observe::metric::Metric;
pub use process::inherited::worker_number;
pub use server::{Bound, Server, Stop};
pub use settings::Settings;
pub use torr_net::tls::ServerTlsSettings as TlsSettings;
