//! Descriptions of requests that people have, turned into hurl files that a person would want to read. Nothing is dropped
//! silently: what cannot be carried over stands in a comment at its place and in the summary.
#![forbid(unsafe_code)]

pub mod apipost;
pub mod artillery;
pub mod bruno;
mod content;
mod css;
pub mod curl;
mod dotenv;
mod draft;
mod dynamic;
mod form;
pub mod har;
pub mod httpfile;
pub mod insomnia;
mod javascript;
pub mod jmeter;
mod json_path;
mod line;
#[cfg(test)]
mod made;
mod multipart;
mod node;
pub mod openapi;
mod parts;
mod pattern;
pub mod postman;
mod reader;
mod reason;
mod script;
mod secret;
mod target;
mod variables;

pub use draft::{Draft, DraftEntry, ImportError, LeftOut, Secret};
