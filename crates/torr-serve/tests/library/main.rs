//! The library in this process: applications on a server with one worker, seen by its clients.

mod access_log;
mod answers;
mod app;
mod blocking;
mod cancellation;
mod dates;
mod http2;
mod panics;
mod processes;
mod proxies;
mod router;
mod runtime;
mod settings;
mod stopping;
mod support;
mod timeouts;
mod tls;
mod upgrade;
mod uploads;
mod uploads_cut;
mod websocket;
