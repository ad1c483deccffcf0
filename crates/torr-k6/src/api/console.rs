//! The global `console`.
