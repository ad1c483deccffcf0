//! Values that a file gives: what a predicate compares with, what a variable is defined as.

use crate::content::Content;
use crate::error::EvaluationError;
use crate::files::{Files, read};
use crate::hurl::{ParseError, Position, ast};
use crate::scope::{Names, Variables};
use crate::template::{Expression, Template};
use crate::value::Value;

/// A value of a file.
#[derive(Debug, Clone)]
pub enum Operand {
    /// A value that is known before the run.
    Value(Value),
    /// Text with placeholders.
    Template(Template),
    /// Content as text.
    Content(Box<Content>),
    /// An expression, whose value keeps its kind.
    Expression(Expression),
}

impl Operand {
    /// Compiles a value of a hurl file.
    ///
    /// # Errors
    /// Where a filter has a mistake, or a file cannot be read.
    pub fn compile(value: &ast::Value, at: Position, names: &mut Names, files: &dyn Files) -> Result<Self, ParseError> {
        Ok(match value {
            ast::Value::Null => Self::Value(Value::Null),
            ast::Value::Boolean(boolean) => Self::Value(Value::Boolean(*boolean)),
            ast::Value::Number(ast::Number::Integer(integer)) => Self::Value(Value::Integer(*integer)),
            ast::Value::Number(ast::Number::Large(digits)) => Self::Value(Value::Large(digits.clone())),
            ast::Value::Number(ast::Number::Float(float)) => Self::Value(Value::Float(*float)),
            ast::Value::Bytes(bytes) => Self::Value(Value::Bytes(bytes.clone())),
            ast::Value::Text(text) => match text.literal() {
                Some(literal) => Self::Value(Value::Text(literal.to_owned())),
                None => Self::Template(Template::compile(text, names)?),
            },
            ast::Value::Placeholder(expression) => Self::Expression(Expression::compile(expression, names)?),
            ast::Value::Content(body) => Self::Content(Box::new(Content::compile(body, at, names, files)?)),
            ast::Value::File(name) => Self::Value(Value::Bytes(read(name, at, files)?.1)),
        })
    }

    /// Returns the value.
    ///
    /// # Errors
    /// If a variable has no value.
    pub fn get(&self, variables: &Variables) -> Result<Value, EvaluationError> {
        Ok(match self {
            Self::Value(value) => value.clone(),
            Self::Content(content) => Value::Text(String::from_utf8_lossy(&content.build(variables)?.0).into_owned()),
            Self::Template(template) => Value::Text(template.render(variables)?.into_owned()),
            Self::Expression(expression) => expression.evaluate(variables)?.into_owned(),
        })
    }
}
