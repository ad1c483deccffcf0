//! The examples serve as their first lines promise.

mod blocking;
mod compression;
mod controllers;
mod cors;
mod database;
mod embedded;
mod errors;
mod extractors;
mod files;
mod graceful;
mod guide;
mod hosting;
mod middleware;
mod one_line;
mod program;
mod routing;
mod service;
mod sessions;
mod sse;
mod templates;
mod upload;
mod websocket;
