//! Templates and expressions with the values of variables: placeholders filled in, filters applied.

use super::{Compiled, Expression, Filter, Index, JsonQuery, Piece, Source, Template};
use crate::error::EvaluationError;
use crate::filter;
use crate::pattern::{Compile, is_singular};
use crate::scope::Variables;
use crate::value::Value;
use chrono::Utc;
use std::borrow::Cow;
use std::collections::BTreeSet;
use uuid::Uuid;

impl Template {
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

impl Expression {
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
        let missing = || EvaluationError(format!("the variable '{}' at {} has no value", self.name, self.at));
        let value = match &self.source {
            Source::Variable(number) => variables.get(*number).ok_or_else(missing)?.clone(),
            Source::NewUuid => Value::Text(Uuid::new_v4().to_string()),
            Source::NewDate => Value::Date(Utc::now()),
            Source::Environment(value) => Value::Text(value.clone().ok_or_else(missing)?),
        };
        let none = || EvaluationError(format!("the filters of '{}' at {} return no value", self.name, self.at));
        Filter::apply_all(&self.filters, Some(value), variables)?.map(Cow::Owned).ok_or_else(none)
    }
}

impl Filter {
    /// Applies filters in order. The last one may find nothing, which leaves no value.
    ///
    /// # Errors
    /// If a filter does not fit the value, or there is no value for it.
    pub fn apply_all(
        filters: &[Self],
        value: Option<Value>,
        variables: &Variables,
    ) -> Result<Option<Value>, EvaluationError> {
        let mut value = value;
        for filter in filters {
            let none = || EvaluationError(format!("no value for the filter {}", filter.name()));
            value = filter.apply(value.ok_or_else(none)?, variables)?;
        }
        Ok(value)
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Plain(_, name) => name,
            Self::Decode(_) => "charsetDecode",
            Self::DateFormat(_) => "dateFormat",
            Self::ToDate(_) => "toDate",
            Self::JsonPath(_) => "jsonpath",
            Self::Nth(_) => "nth",
            Self::Regex(_) => "regex",
            Self::Replace(..) => "replace",
            Self::ReplaceRegex(..) => "replaceRegex",
            Self::Split(_) => "split",
            Self::UrlQueryParameter(_) => "urlQueryParam",
            Self::XPath(_) => "xpath",
        }
    }

    fn apply(&self, value: Value, variables: &Variables) -> Result<Option<Value>, EvaluationError> {
        Ok(Some(match self {
            Self::Plain(plain, name) => return filter::plain(plain, name, value),
            Self::Decode(encoding) => filter::charset_decode(*encoding.get(variables)?, &value)?,
            Self::DateFormat(format) => filter::date_format(&format.render(variables)?, &value)?,
            Self::ToDate(format) => filter::to_date(&format.render(variables)?, &value)?,
            Self::JsonPath(path) => return path.evaluate(&filter::json(&value)?, variables),
            Self::Nth(index) => filter::nth(index.get(variables)?, value)?,
            Self::Regex(pattern) => return filter::regex(&*pattern.get(variables)?, &value),
            Self::Replace(old, new) => filter::replace(&old.render(variables)?, &new.render(variables)?, &value)?,
            Self::ReplaceRegex(pattern, new) => {
                filter::replace_regex(&*pattern.get(variables)?, &new.render(variables)?, &value)?
            }
            Self::Split(separator) => filter::split(&separator.render(variables)?, &value)?,
            Self::UrlQueryParameter(name) => return filter::url_query_parameter(&name.render(variables)?, &value),
            Self::XPath(path) => filter::xpath(&*path.get(variables)?, &value)?,
        }))
    }
}

impl Index {
    fn get(&self, variables: &Variables) -> Result<i64, EvaluationError> {
        let expression = match self {
            Self::Number(number) => return Ok(*number),
            Self::Expression(expression) => expression,
        };
        match &*expression.evaluate(variables)? {
            Value::Integer(number) => Ok(*number),
            other => Err(EvaluationError(format!("nth needs an integer, found {}", other.describe()))),
        }
    }
}

impl JsonQuery {
    /// Returns what the expression finds: nothing, one value as itself, several as a list.
    ///
    /// # Errors
    /// If a variable has no value, or the filled-in text is no JSONPath expression.
    pub fn evaluate(&self, json: &serde_json::Value, variables: &Variables) -> Result<Option<Value>, EvaluationError> {
        let path = self.path.get(variables)?;
        let found = path.query(json).all();
        let is_list = self.keeps_lists || self.feeds_list && !is_singular(&path.to_string());
        Ok(match &found[..] {
            [] if !is_list => None,
            [one] if !is_list => Some(Value::from_json(one)),
            several => Some(Value::List(several.iter().map(|json| Value::from_json(json)).collect())),
        })
    }
}

impl<T: Compile> Compiled<T> {
    /// Returns the compiled expression.
    ///
    /// # Errors
    /// If a variable has no value, or the filled-in text is no such expression.
    pub fn get(&self, variables: &Variables) -> Result<Cow<'_, T>, EvaluationError> {
        match self {
            Self::Ready(ready) => Ok(Cow::Borrowed(ready)),
            Self::Late(template) => T::compile(&template.render(variables)?).map(Cow::Owned).map_err(EvaluationError),
        }
    }
}
