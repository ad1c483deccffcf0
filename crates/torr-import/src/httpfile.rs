//! Files of requests as editors read them (`.http`, `.rest`), with environments: one entry for each request, in order.

mod authorization;
mod block;
mod condition;
mod content;
mod directive;
mod environment;
mod files;
mod function;
mod handler;
mod import;
mod lazy;
mod line;
mod made;
mod reference;
mod repeat;
mod request;
mod text;
mod url;

use crate::draft::{Draft, ImportError};
use crate::node::check_size;
use crate::reader::Reader;
use crate::variables::Variables;
use block::Block;
pub use environment::Environment;
use files::Files;

/// What an import reads beside the file.
pub struct Options<'o> {
    /// Files of variables, those that win last.
    pub environments: Vec<Environment>,
    /// The environment whose variables are used.
    pub environment: Option<String>,
    /// Reads a file by its path relative to the file of requests.
    pub read: &'o dyn Fn(&str) -> Result<Vec<u8>, String>,
}

/// Imports a file of requests.
///
/// # Errors
/// If the text is too large or has no request, or if no file has the environment.
pub fn import(text: &str, options: &Options<'_>) -> Result<Draft, ImportError> {
    check_size(text, "file of HTTP requests")?;
    let text = text.trim_start_matches('\u{feff}');
    let files = Files::new(options.read);
    let requests = import::read(block::blocks(text), &files);
    let imported = requests.blocks.iter().chain(&requests.imported).flat_map(Block::texts).flat_map(text::expressions);
    let names = text::expressions(text).chain(imported).filter(|name| text::is_name(name));
    let mut variables = Variables::of(names);
    environment::know(&options.environments, options.environment.as_deref(), &mut variables)?;
    let mut reader = Reader::new(variables);
    request::add_all(&mut reader, &requests, &files);
    reader.finish("the file has no HTTP requests")
}

#[cfg(test)]
mod tests;
