//! The server side: `torr serve`, `torr demo` and `torr watch`, seen from their clients.

mod access_log;
mod bad_clients;
mod blocking;
mod cache;
mod config;
mod corpus;
mod database;
mod demo;
mod files;
mod h2spec;
mod http;
mod http3;
mod limits;
mod lossy_relay;
mod metrics;
mod proxy;
mod reload;
mod standard_error;
mod supervisor;
mod systemd;
mod techempower;
mod tls;
mod watch;
