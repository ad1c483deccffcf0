//! The lexer of SQL: words, quoted names, symbols, and values of which only the place is kept.

use super::text::Dialect;

/// A token of a statement. A value has no text: its bytes stay in the lexer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'s> {
    /// A keyword or a name.
    Word(&'s [u8]),
    /// A name with its quotation marks.
    Quoted(&'s [u8]),
    /// A literal or a placeholder.
    Value,
    /// An operator or a punctuation mark.
    Symbol(&'s [u8]),
}

impl Token<'_> {
    /// Returns whether the token is this symbol.
    pub(crate) fn is(self, symbol: &[u8]) -> bool {
        matches!(self, Self::Symbol(text) if text == symbol)
    }

    /// Returns whether the token is this keyword, in any case.
    pub(crate) fn is_word(self, keyword: &str) -> bool {
        matches!(self, Self::Word(text) if text.eq_ignore_ascii_case(keyword.as_bytes()))
    }
}

/// Operators of several characters, the longest first.
const OPERATORS: [&[u8]; 17] = [
    b"->>", b"#>>", b"<=>", b"<=", b">=", b"<>", b"!=", b"||", b"&&", b"->", b"#>", b"::", b":=", b"=>", b"@>", b"<@",
    b"!~",
];

/// Splits SQL into tokens. Comments and blanks are dropped.
#[derive(Debug)]
pub(crate) struct Lexer<'s> {
    sql: &'s [u8],
    at: usize,
    dialect: Dialect,
    /// Whether blanks or a comment precede the last token.
    pub(super) has_space: bool,
    /// Whether a literal has no end, or might end elsewhere: text after it may be a value.
    pub(super) is_doubtful: bool,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(sql: &'s [u8], dialect: Dialect) -> Self {
        Self { sql, at: 0, dialect, has_space: false, is_doubtful: false }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.sql.get(self.at + ahead).copied()
    }

    fn starts_with(&self, text: &[u8]) -> bool {
        self.sql[self.at..].starts_with(text)
    }

    /// Moves to the first byte that does not satisfy a condition, and returns what was passed.
    fn take_while(&mut self, mut condition: impl FnMut(u8) -> bool) -> &'s [u8] {
        let rest = &self.sql[self.at..];
        let length = rest.iter().position(|&byte| !condition(byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Moves behind blanks and comments.
    fn skip_blanks(&mut self) {
        let start = self.at;
        loop {
            let is_mysql = self.dialect == Dialect::MySql;
            match self.peek(0) {
                Some(byte) if byte.is_ascii_whitespace() || byte == 0 => self.at += 1,
                // MySQL needs a blank after the dashes: `1--1` is arithmetic.
                Some(b'-')
                    if self.peek(1) == Some(b'-')
                        && (!is_mysql || self.peek(2).is_none_or(|byte| byte.is_ascii_whitespace())) =>
                {
                    self.take_while(|byte| byte != b'\n');
                }
                Some(b'#') if is_mysql => {
                    self.take_while(|byte| byte != b'\n');
                }
                Some(b'/') if self.peek(1) == Some(b'*') => self.skip_comment(),
                _ => break,
            }
        }
        self.has_space = self.at > start;
    }

    /// Moves behind a comment between `/*` and `*/`, which PostgreSQL nests.
    fn skip_comment(&mut self) {
        self.at += 2;
        let mut depth = 1;
        while depth > 0 {
            if self.at >= self.sql.len() {
                self.is_doubtful = true;
                return;
            }
            if self.starts_with(b"*/") {
                depth -= 1;
                self.at += 2;
            } else if self.starts_with(b"/*") && self.dialect == Dialect::Postgres {
                depth += 1;
                self.at += 2;
            } else {
                self.at += 1;
            }
        }
    }

    /// Moves behind a literal or a quoted name, which begins here with its quotation mark.
    fn skip_quoted(&mut self, has_escapes: bool) -> &'s [u8] {
        let start = self.at;
        let mark = self.sql[start];
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            if byte == b'\\' && mark != b'`' {
                if has_escapes {
                    self.at += 1;
                } else if mark == b'\'' && self.peek(0) == Some(mark) {
                    // The literal ends here or not, which a setting of the session decides.
                    self.is_doubtful = true;
                }
            } else if byte == mark {
                if self.peek(0) != Some(mark) {
                    return &self.sql[start..self.at];
                }
                self.at += 1;
            }
        }
        self.at = self.sql.len();
        self.is_doubtful = true;
        &self.sql[start..]
    }

    /// Moves behind a literal between two equal tags such as `$body$`, if one begins here.
    fn skip_dollars(&mut self) -> bool {
        let rest = &self.sql[self.at..];
        let Some(length) = rest[1..].iter().position(|&byte| byte == b'$') else { return false };
        let tag = &rest[..length + 2];
        if !tag[1..=length].iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80) {
            return false;
        }
        match memchr::memmem::find(&rest[tag.len()..], tag) {
            Some(end) => self.at += end + 2 * tag.len(),
            None => {
                self.at = self.sql.len();
                self.is_doubtful = true;
            }
        }
        true
    }

    fn number(&mut self) -> Token<'s> {
        let mut before = 0;
        self.take_while(|byte| {
            let is_sign_of_exponent = matches!(byte, b'+' | b'-') && matches!(before, b'e' | b'E');
            before = byte;
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || byte >= 0x80 || is_sign_of_exponent
        });
        Token::Value
    }

    fn word(&mut self) -> Token<'s> {
        let start = self.at;
        self.at += 1;
        self.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@') || byte >= 0x80);
        let word = &self.sql[start..self.at];
        // Literals with a prefix: E'..', X'..', B'..', N'..'.
        if self.peek(0) == Some(b'\'') && word.len() == 1 && matches!(word[0] | 0x20, b'e' | b'x' | b'b' | b'n') {
            self.skip_quoted(self.dialect == Dialect::MySql || word[0] | 0x20 == b'e');
            return Token::Value;
        }
        Token::Word(word)
    }

    fn symbol(&mut self) -> Token<'s> {
        let rest = &self.sql[self.at..];
        let length = OPERATORS.iter().find(|operator| rest.starts_with(operator)).map_or(1, |operator| operator.len());
        self.at += length;
        Token::Symbol(&rest[..length])
    }
}

impl<'s> Iterator for Lexer<'s> {
    type Item = Token<'s>;

    fn next(&mut self) -> Option<Token<'s>> {
        self.skip_blanks();
        let is_mysql = self.dialect == Dialect::MySql;
        let next = self.peek(1);
        Some(match self.peek(0)? {
            b'\'' => {
                self.skip_quoted(is_mysql);
                Token::Value
            }
            b'"' if is_mysql => {
                self.skip_quoted(true);
                Token::Value
            }
            b'"' => Token::Quoted(self.skip_quoted(false)),
            b'`' if is_mysql => Token::Quoted(self.skip_quoted(false)),
            b'$' if next.is_some_and(|byte| byte.is_ascii_digit()) => {
                self.at += 1;
                self.number()
            }
            b'$' if !is_mysql && self.skip_dollars() => Token::Value,
            b'?' if is_mysql => {
                self.at += 1;
                Token::Value
            }
            byte if byte.is_ascii_digit() => self.number(),
            b'.' if next.is_some_and(|byte| byte.is_ascii_digit()) => self.number(),
            byte if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 || byte == b'@' && is_mysql => {
                self.word()
            }
            _ => self.symbol(),
        })
    }
}
