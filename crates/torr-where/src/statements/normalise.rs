//! Statements without their values, as they may be shown and compared.

mod lexer;
pub(crate) mod redis;
pub(crate) mod sql;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use lexer::{Lexer, Token};
pub(crate) use text::{Dialect, Text};
