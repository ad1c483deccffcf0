//! The hurl file format, read whole: source text in, a [`File`] or a [`ParseError`] with its place out; and written.
//!
//! The grammar is the one published at hurl.dev ("Grammar" and "File format"), with the spellings that earlier versions used. A
//! line decides by its beginning what it is (a request line, a status line, a section, a field, content), so the parser needs no
//! backtracking, and an error names the one place where the file stopped making sense.

pub mod ast;
mod body;
mod cursor;
mod error;
mod escape;
mod fenced;
mod filter;
mod json;
mod literal;
mod names;
mod option;
mod parse;
mod pieces;
mod predicate;
mod query;
mod section;
mod template;
#[cfg(test)]
mod tests;
mod value;
mod write;

pub use ast::File;
pub use error::{ParseError, Position};
pub use filter::filter_name;
pub use option::option_name;
pub use parse::parse;
pub use write::{entry as write_entry, write};
