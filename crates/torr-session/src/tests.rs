//! Tests of the crate by its public parts: asserts on one response, walks through files.

mod asserts;
mod walks;
