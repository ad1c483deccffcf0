//! Functions of templates, such as `{{ $randomNumber(1, 9) }}`.

use crate::draft::LeftOut;
use crate::parts::{NOWHERE, push};
use crate::reason;
use torr_session::hurl::ast::{Expression, Filter, Pattern, Piece, Source};

/// The hexadecimal digits of a UUID.
const DIGITS: usize = 32;
/// The longest random text, in characters.
const LONGEST: usize = 64;

/// Returns what stands for a call.
pub(super) fn call(name: &str, inner: &str, left_out: &mut Vec<LeftOut>) -> Vec<Piece> {
    let mut arguments = inner.split(',').map(str::trim).filter(|text| !text.is_empty());
    if name == "$randomString" {
        let length = arguments.next().map_or(Some(10), |text| text.parse().ok());
        if let Some(length) = length.filter(|length| *length <= LONGEST) {
            return random(length);
        }
    }
    left_out.push(LeftOut::new("function", format!("{name}({inner})"), reason::CONSTANT));
    let constant = if name == "$randomNumber" { arguments.next().unwrap_or("1") } else { "1" };
    vec![Piece::Text(constant.to_owned())]
}

/// Returns random letters and digits, which are those of UUIDs.
fn random(length: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = length;
    while rest > 0 {
        let digits = rest.min(DIGITS);
        let mut filters = vec![Filter::Replace("-".into(), "".into())];
        if digits < DIGITS {
            filters.push(Filter::Regex(Pattern::Literal(format!("^(.{{{digits}}})"))));
        }
        push(&mut pieces, Piece::Placeholder(Expression { source: Source::NewUuid, filters, at: NOWHERE }));
        rest -= digits;
    }
    pieces
}
