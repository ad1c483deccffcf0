//! The examples serve as their first lines promise.

#[path = "../support/mod.rs"]
mod support;

mod compression;
mod cors;
mod errors;
mod extractors;
mod files;
mod graceful;
mod hosting;
mod middleware;
mod program;
mod routing;
mod sessions;
mod sse;
mod templates;
mod upload;
mod websocket;
