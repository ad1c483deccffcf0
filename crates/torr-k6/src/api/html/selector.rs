//! CSS selectors, parsed: those of level 3, `:has`, `:is`, and the extensions for text that scripts know from k6.

use regex::{Regex, RegexBuilder};

/// Deepest nesting of selectors in selectors.
const MAX_DEPTH: usize = 10;
/// Longest selector, in bytes.
const MAX_LENGTH: usize = 10_000;
/// Largest compiled regular expression, in bytes.
const MAX_REGEX: usize = 1 << 20;

/// Selectors of which one has to match.
pub(super) type Selectors = Vec<Selector>;

/// Tests of an element and, by their combinators, of others. The last compound is the element's own.
pub(super) struct Selector(pub(super) Vec<(Combinator, Vec<Test>)>);

/// How an element relates to that of the compound before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Combinator {
    Descendant,
    Child,
    Next,
    Following,
}

/// A test of one element.
pub(super) enum Test {
    Tag(String),
    Attribute(String, Compare, String),
    AttributeMatches(String, Regex),
    Not(Selectors),
    Is(Selectors),
    Has(Selectors),
    HasChild(Selectors),
    /// The text of the element, or only its own, contains this in lower case.
    Contains(String, Whose),
    Matches(Regex, Whose),
    /// The element is number `a * n + b` among its siblings.
    Nth {
        a: i64,
        b: i64,
        from_end: bool,
        of_type: bool,
    },
    OnlyChild {
        of_type: bool,
    },
    Empty,
    Root,
    Input,
    Enabled,
    Disabled,
    Checked,
    Link,
    Lang(String),
}

/// How the value of an attribute is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compare {
    Present,
    Equal,
    Unequal,
    Word,
    Dash,
    Prefix,
    Suffix,
    Substring,
}

/// Whose text is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Whole,
    Own,
}

/// Returns the selectors that a text has; `None` if it is not valid, which matches nothing.
pub(super) fn parse(text: &str) -> Option<Selectors> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    let mut parser = Parser { rest: text.trim(), depth: 0 };
    let selectors = parser.selectors()?;
    parser.rest.is_empty().then_some(selectors)
}

struct Parser<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn skip(&mut self) -> bool {
        let trimmed = self.rest.trim_start();
        let skipped = trimmed.len() < self.rest.len();
        self.rest = trimmed;
        skipped
    }

    fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn selectors(&mut self) -> Option<Selectors> {
        let mut selectors = vec![self.selector()?];
        loop {
            self.skip();
            if !self.take(",") {
                return Some(selectors);
            }
            selectors.push(self.selector()?);
        }
    }

    fn selector(&mut self) -> Option<Selector> {
        self.skip();
        let mut compounds = vec![(Combinator::Descendant, self.compound()?)];
        loop {
            let space = self.skip();
            let combinator = if self.take(">") {
                Combinator::Child
            } else if self.take("+") {
                Combinator::Next
            } else if self.take("~") {
                Combinator::Following
            } else if space && !self.rest.is_empty() && !self.rest.starts_with([',', ')']) {
                Combinator::Descendant
            } else {
                return Some(Selector(compounds));
            };
            self.skip();
            compounds.push((combinator, self.compound()?));
        }
    }

    fn compound(&mut self) -> Option<Vec<Test>> {
        let mut tests = Vec::new();
        let begin = self.rest.len();
        if !self.take("*")
            && let Some(tag) = self.name()
        {
            tests.push(Test::Tag(tag.to_ascii_lowercase()));
        }
        loop {
            if self.take("#") {
                tests.push(Test::Attribute("id".to_owned(), Compare::Equal, self.name()?));
            } else if self.take(".") {
                tests.push(Test::Attribute("class".to_owned(), Compare::Word, self.name()?));
            } else if self.take("[") {
                tests.push(self.attribute()?);
            } else if self.take(":") {
                self.take(":");
                tests.push(self.pseudo()?);
            } else {
                return (self.rest.len() < begin).then_some(tests);
            }
        }
    }

    /// Reads a name, with escapes.
    fn name(&mut self) -> Option<String> {
        let mut name = String::new();
        let mut first = true;
        while let Some(one) = self.rest.chars().next() {
            if one == '\\' {
                self.rest = &self.rest[1..];
                name.push(self.escaped()?);
            } else if one.is_alphabetic()
                || one == '_'
                || one == '-'
                || !one.is_ascii()
                || (!first && one.is_ascii_digit())
            {
                name.push(one);
                self.rest = &self.rest[one.len_utf8()..];
            } else {
                break;
            }
            first = false;
        }
        (!name.is_empty() && name != "-").then_some(name)
    }

    /// Reads what follows a backslash: a character, or its number in hexadecimal digits.
    fn escaped(&mut self) -> Option<char> {
        let digits = self.rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits == 0 {
            let one = self.rest.chars().next()?;
            self.rest = &self.rest[one.len_utf8()..];
            return Some(one);
        }
        let number = u32::from_str_radix(&self.rest[..digits], 16).ok()?;
        self.rest = &self.rest[digits..];
        self.rest = self.rest.strip_prefix([' ', '\t', '\n']).unwrap_or(self.rest);
        char::from_u32(number)
    }

    /// Reads a string in quotes, or a name.
    fn value(&mut self) -> Option<String> {
        let Some(quote) = self.rest.chars().next().filter(|one| matches!(one, '"' | '\'')) else {
            return self.name();
        };
        self.rest = &self.rest[1..];
        let mut value = String::new();
        loop {
            let one = self.rest.chars().next()?;
            self.rest = &self.rest[one.len_utf8()..];
            match one {
                '\\' => value.push(self.escaped()?),
                _ if one == quote => return Some(value),
                _ => value.push(one),
            }
        }
    }

    fn attribute(&mut self) -> Option<Test> {
        self.skip();
        let name = self.name()?.to_ascii_lowercase();
        self.skip();
        if self.take("]") {
            return Some(Test::Attribute(name, Compare::Present, String::new()));
        }
        let operators = [
            ("=", Compare::Equal),
            ("!=", Compare::Unequal),
            ("~=", Compare::Word),
            ("|=", Compare::Dash),
            ("^=", Compare::Prefix),
            ("$=", Compare::Suffix),
            ("*=", Compare::Substring),
        ];
        let regex = self.take("#=");
        let compare = if regex { Compare::Equal } else { operators.iter().find(|(token, _)| self.take(token))?.1 };
        self.skip();
        if regex {
            let end = self.rest.find(']')?;
            let pattern = compiled(self.rest[..end].trim())?;
            self.rest = &self.rest[end + 1..];
            return Some(Test::AttributeMatches(name, pattern));
        }
        // Numbers without quotes are no names, but common.
        let value = match self.value() {
            Some(value) => value,
            None => self.digits()?,
        };
        self.skip();
        self.take("]").then_some(Test::Attribute(name, compare, value))
    }

    fn digits(&mut self) -> Option<String> {
        let length = self.rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let digits = self.rest.get(..length).filter(|digits| !digits.is_empty())?.to_owned();
        self.rest = &self.rest[length..];
        Some(digits)
    }

    fn pseudo(&mut self) -> Option<Test> {
        let name = self.name()?.to_ascii_lowercase();
        let nth = |a, b, from_end, of_type| Some(Test::Nth { a, b, from_end, of_type });
        match name.as_str() {
            "not" => self.nested().map(Test::Not),
            "is" | "where" => self.nested().map(Test::Is),
            "has" => self.nested().map(Test::Has),
            "haschild" => self.nested().map(Test::HasChild),
            "contains" => self.text().map(|text| Test::Contains(text, Whose::Whole)),
            "containsown" => self.text().map(|text| Test::Contains(text, Whose::Own)),
            "matches" => self.regex().map(|regex| Test::Matches(regex, Whose::Whole)),
            "matchesown" => self.regex().map(|regex| Test::Matches(regex, Whose::Own)),
            "nth-child" => self.nth(false, false),
            "nth-last-child" => self.nth(true, false),
            "nth-of-type" => self.nth(false, true),
            "nth-last-of-type" => self.nth(true, true),
            "first-child" => nth(0, 1, false, false),
            "last-child" => nth(0, 1, true, false),
            "first-of-type" => nth(0, 1, false, true),
            "last-of-type" => nth(0, 1, true, true),
            "only-child" => Some(Test::OnlyChild { of_type: false }),
            "only-of-type" => Some(Test::OnlyChild { of_type: true }),
            "empty" => Some(Test::Empty),
            "root" => Some(Test::Root),
            "input" => Some(Test::Input),
            "enabled" => Some(Test::Enabled),
            "disabled" => Some(Test::Disabled),
            "checked" => Some(Test::Checked),
            "link" => Some(Test::Link),
            "lang" => self.text().map(Test::Lang),
            _ => None,
        }
    }

    fn nested(&mut self) -> Option<Selectors> {
        if self.depth >= MAX_DEPTH || !self.take("(") {
            return None;
        }
        self.depth += 1;
        let selectors = self.selectors()?;
        self.depth -= 1;
        self.skip();
        self.take(")").then_some(selectors)
    }

    fn text(&mut self) -> Option<String> {
        if !self.take("(") {
            return None;
        }
        self.skip();
        let text = self.value()?.to_lowercase();
        self.skip();
        self.take(")").then_some(text)
    }

    /// Reads a regular expression up to the bracket that closes it.
    fn regex(&mut self) -> Option<Regex> {
        if !self.take("(") {
            return None;
        }
        let (mut open, mut escaped) = (1usize, false);
        for (at, byte) in self.rest.bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'(' => open += 1,
                b')' => open -= 1,
                _ => {}
            }
            if open == 0 {
                let pattern = compiled(&self.rest[..at])?;
                self.rest = &self.rest[at + 1..];
                return Some(pattern);
            }
        }
        None
    }

    /// Reads `odd`, `even`, `3`, `2n`, `2n+1` or `-n+3` in brackets.
    fn nth(&mut self, from_end: bool, of_type: bool) -> Option<Test> {
        let end = self.rest.find(')').filter(|_| self.rest.starts_with('('))?;
        let text: String = self.rest[1..end].chars().filter(|one| !one.is_whitespace()).collect();
        self.rest = &self.rest[end + 1..];
        let text = text.to_ascii_lowercase();
        let (a, b) = match text.as_str() {
            "odd" => (2, 1),
            "even" => (2, 0),
            text => match text.split_once('n') {
                None => (0, bounded(text)?),
                Some((a, b)) => {
                    let a = match a {
                        "" | "+" => 1,
                        "-" => -1,
                        a => bounded(a)?,
                    };
                    (a, if b.is_empty() { 0 } else { bounded(b)? })
                }
            },
        };
        Some(Test::Nth { a, b, from_end, of_type })
    }
}

fn bounded(text: &str) -> Option<i64> {
    text.parse::<i32>().ok().map(i64::from)
}

fn compiled(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).size_limit(MAX_REGEX).build().ok()
}
