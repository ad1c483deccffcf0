//! SQL without values: literals become `?`, lists of values collapse, comments are dropped.

use super::lexer::{Lexer, Token};
use super::text::{Dialect, Text};

/// The most bytes of SQL that are read. What follows cannot change the statement's beginning.
pub(crate) const INPUT: usize = 64 * 1024;

/// The most characters of a normalised statement.
pub const LENGTH: usize = 1000;

/// The most characters of a name. Databases permit 63 or 64; a longer one might be data.
const NAME: usize = 64;

/// The most statements of one text that are distinguished.
const STATEMENTS: usize = 32;

/// Words after which a sign belongs to the value that follows.
const BEFORE_VALUES: [&str; 16] = [
    "and", "between", "by", "else", "in", "like", "limit", "not", "offset", "or", "return", "select", "set", "then",
    "when", "where",
];

/// Words before a bracket that opens a list of values.
const LISTS: [&str; 5] = ["array", "in", "row", "value", "values"];

/// The words that a statement may be reduced to where a literal's end is in doubt.
const VERBS: [&str; 14] = [
    "alter", "begin", "call", "commit", "create", "delete", "drop", "insert", "replace", "select", "set", "update",
    "with", "merge",
];

/// Returns the statements of a text, without their values. A text of more than [`STATEMENTS`] has none.
///
/// `is_cut` says that the text goes on behind what is given.
pub(crate) fn statements(sql: &[u8], dialect: Dialect, is_cut: bool) -> Vec<Text> {
    let is_cut = is_cut || sql.len() > INPUT;
    let sql = &sql[..sql.len().min(INPUT)];
    let mut lexer = Lexer::new(sql, dialect);
    let mut statements = Vec::new();
    let mut statement = Statement::default();
    while let Some(token) = lexer.next() {
        if token.is(b";") {
            if !statement.tokens.is_empty() {
                statements.push(std::mem::take(&mut statement));
            }
            if statements.len() > STATEMENTS {
                return Vec::new();
            }
        } else {
            statement.push(token, lexer.has_space);
        }
    }
    if !statement.tokens.is_empty() {
        statements.push(statement);
    }
    // What a literal without an end hides is unknown, and so is whether the text before it was no literal.
    if lexer.is_doubtful && !is_cut {
        let verb = statements.first().and_then(Statement::verb);
        return verb.map(|verb| Text::new(format!("{verb} ?"))).into_iter().collect();
    }
    let last = statements.len();
    let texts = statements.iter().enumerate();
    texts.map(|(number, statement)| Text::new(statement.text(is_cut && number + 1 == last))).collect()
}

/// A statement's tokens, each with whether a blank preceded it. Lists are collapsed as they end.
#[derive(Debug, Default)]
struct Statement<'s> {
    tokens: Vec<(Token<'s>, bool)>,
    /// The positions of brackets that are open.
    open: Vec<usize>,
}

impl<'s> Statement<'s> {
    fn before(&self, position: usize) -> Option<Token<'s>> {
        position.checked_sub(1).and_then(|position| self.tokens.get(position)).map(|&(token, _)| token)
    }

    fn push(&mut self, token: Token<'s>, has_space: bool) {
        let last = self.before(self.tokens.len());
        let is_constant = ["null", "true", "false", "default"].iter().any(|word| token.is_word(word));
        let follows_mark = last.is_some_and(|last| last.is(b"(") || last.is(b",") || last.is(b"="));
        if token == Token::Value || is_constant && follows_mark {
            self.push_value(has_space);
            return;
        }
        if token.is(b"(") || token.is(b"[") {
            self.open.push(self.tokens.len());
        }
        self.tokens.push((token, has_space));
        if (token.is(b")") || token.is(b"]"))
            && let Some(start) = self.open.pop()
        {
            self.collapse(start);
        }
    }

    fn push_value(&mut self, mut has_space: bool) {
        let length = self.tokens.len();
        match self.before(length) {
            // Adjacent literals are one.
            Some(Token::Value) => return,
            Some(sign) if (sign.is(b"-") || sign.is(b"+")) && self.is_sign(length - 1) => {
                has_space = self.tokens.pop().is_some_and(|(_, has_space)| has_space);
            }
            _ => {}
        }
        // The values of a list are one, as they come: a list may be longer than what is kept.
        let length = self.tokens.len();
        let follows_value =
            length >= 3 && self.tokens[length - 1].0.is(b",") && self.tokens[length - 2].0 == Token::Value;
        let is_in_list = self.open.last().is_some_and(|&start| start + 3 == length && self.is_list(start));
        if follows_value && is_in_list {
            self.tokens.pop();
        } else {
            self.tokens.push((Token::Value, has_space));
        }
    }

    /// Returns whether the bracket at this position opens a list, and not the arguments of a function.
    fn is_list(&self, start: usize) -> bool {
        match self.before(start) {
            Some(Token::Symbol(text)) => text == b"(" || text == b"[" || text == b"," || text == b"=",
            Some(word @ Token::Word(_)) => LISTS.iter().any(|keyword| word.is_word(keyword)),
            _ => false,
        }
    }

    /// Returns whether the symbol at this position is the sign of a value, and not an operator between two.
    fn is_sign(&self, position: usize) -> bool {
        match self.before(position) {
            None => true,
            Some(Token::Symbol(text)) => text != b")" && text != b"]",
            Some(word @ Token::Word(_)) => BEFORE_VALUES.iter().any(|keyword| word.is_word(keyword)),
            Some(Token::Value | Token::Quoted(_)) => false,
        }
    }

    /// Drops the group that begins at this position and ends here, if it equals the one before it.
    fn collapse(&mut self, start: usize) {
        let length = self.tokens.len() - start;
        if start > length && self.tokens[start - 1].0.is(b",") && self.is_list(start) {
            let earlier = self.tokens[start - 1 - length..start - 1].iter().map(|&(token, _)| token);
            if earlier.eq(self.tokens[start..].iter().map(|&(token, _)| token)) {
                self.tokens.truncate(start - 1);
            }
        }
    }

    /// Returns the statement's first word, if it is a known one.
    fn verb(&self) -> Option<String> {
        let first = self.tokens.first()?.0;
        VERBS.iter().find(|verb| first.is_word(verb)).map(|verb| verb.to_ascii_uppercase())
    }

    fn text(&self, is_cut: bool) -> String {
        let mut text = String::new();
        let mut length = 0;
        let mut last: Option<Token<'_>> = None;
        let is_open_list = is_cut && self.tokens.last().is_some_and(|&(token, _)| token.is(b","));
        for &(token, has_space) in &self.tokens[..self.tokens.len() - usize::from(is_open_list)] {
            let piece = match token {
                Token::Word(word) => name(word, false),
                Token::Quoted(word) => name(word, true),
                Token::Value => "?".into(),
                Token::Symbol(symbol) => String::from_utf8_lossy(symbol).replace(|c: char| c.is_control(), "?"),
            };
            let has_space = last.is_some_and(|last| is_apart(last, token, has_space));
            length += piece.chars().count() + usize::from(has_space);
            if length > LENGTH {
                text.push_str(" ...");
                return text;
            }
            if has_space {
                text.push(' ');
            }
            text.push_str(&piece);
            last = Some(token);
        }
        if is_cut {
            text.push_str(" ...");
        }
        text
    }
}

/// Returns whether a blank stands between two tokens.
fn is_apart(last: Token<'_>, token: Token<'_>, has_space: bool) -> bool {
    let is_one_of = |token: Token<'_>, symbols: &[&[u8]]| symbols.iter().any(|symbol| token.is(symbol));
    if is_one_of(token, &[b",", b")", b"]", b".", b"::"]) || is_one_of(last, &[b"(", b"[", b".", b"::"]) {
        return false;
    }
    let is_call = matches!(last, Token::Word(_) | Token::Quoted(_)) && is_one_of(token, &[b"(", b"["]);
    let is_list = ["in", "values", "and", "or", "not"].iter().any(|keyword| last.is_word(keyword));
    !is_call || has_space || is_list
}

/// Returns a name as text. What no usual name has becomes `?`.
fn name(word: &[u8], is_quoted: bool) -> String {
    let word = String::from_utf8_lossy(word);
    if word.chars().count() > NAME + 2 * usize::from(is_quoted) {
        return "?".into();
    }
    let is_usual = |c: char| {
        c.is_alphanumeric() || matches!(c, '_' | '$' | '@') || is_quoted && (c == ' ' || c.is_ascii_punctuation())
    };
    word.chars().map(|c| if is_usual(c) { c } else { '?' }).collect()
}
