//! Text with placeholders, ready to be filled in: templates, the expressions in them, and the filters of expressions, whose arguments
//! are templates again, or patterns that contain some.

mod compile;
mod evaluate;

use crate::hurl::{Position, ast};
use encoding_rs::Encoding;
use regex::Regex;
use serde_json_path::JsonPath;

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

/// A filter, its argument compiled.
#[derive(Debug, Clone)]
pub enum Filter {
    /// A filter without an argument, and its name for messages.
    Plain(ast::Filter, &'static str),
    /// `charsetDecode`
    Decode(Compiled<&'static Encoding>),
    /// `dateFormat`
    DateFormat(Template),
    /// `toDate`
    ToDate(Template),
    /// `jsonpath`
    JsonPath(JsonQuery),
    /// `nth`
    Nth(Index),
    /// `regex`
    Regex(Compiled<Regex>),
    /// `replace`
    Replace(Template, Template),
    /// `replaceRegex`
    ReplaceRegex(Compiled<Regex>, Template),
    /// `split`
    Split(Template),
    /// `urlQueryParam`
    UrlQueryParameter(Template),
    /// `xpath`
    XPath(Compiled<torr_xpath::Expression>),
}

/// The argument of `nth`, compiled.
#[derive(Debug, Clone)]
pub enum Index {
    /// A number of the file.
    Number(i64),
    /// An expression.
    Expression(Expression),
}

/// A JSONPath expression with what becomes of its results.
#[derive(Debug, Clone)]
pub struct JsonQuery {
    path: Compiled<JsonPath>,
    /// Whether results stay a list however many there are (the option `no-jsonpath-coercion`).
    keeps_lists: bool,
    /// Whether a filter takes the results that is for lists: the results of an expression that can find several are one.
    feeds_list: bool,
}

/// What is compiled from text: at once, or each time that its placeholders have been filled in.
#[derive(Debug, Clone)]
pub enum Compiled<T> {
    /// Text without placeholders.
    Ready(Box<T>),
    /// Text with placeholders.
    Late(Template),
}
