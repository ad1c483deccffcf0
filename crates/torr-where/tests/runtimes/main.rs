//! Readers of runtimes against real services with known functions and locks, under load.

mod python;
mod service;
