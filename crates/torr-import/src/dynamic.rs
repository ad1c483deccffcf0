//! Dynamic variables, such as `{{$guid}}`: Postman's, whose names Bruno has as well.

use crate::draft::LeftOut;
use crate::reason;
use crate::variables::{new_date, new_uuid};
use torr_session::hurl::ast::Piece;

/// Constants for values that the programs make up and that have no counterpart.
const CONSTANTS: &[(&str, &str)] = &[
    ("$randomInt", "42"),
    ("$randomBoolean", "true"),
    ("$randomFirstName", "Ann"),
    ("$randomLastName", "Example"),
    ("$randomFullName", "Ann Example"),
    ("$randomUserName", "ann.example"),
    ("$randomEmail", "ann@example.org"),
    ("$randomExampleEmail", "ann@example.org"),
    ("$randomPassword", "Password-1"),
    ("$randomPhoneNumber", "555-0100"),
    ("$randomCity", "Springfield"),
    ("$randomCountry", "Iceland"),
    ("$randomCountryCode", "IS"),
    ("$randomStreetAddress", "1 Example Street"),
    ("$randomCompanyName", "Example Ltd"),
    ("$randomUrl", "https://example.org/"),
    ("$randomDomainName", "example.org"),
    ("$randomIP", "192.0.2.1"),
    ("$randomIPV6", "2001:db8::1"),
    ("$randomColor", "blue"),
    ("$randomPrice", "9.99"),
    ("$randomWord", "word"),
    ("$randomWords", "some words"),
    ("$randomLoremSentence", "Lorem ipsum dolor sit amet."),
    ("$randomAlphaNumeric", "a"),
    ("$randomDateFuture", "2030-01-01T00:00:00Z"),
    ("$randomDatePast", "2020-01-01T00:00:00Z"),
];

/// Returns what stands for a dynamic variable; `None` for a name that is none.
pub(crate) fn piece(name: &str, left_out: &mut Vec<LeftOut>) -> Option<Piece> {
    let constant = |text: &str| Piece::Text(text.to_owned());
    Some(match name {
        "$guid" | "$randomUUID" => new_uuid(),
        "$timestamp" => new_date("%s"),
        "$isoTimestamp" => new_date("%Y-%m-%dT%H:%M:%S%.3fZ"),
        name if name.starts_with('$') => {
            let known = CONSTANTS.iter().find(|(known, _)| *known == name).map_or("1", |(_, value)| value);
            left_out.push(LeftOut::new("dynamic variable", name, reason::CONSTANT));
            constant(known)
        }
        _ => return None,
    })
}
