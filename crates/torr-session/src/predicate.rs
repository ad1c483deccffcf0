//! Predicates and asserts: whether a value is what it must be.

use crate::error::EvaluationError;
use crate::files::Files;
use crate::hurl::{ParseError, Position, ast};
use crate::operand::Operand;
use crate::query::{Query, Received};
use crate::scope::{Names, Variables};
use crate::template::{Compiled, Filter};
use crate::value::Value;
use chrono::DateTime;
use regex::Regex;
use std::cmp::Ordering;
use std::net::{Ipv4Addr, Ipv6Addr};
use uuid::Uuid;

/// An assert of an entry, compiled.
#[derive(Debug, Clone)]
pub struct Assert {
    query: Query,
    filters: Vec<Filter>,
    not: bool,
    predicate: Predicate,
    /// The place of the assert in its file.
    pub at: Position,
}

/// An assert that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// What was demanded.
    pub expected: String,
    /// What was there.
    pub actual: String,
}

impl Assert {
    /// Compiles an assert of a hurl file.
    ///
    /// # Errors
    /// Where an expression in it is none, or a file cannot be read.
    pub fn compile(assert: &ast::Assert, names: &mut Names, files: &dyn Files) -> Result<Self, ParseError> {
        let mut query = Query::compile(&assert.query, assert.at, names)?;
        let filters = Filter::compile_all(&assert.filters, assert.at, names)?;
        query.before(&filters);
        Ok(Self {
            query,
            filters,
            not: assert.not,
            predicate: Predicate::compile(&assert.predicate, assert.at, names, files)?,
            at: assert.at,
        })
    }

    /// Whether the assert is about the status code.
    pub fn is_of_status(&self) -> bool {
        matches!(self.query, Query::Plain(ast::Query::Status))
    }

    /// Whether the assert looks at the content of a response.
    pub fn needs_content(&self) -> bool {
        self.query.needs_content()
    }

    /// Checks a response.
    ///
    /// # Errors
    /// If the assert does not hold.
    pub fn check(&self, received: &Received<'_>, variables: &Variables) -> Result<(), Failed> {
        let not = if self.not { "not " } else { "" };
        let is_negated_exists = self.not && matches!(self.predicate, Predicate::Plain(ast::Predicate::Exists));
        let expected = |words: String| if is_negated_exists { "nothing".to_owned() } else { format!("{not}{words}") };
        let failed = |error: EvaluationError| Failed {
            expected: expected(self.predicate.words(variables).unwrap_or_else(|_| "a value".to_owned())),
            actual: error.0,
        };
        let value = self.query.evaluate(received, variables).map_err(failed)?;
        let value = Filter::apply_all(&self.filters, value, variables).map_err(failed)?;
        let actual = || value.as_ref().map_or("nothing".to_owned(), Value::describe);
        let held = match &value {
            // What is not there has no property but that of not being there.
            None => Some(false),
            Some(value) => self.predicate.holds(value, variables).map_err(failed)?,
        };
        match held {
            Some(held) if held != self.not => Ok(()),
            // A value of a kind that the predicate is not for fails the negated predicate as well.
            _ => Err(Failed { expected: expected(self.predicate.words(variables).map_err(failed)?), actual: actual() }),
        }
    }
}

/// A predicate, its value compiled.
#[derive(Debug, Clone)]
enum Predicate {
    /// A comparison with a value.
    Compares(Comparison, Operand),
    /// `matches`
    Matches(Compiled<Regex>),
    /// A predicate without a value.
    Plain(ast::Predicate),
}

#[derive(Debug, Clone, Copy)]
enum Comparison {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    StartsWith,
    EndsWith,
    Contains,
    Includes,
}

impl Predicate {
    fn compile(
        predicate: &ast::Predicate,
        at: Position,
        names: &mut Names,
        files: &dyn Files,
    ) -> Result<Self, ParseError> {
        use ast::Predicate as P;
        let (comparison, value) = match predicate {
            P::Equal(value) => (Comparison::Equal, value),
            P::NotEqual(value) => (Comparison::NotEqual, value),
            P::Greater(value) => (Comparison::Greater, value),
            P::GreaterOrEqual(value) => (Comparison::GreaterOrEqual, value),
            P::Less(value) => (Comparison::Less, value),
            P::LessOrEqual(value) => (Comparison::LessOrEqual, value),
            P::StartsWith(value) => (Comparison::StartsWith, value),
            P::EndsWith(value) => (Comparison::EndsWith, value),
            P::Contains(value) => (Comparison::Contains, value),
            P::Includes(value) => (Comparison::Includes, value),
            P::Matches(pattern) => return Ok(Self::Matches(Compiled::pattern(pattern, at, names)?)),
            plain => return Ok(Self::Plain(plain.clone())),
        };
        Ok(Self::Compares(comparison, Operand::compile(value, at, names, files)?))
    }

    /// Whether the value is as demanded; `None` if the predicate is not for values of this kind.
    fn holds(&self, value: &Value, variables: &Variables) -> Result<Option<bool>, EvaluationError> {
        Ok(match self {
            Self::Compares(comparison, operand) => comparison.holds(value, &operand.get(variables)?),
            Self::Matches(pattern) => match value {
                Value::Text(text) => Some(pattern.get(variables)?.is_match(text)),
                _ => None,
            },
            Self::Plain(plain) => plain_holds(plain, value),
        })
    }

    /// Returns the demand in words.
    fn words(&self, variables: &Variables) -> Result<String, EvaluationError> {
        Ok(match self {
            Self::Compares(comparison, operand) => {
                let words = match comparison {
                    Comparison::Equal => "",
                    Comparison::NotEqual => "other than ",
                    Comparison::Greater => "greater than ",
                    Comparison::GreaterOrEqual => "at least ",
                    Comparison::Less => "less than ",
                    Comparison::LessOrEqual => "at most ",
                    Comparison::StartsWith => "starts with ",
                    Comparison::EndsWith => "ends with ",
                    Comparison::Contains => "contains ",
                    Comparison::Includes => "includes ",
                };
                format!("{words}{}", operand.get(variables)?.describe())
            }
            Self::Matches(pattern) => format!("matches /{}/", pattern.get(variables)?.as_str()),
            Self::Plain(ast::Predicate::Exists) => "something".to_owned(),
            Self::Plain(plain) => {
                let name = format!("{plain:?}");
                format!("{}{}", name[..1].to_ascii_lowercase(), &name[1..])
            }
        })
    }
}

impl Comparison {
    fn holds(self, actual: &Value, expected: &Value) -> Option<bool> {
        let ordered = |fits: fn(Ordering) -> bool| actual.compare(expected).map(fits);
        match self {
            Self::Equal => Some(actual == expected),
            Self::NotEqual => Some(actual != expected),
            Self::Greater => ordered(Ordering::is_gt),
            Self::GreaterOrEqual => ordered(Ordering::is_ge),
            Self::Less => ordered(Ordering::is_lt),
            Self::LessOrEqual => ordered(Ordering::is_le),
            Self::StartsWith | Self::EndsWith | Self::Contains | Self::Includes => self.holds_part(actual, expected),
        }
    }

    fn holds_part(self, actual: &Value, expected: &Value) -> Option<bool> {
        match (actual, expected) {
            (Value::List(items), _) if matches!(self, Self::Contains | Self::Includes) => {
                Some(items.contains(expected))
            }
            (Value::Text(actual), Value::Text(expected)) => match self {
                Self::StartsWith => Some(actual.starts_with(expected.as_str())),
                Self::EndsWith => Some(actual.ends_with(expected.as_str())),
                Self::Contains => Some(actual.contains(expected.as_str())),
                _ => None,
            },
            (Value::Bytes(actual), Value::Bytes(expected)) => match self {
                Self::StartsWith => Some(actual.starts_with(expected)),
                Self::EndsWith => Some(actual.ends_with(expected)),
                Self::Contains => {
                    Some(expected.is_empty() || actual.windows(expected.len()).any(|window| window == expected))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

fn plain_holds(predicate: &ast::Predicate, value: &Value) -> Option<bool> {
    use ast::Predicate as P;
    let text = if let Value::Text(text) = value { Some(text.as_str()) } else { None };
    let is_integer = matches!(value, Value::Integer(_) | Value::Large(_));
    let is_float = matches!(value, Value::Float(_));
    Some(match predicate {
        P::Exists => !matches!(value, Value::Nodes(0)),
        P::IsBoolean => matches!(value, Value::Boolean(_)),
        P::IsCollection => matches!(value, Value::List(_) | Value::Object(_) | Value::Bytes(_) | Value::Nodes(_)),
        P::IsDate => matches!(value, Value::Date(_)),
        P::IsEmpty => return value.count().map(|count| count == 0),
        P::IsFloat => is_float,
        P::IsInteger => is_integer,
        P::IsIpv4 => text?.parse::<Ipv4Addr>().is_ok(),
        P::IsIpv6 => text?.parse::<Ipv6Addr>().is_ok(),
        P::IsIsoDate => DateTime::parse_from_rfc3339(text?).is_ok(),
        P::IsList => matches!(value, Value::List(_) | Value::Bytes(_)),
        P::IsNumber => is_integer || is_float,
        P::IsObject => matches!(value, Value::Object(_) | Value::Nodes(_)),
        P::IsString => text.is_some(),
        P::IsUuid => Uuid::try_parse(text?).is_ok(),
        with_value => unreachable!("{with_value:?} has a value, so it was compiled to its own variant"),
    })
}
