//! Readers of runtimes against real services with known functions and locks, under load.

mod java;
mod node;
mod python;
mod service;
