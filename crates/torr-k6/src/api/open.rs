//! The global `open`.
