//! The application server: worker threads, each with its own listener and event loop, and handlers by path.
//!
//! ```no_run
//! use torr_serve::{App, Response};
//!
//! fn main() -> Result<(), torr_serve::ServeError> {
//!     App::new().get("/", |_| Response::html("<p>Hello, world!</p>")).serve("127.0.0.1:8080")
//! }
//! ```
//!
//! A *simple controller* is a function from a request to a response, called on the event loop, which must not block.
//! [`App::get_async`] takes async handlers, which run as tasks of the same worker. [`App::get_blocking`] takes blocking handlers,
//! which run on threads of a pool.
//!
//! [`App::router`] takes an `axum::Router`, or any other tower service of http types, for all requests without a handler.
//!
//! In an async program, [`serve()`] replaces `axum::serve`.
//!
//! # Features
//!
//! `tls-ring` and `tls-aws-lc-rs` choose the cryptography of [`Settings::tls`]. Neither is on by default: if a library turns a
//! provider on, programs with another one have no default in rustls. Without a feature TLS uses the process's default provider.
//!
//! `http3` adds HTTP/3 ([`Settings::http3`]), which needs one of the two.
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
mod computing;
mod conn;
mod error;
mod files;
#[doc(hidden)]
pub mod fuzzing;
mod in_runtime;
mod message;
mod observe;
mod process;
mod serve;
mod server;
mod settings;
mod worker;

pub use app::App;
pub use client::connection_info::{ConnectionInfo, UnixPeer};
pub use client::forwarded::{Forwarded, ForwardedField, NotTrusted, Scheme, Trusted};
pub use client::proxy_protocol::ProxyProtocol;
pub use client::request_id::RequestId;
pub use client::{Origin, Peer, Tls};
pub use error::ServeError;
pub use files::Files;
pub use http;
pub use message::body_error::BodyError;
pub use message::request::Request;
pub use message::request_body::RequestBody;
pub use message::response::{Body, Response};
pub use message::stream::Stream;
pub use observe::access_log::{LogFormat, LogTarget};
pub use observe::metric::Metric;
pub use observe::standard_error::StandardError;
pub use process::adopted::Listener;
pub use process::inherited::worker_number;
pub use serve::into_app::{IntoApp, OfAddresses, OfRequests, Whole};
pub use serve::{Serve, serve};
pub use server::{Bound, Reload, Running, Server, Stop};
pub use settings::Settings;
pub use torr_net::tls::ServerTlsSettings as TlsSettings;

/// The code of the README is compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
