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
//! The hot path, from outside in: `worker` waits, `engine` moves bytes in stages, `http1` turns bytes into answers,
//! [`app`] finds the handler, `guest` calls a router. HTTP/2 and what an `Upgrade` leads to leave it by `handover`.
#![deny(unsafe_code)]

mod access_log;
mod answer_body;
pub mod app;
mod background;
mod callbacks;
mod client;
mod context;
mod engine;
mod forwarded;
#[doc(hidden)]
pub mod fuzzing;
mod guest;
mod handover;
mod http1;
mod hyper_body;
mod in_async;
mod inherited;
mod listeners;
mod mailbox;
mod member;
mod metric;
mod owned;
mod paths;
mod pid_file;
mod pool;
mod proxy_protocol;
mod request;
mod request_body;
mod request_id;
mod response;
mod room;
mod seats;
mod server;
mod settings;
mod shutdown;
mod signals;
mod stamp;
mod stream;
mod supervisor;
mod systemd;
mod telemetry;
mod upload;
mod visit;
mod watched;
mod worker;

pub use access_log::{LogFormat, LogTarget};
pub use app::App;
pub use client::{Origin, Peer, Tls};
pub use forwarded::{Forwarded, ForwardedField, NotTrusted, Scheme, Trusted};
pub use http;
pub use inherited::worker_number;
pub use metric::Metric;
pub use proxy_protocol::ProxyProtocol;
pub use request::Request;
pub use request_body::{BodyError, RequestBody};
pub use request_id::RequestId;
pub use response::{Body, Response};
pub use server::{Bound, ServeError, Server, Stop};
pub use settings::Settings;
pub use stream::Stream;
pub use torr_net::tls::ServerTlsSettings as TlsSettings;
