//! HTTP/2 by prior knowledge: one router under `axum::serve` and under Torr, controllers beside it, limits and ends.

mod controllers;
mod ends;
mod hostile;
mod hosts;
mod raw;
mod resets;
mod router;
pub mod scene;
mod unread;
