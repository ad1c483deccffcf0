//! Templates, filters and patterns from those of a hurl file, before the run.

use super::{Compiled, Expression, Filter, Index, JsonQuery, Piece, Source, Template};
use crate::hurl::{ParseError, Position, ast, filter_name};
use crate::pattern::Compile;
use crate::scope::Names;
use regex::Regex;

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
        let filters = Filter::compile_all(&expression.filters, expression.at, names)?;
        Ok(Self { source, name, filters, at: expression.at })
    }
}

impl Filter {
    /// Compiles the filters of a hurl file.
    ///
    /// # Errors
    /// Where a pattern or an encoding's name is none.
    pub fn compile_all(filters: &[ast::Filter], at: Position, names: &mut Names) -> Result<Vec<Self>, ParseError> {
        let mut filters: Vec<_> =
            filters.iter().map(|filter| Self::compile(filter, at, names)).collect::<Result<_, _>>()?;
        for at in 0..filters.len() {
            let (before, after) = filters.split_at_mut(at + 1);
            if let Self::JsonPath(query) = &mut before[at] {
                query.before(after);
            }
        }
        Ok(filters)
    }

    fn compile(filter: &ast::Filter, at: Position, names: &mut Names) -> Result<Self, ParseError> {
        let mut template = |template: &ast::Template| Template::compile(template, names);
        Ok(match filter {
            ast::Filter::DateFormat(format) => Self::DateFormat(template(format)?),
            ast::Filter::ToDate(format) => Self::ToDate(template(format)?),
            ast::Filter::Replace(old, new) => Self::Replace(template(old)?, template(new)?),
            ast::Filter::Split(separator) => Self::Split(template(separator)?),
            ast::Filter::UrlQueryParameter(name) => Self::UrlQueryParameter(template(name)?),
            ast::Filter::Nth(ast::Index::Number(number)) => Self::Nth(Index::Number(*number)),
            ast::Filter::Nth(ast::Index::Placeholder(expression)) => {
                Self::Nth(Index::Expression(Expression::compile(expression, names)?))
            }
            ast::Filter::JsonPath(path) => Self::JsonPath(JsonQuery::compile(path, at, names)?),
            ast::Filter::Regex(pattern) => Self::Regex(Compiled::pattern(pattern, at, names)?),
            ast::Filter::ReplaceRegex(pattern, new) => {
                Self::ReplaceRegex(Compiled::pattern(pattern, at, names)?, Template::compile(new, names)?)
            }
            ast::Filter::Decode(name) => Self::Decode(Compiled::new(name, at, names)?),
            ast::Filter::XPath(path) => Self::XPath(Compiled::new(path, at, names)?),
            plain => Self::Plain(plain.clone(), filter_name(plain)),
        })
    }
}

impl JsonQuery {
    /// Compiles an expression of a hurl file.
    ///
    /// # Errors
    /// If the text is no JSONPath expression.
    pub fn compile(path: &ast::Template, at: Position, names: &mut Names) -> Result<Self, ParseError> {
        Ok(Self { keeps_lists: names.keeps_json_lists, feeds_list: false, path: Compiled::new(path, at, names)? })
    }

    /// Lets the results be a list where the first of these filters is for lists.
    pub fn before(&mut self, filters: &[Filter]) {
        use ast::Filter as F;
        self.feeds_list = match filters.first() {
            Some(Filter::Nth(_)) => true,
            Some(Filter::Plain(plain, _)) => matches!(plain, F::Count | F::First | F::Last),
            _ => false,
        };
    }
}

impl<T: Compile> Compiled<T> {
    /// Compiles text of a hurl file.
    ///
    /// # Errors
    /// If the text is no such expression.
    pub fn new(template: &ast::Template, at: Position, names: &mut Names) -> Result<Self, ParseError> {
        match template.literal() {
            Some(text) => Self::ready(text, at),
            None => Template::compile(template, names).map(Self::Late),
        }
    }

    fn ready(text: &str, at: Position) -> Result<Self, ParseError> {
        T::compile(text).map(|ready| Self::Ready(Box::new(ready))).map_err(|message| ParseError { at, message })
    }
}

impl Compiled<Regex> {
    /// Compiles a pattern of a hurl file.
    ///
    /// # Errors
    /// If the pattern is no regular expression.
    pub fn pattern(pattern: &ast::Pattern, at: Position, names: &mut Names) -> Result<Self, ParseError> {
        match pattern {
            ast::Pattern::Literal(text) => Self::ready(text, at),
            ast::Pattern::Template(template) => Self::new(template, at, names),
        }
    }
}
