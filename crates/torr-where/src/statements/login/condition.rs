//! The column that a condition of a plan compares, for which an index would serve.

use crate::statements::normalise::{Dialect, Lexer, Token};

/// A column that a condition compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Compared {
    /// The column's name.
    pub(super) column: String,
    /// Whether it is compared for equality, and not for an order.
    pub(super) is_equality: bool,
}

/// Returns the columns of a table that a condition compares, all of which hold together, those for equality first.
///
/// There are none where an index might not help: the condition has alternatives, or compares what a function makes of a column.
/// `alias` is the table's name in the statement; names of other tables do not count.
pub(super) fn compared(condition: &str, alias: &str, dialect: Dialect) -> Vec<Compared> {
    let tokens: Vec<_> = Lexer::new(condition.as_bytes(), dialect).take(1000).collect();
    if tokens.iter().any(|token| ["or", "not", "case"].iter().any(|word| token.is_word(word))) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_equality = token.is(b"=");
        let is_order = [&b"<"[..], b">", b"<=", b">="].iter().any(|symbol| token.is(symbol));
        let is_list = token.is_word("in");
        if (is_equality || is_order || is_list)
            && let Some(column) = operand(&tokens[..at], alias)
        {
            all.push(Compared { column, is_equality: is_equality || is_list });
        }
    }
    all.sort_by_key(|compared| !compared.is_equality);
    all
}

/// Returns the column at the end of these tokens, if the operand is nothing else than a column and its casts.
fn operand(mut tokens: &[Token<'_>], alias: &str) -> Option<String> {
    // A cast: `::` and a type of one to three words.
    let words = tokens.iter().rev().take_while(|token| matches!(token, Token::Word(_))).count();
    if let Some(colons) = tokens.len().checked_sub(words + 1).filter(|_| (1..=4).contains(&words))
        && tokens[colons].is(b"::")
    {
        tokens = &tokens[..colons];
    }
    while let [rest @ .., last] = tokens
        && last.is(b")")
    {
        tokens = rest;
    }
    let (last, mut before) = tokens.split_last()?;
    let column = name(*last)?;
    while let [rest @ .., qualifier, dot] = before
        && dot.is(b".")
    {
        let is_last = !matches!(rest, [.., further] if further.is(b"."));
        let is_next_to_column = before.len() + 1 == tokens.len();
        if is_next_to_column && name(*qualifier).is_none_or(|name| name != alias) {
            return None;
        }
        before = rest;
        if is_last {
            break;
        }
    }
    // Brackets around it, but not those of a function.
    let mut is_bracket = false;
    while let [rest @ .., last] = before
        && last.is(b"(")
    {
        before = rest;
        is_bracket = true;
    }
    match before.last() {
        None => Some(column),
        Some(word) if word.is_word("and") => Some(column),
        Some(_) if is_bracket => None,
        // A longer operand, such as a sum.
        Some(_) => None,
    }
}

/// Returns the name in a token, without quotation marks.
fn name(token: Token<'_>) -> Option<String> {
    let text = match token {
        Token::Word(text) => text,
        Token::Quoted(text) => text.get(1..text.len().checked_sub(1)?)?,
        _ => return None,
    };
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Returns the table that has this alias in a statement. Without one, the alias is the table's name.
pub(super) fn table_of(alias: &str, statement: &str, dialect: Dialect) -> String {
    let tokens: Vec<_> = Lexer::new(statement.as_bytes(), dialect).take(10_000).collect();
    for (at, token) in tokens.iter().enumerate().skip(2) {
        if name(*token).as_deref() == Some(alias) {
            let before = if tokens[at - 1].is_word("as") { at - 2 } else { at - 1 };
            let is_table = before > 0
                && (tokens[before - 1].is(b".")
                    || tokens[before - 1].is(b",")
                    || ["from", "join", "update"].iter().any(|word| tokens[before - 1].is_word(word)));
            if let Some(table) = name(tokens[before]).filter(|_| is_table) {
                return table;
            }
        }
    }
    alias.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn columns(condition: &str, alias: &str, dialect: Dialect) -> Vec<String> {
        compared(condition, alias, dialect).into_iter().map(|compared| compared.column).collect()
    }

    #[test]
    fn columns_of_postgres_are_found() {
        for (condition, expected) in [
            ("(user_id = $1)", &["user_id"][..]),
            ("((created > '2020-01-01'::date) AND ((name)::text = 'x or y'::text))", &["name", "created"]),
            ("((name)::character varying = $1)", &["name"]),
            ("(\"userId\" = ANY ($1))", &["userId"]),
            ("(lower((email)::text) = $1)", &[]),
            ("((a = 1) OR (b = 2))", &[]),
            ("((name)::text ~~ '%x%'::text)", &[]),
            ("((a + b) = 3)", &[]),
            ("(o.user_id = t.id)", &["user_id"]),
            ("(other.user_id = 1)", &[]),
        ] {
            assert_eq!(columns(condition, "o", Dialect::Postgres), expected, "{condition}");
        }
    }

    #[test]
    fn columns_of_mysql_are_found() {
        for (condition, expected) in [
            ("(`shop`.`o`.`user_id` = 5)", &["user_id"][..]),
            ("o.user_id = 5 and o.state = 'open'", &["user_id", "state"]),
            ("(`shop`.`u`.`id` = `shop`.`o`.`user_id`)", &[]),
            ("o.user_id in (1,2)", &["user_id"]),
            ("lcase(o.email) = 'x'", &[]),
            ("o.a = 1 or o.b = 2", &[]),
        ] {
            assert_eq!(columns(condition, "o", Dialect::MySql), expected, "{condition}");
        }
    }

    #[test]
    fn aliases_lead_to_tables() {
        for (alias, table) in [("o", "orders"), ("u", "users"), ("items", "items"), ("c", "cart")] {
            let statement =
                "SELECT o.x FROM shop.orders AS o JOIN users u ON u.id = o.id, `cart` c, items WHERE o.x = 1";
            assert_eq!(table_of(alias, statement, Dialect::MySql), table);
        }
    }

    proptest! {
        #[test]
        fn any_condition_is_read(condition in "[a-z.()=<>:'`\" ]{0,60}") {
            compared(&condition, "a", Dialect::Postgres);
            compared(&condition, "a", Dialect::MySql);
            table_of("a", &condition, Dialect::MySql);
        }
    }
}
