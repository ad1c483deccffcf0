//! XPath 1.0 on HTML and XML. Documents come from servers that are not trusted, so all that they can cost is bounded.
#![forbid(unsafe_code)]

mod ast;
mod axes;
mod evaluate;
mod found;
mod functions;
mod html;
mod lexer;
mod number;
mod parser;
#[cfg(test)]
mod tests;
mod tree;
mod xml;

pub use tree::{Kind, Name, Node, Tree};

use ast::Expr;
use found::Found;

/// An expression, compiled.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression(Expr);

/// What an expression finds.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// This many nodes.
    Nodes(usize),
    /// A string.
    Text(String),
    /// A number.
    Number(f64),
    /// A truth value.
    Boolean(bool),
}

/// Reads HTML.
///
/// # Errors
/// In words, if there is nothing, or the text is beyond a limit.
pub fn html(text: &str) -> Result<Tree, String> {
    html::parse(text)
}

/// Reads HTML into the tree that browsers make: with the elements that an author left out.
///
/// # Errors
/// In words, if the text is beyond a limit.
pub fn html_as_browsers(text: &str) -> Result<Tree, String> {
    html::parse_as_browsers(text)
}

/// Reads XML.
///
/// # Errors
/// In words, if the text is no well-formed XML, or is beyond a limit.
pub fn xml(text: &str) -> Result<Tree, String> {
    xml::parse(text)
}

impl Expression {
    /// Compiles an expression.
    ///
    /// # Errors
    /// In words, with the place, if the text is none.
    pub fn compile(text: &str) -> Result<Self, String> {
        parser::parse(text).map(Self)
    }

    /// Evaluates the expression at the root of a document. Prefixes are those of the document.
    ///
    /// # Errors
    /// In words, if the document declares a prefix nowhere, or the evaluation takes too long.
    pub fn evaluate(&self, tree: &Tree) -> Result<Outcome, String> {
        Ok(match evaluate::evaluate(&self.0, tree)? {
            Found::Nodes(nodes) => Outcome::Nodes(nodes.len()),
            Found::Text(text) => Outcome::Text(text.into_owned()),
            Found::Number(number) => Outcome::Number(number),
            Found::Boolean(boolean) => Outcome::Boolean(boolean),
        })
    }
}
