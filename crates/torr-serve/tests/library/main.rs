//! The library in this process: applications on a server with one worker, seen by its clients.

mod access_log;
mod alike;
mod app;
mod blocking;
mod cancellation;
mod computing;
mod dates;
mod grpc;
mod held_up;
mod http2;
mod one_line;
mod panics;
mod processes;
mod proxies;
mod responses;
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
