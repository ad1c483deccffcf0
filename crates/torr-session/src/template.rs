//! Text with placeholders, ready to be filled in.

use crate::error::EvaluationError;
use crate::filter::{self, Filter};
use crate::hurl::{ParseError, Position, ast};
use crate::scope::{Names, Variables};
use crate::value::Value;
use chrono::Utc;
use std::borrow::Cow;
use std::collections::BTreeSet;
use uuid::Uuid;

/// Text with placeholders.
#[derive(Debug, Clone, Default)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    /// A value as text.
    Plain(Expression),
    /// A value within a string of JSON.
    InJsonString(Expression),
    /// A value as JSON.
    Json(Expression),
}

impl Template {
    /// Returns a template of one text.
    pub fn text(text: &str) -> Self {
        Self { pieces: vec![Piece::Text(text.to_owned())] }
    }

    /// Prepares text of a hurl file.
    ///
    /// # Errors
    /// Where a filter of a placeholder has a mistake.
    pub fn compile(template: &ast::Template, names: &mut Names) -> Result<Self, ParseError> {
        let piece = |piece: &ast::Piece| {
            Ok(match piece {
                ast::Piece::Text(text) => Piece::Text(text.clone()),
                ast::Piece::Placeholder(expression) => Piece::Plain(Expression::compile(expression, names)?),
            })
        };
        Ok(Self { pieces: template.0.iter().map(piece).collect::<Result<_, _>>()? })
    }

    /// Prepares JSON of a hurl file.
    ///
    /// # Errors
    /// Where a filter of a placeholder has a mistake.
    pub fn compile_json(pieces: &[ast::JsonPiece], names: &mut Names) -> Result<Self, ParseError> {
        let piece = |piece: &ast::JsonPiece| {
            Ok(match piece {
                ast::JsonPiece::Text(text) => Piece::Text(text.clone()),
                ast::JsonPiece::InString(expression) => Piece::InJsonString(Expression::compile(expression, names)?),
                ast::JsonPiece::Value(expression) => Piece::Json(Expression::compile(expression, names)?),
            })
        };
        Ok(Self { pieces: pieces.iter().map(piece).collect::<Result<_, _>>()? })
    }

    /// Whether a URL of this text goes to one server in a whole run, in which variables with these numbers get new values.
    pub fn has_fixed_server(&self, changing: &BTreeSet<usize>) -> bool {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => {
                    // Without its scheme a text follows one that has a scheme, such as `{{base}}/items`.
                    let after_scheme = text.split_once("//").map_or(text.as_str(), |(_, rest)| rest);
                    if after_scheme.contains(['/', '?', '#']) {
                        return true;
                    }
                }
                Piece::Plain(expression) | Piece::Json(expression) | Piece::InJsonString(expression) => {
                    if expression.changes(changing) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Returns the text of a template without placeholders.
    pub fn literal(&self) -> Option<&str> {
        match &self.pieces[..] {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Appends the text with all placeholders filled in; if that fails, the text before the first that cannot be.
    ///
    /// # Errors
    /// If a variable has no value, or one that cannot be written into text.
    pub fn write(&self, variables: &Variables, out: &mut String) -> Result<(), EvaluationError> {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Plain(expression) => out.push_str(&expression.evaluate(variables)?.render()?),
                Piece::Json(expression) => out.push_str(&expression.evaluate(variables)?.in_json()?),
                Piece::InJsonString(expression) => {
                    let quoted = Value::Text(expression.evaluate(variables)?.render()?.into_owned()).to_json()?;
                    out.push_str(&quoted[1..quoted.len() - 1]);
                }
            }
        }
        Ok(())
    }

    /// Returns the text with all placeholders filled in.
    ///
    /// # Errors
    /// As [`Template::write`].
    pub fn render(&self, variables: &Variables) -> Result<Cow<'_, str>, EvaluationError> {
        if let Some(literal) = self.literal() {
            return Ok(literal.into());
        }
        let mut out = String::new();
        self.write(variables, &mut out)?;
        Ok(out.into())
    }
}

/// A variable or a function, and what is done to its value.
#[derive(Debug, Clone)]
pub struct Expression {
    source: Source,
    name: String,
    filters: Vec<Filter>,
    at: Position,
}

#[derive(Debug, Clone)]
enum Source {
    Variable(usize),
    NewUuid,
    NewDate,
    /// A variable of the environment, read before the run.
    Environment(Option<String>),
}

impl Expression {
    /// Prepares an expression of a hurl file.
    ///
    /// # Errors
    /// Where a filter has a mistake.
    pub fn compile(expression: &ast::Expression, names: &mut Names) -> Result<Self, ParseError> {
        let (source, name) = match &expression.source {
            ast::Source::Variable(name) => (Source::Variable(names.used(name, expression.at)), name.clone()),
            ast::Source::NewUuid => (Source::NewUuid, "newUuid".to_owned()),
            ast::Source::NewDate => (Source::NewDate, "newDate".to_owned()),
            ast::Source::Environment(name) => match names.refuses_environment {
                Some(why) => {
                    return Err(ParseError { at: expression.at, message: format!("getEnv \"{name}\" {why}") });
                }
                None => (Source::Environment(std::env::var(name).ok()), name.clone()),
            },
        };
        let filters = filter::compile(&expression.filters, expression.at, names)?;
        Ok(Self { source, name, filters, at: expression.at })
    }

    /// Whether the value may change in a run in which variables with these numbers get new values.
    fn changes(&self, changing: &BTreeSet<usize>) -> bool {
        match &self.source {
            Source::Variable(number) => changing.contains(number),
            Source::NewUuid | Source::NewDate => true,
            Source::Environment(_) => false,
        }
    }

    /// Returns the value.
    ///
    /// # Errors
    /// If the variable has no value, or a filter does not fit the value.
    pub fn evaluate(&self, variables: &Variables) -> Result<Cow<'_, Value>, EvaluationError> {
        let missing = || EvaluationError(format!("the variable '{}' of {} has no value", self.name, self.at));
        let value = match &self.source {
            Source::Variable(number) => variables.get(*number).ok_or_else(missing)?.clone(),
            Source::NewUuid => Value::Text(Uuid::new_v4().to_string()),
            Source::NewDate => Value::Date(Utc::now()),
            Source::Environment(value) => Value::Text(value.clone().ok_or_else(missing)?),
        };
        let none = || EvaluationError(format!("the filters of '{}' at {} leave no value", self.name, self.at));
        filter::apply(&self.filters, Some(value), variables)?.map(Cow::Owned).ok_or_else(none)
    }
}
