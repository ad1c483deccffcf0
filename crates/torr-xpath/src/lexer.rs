//! The tokens of an expression (XPath 1.0, section 3.7).

use super::number::is_space;

/// A token.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Token<'e> {
    /// A bracket, a slash or another sign that is no operator by its place alone.
    Sign(&'static str),
    /// An operator; also those that are words, and the `*` that multiplies.
    Operator(&'static str),
    Literal(&'e str),
    Number(f64),
    /// A name: prefix and local name.
    Name(Option<&'e str>, &'e str),
    /// `*`, `prefix:*`
    Wildcard(Option<&'e str>),
    Axis(&'e str),
}

/// A mistake: what, and the byte at which it stands.
pub type Mistake = (String, usize);

const SIGNS: &[&str] = &["::", "..", "(", ")", "[", "]", ".", "@", ",", "//", "/"];
const OPERATORS: &[&str] = &["!=", "<=", ">=", "|", "+", "-", "=", "<", ">"];
const WORDS: &[&str] = &["and", "or", "mod", "div"];

/// Returns the tokens, each with the byte at which it begins.
///
/// # Errors
/// Where something is no token.
pub fn tokens(text: &str) -> Result<Vec<(Token<'_>, usize)>, Mistake> {
    let mut tokens: Vec<(Token<'_>, usize)> = Vec::new();
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start_matches(is_space).len();
        let Some(next) = text[at..].chars().next() else { return Ok(tokens) };
        // After an operand, a `*` multiplies and a name is an operator.
        let after_operand = tokens.last().is_some_and(|(last, _)| is_end_of_operand(last));
        let (token, length) = token(&text[at..], next, after_operand).map_err(|what| (what, at))?;
        tokens.push((token, at));
        at += length;
    }
}

fn is_end_of_operand(token: &Token<'_>) -> bool {
    match token {
        Token::Sign(sign) => matches!(*sign, ")" | "]" | "." | ".."),
        Token::Operator(_) | Token::Axis(_) => false,
        Token::Literal(_) | Token::Number(_) | Token::Name(..) | Token::Wildcard(_) => true,
    }
}

fn token(text: &str, next: char, after_operand: bool) -> Result<(Token<'_>, usize), String> {
    if let quote @ ('"' | '\'') = next {
        let end = text[1..].find(quote).ok_or("expected a quote to close the string")?;
        return Ok((Token::Literal(&text[1..=end]), end + 2));
    }
    if next.is_ascii_digit() || (next == '.' && text[1..].starts_with(|c: char| c.is_ascii_digit())) {
        return number(text);
    }
    let known = |list: &'static [&'static str]| list.iter().find(|sign| text.starts_with(**sign)).copied();
    if let Some(sign) = known(SIGNS) {
        return Ok((Token::Sign(sign), sign.len()));
    }
    if let Some(operator) = known(OPERATORS) {
        return Ok((Token::Operator(operator), operator.len()));
    }
    match next {
        '*' if after_operand => Ok((Token::Operator("*"), 1)),
        '*' => Ok((Token::Wildcard(None), 1)),
        '$' => Err("XPath variables are not supported: use {{name}} instead".to_owned()),
        _ => name(text, after_operand),
    }
}

fn number(text: &str) -> Result<(Token<'_>, usize), String> {
    let digits = |from: usize| text[from..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |end| from + end);
    let whole = digits(0);
    let end = if text[whole..].starts_with('.') { digits(whole + 1) } else { whole };
    let number = text[..end].parse().map_err(|_| "invalid number".to_owned())?;
    Ok((Token::Number(number), end))
}

fn name(text: &str, after_operand: bool) -> Result<(Token<'_>, usize), String> {
    let first = part(text).ok_or_else(|| {
        let next: String = text.chars().take(1).collect();
        format!("unexpected '{next}'")
    })?;
    let end = first.len();
    if after_operand {
        let word = WORDS.iter().find(|word| **word == first).copied();
        return word
            .map(|word| (Token::Operator(word), end))
            .ok_or_else(|| format!("expected an operator, found '{first}'"));
    }
    let rest = &text[end..];
    if rest.trim_start_matches(is_space).starts_with("::") {
        return Ok((Token::Axis(first), end));
    }
    match rest.strip_prefix(':') {
        Some(rest) if rest.starts_with('*') => Ok((Token::Wildcard(Some(first)), end + 2)),
        Some(rest) => {
            let local = part(rest).ok_or_else(|| format!("expected a name after '{first}:'"))?;
            Ok((Token::Name(Some(first), local), end + 1 + local.len()))
        }
        None => Ok((Token::Name(None, first), end)),
    }
}

/// Returns the name without colon that the text begins with (Namespaces in XML 1.0, NCName).
fn part(text: &str) -> Option<&str> {
    let is_start = |c: char| c.is_alphabetic() || c == '_';
    let is_more = |c: char| is_start(c) || c.is_numeric() || matches!(c, '-' | '.' | '\u{b7}' | '\u{300}'..='\u{36f}');
    text.starts_with(is_start).then(|| &text[..text.find(|c| !is_more(c)).unwrap_or(text.len())])
}
