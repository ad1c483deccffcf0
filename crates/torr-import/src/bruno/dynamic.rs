//! Bruno's dynamic variables, such as `{{$guid}}`.

use crate::draft::LeftOut;
use crate::reason;
use crate::variables::{new_date, new_uuid};
use torr_session::hurl::ast::Piece;

/// Constants for values that Bruno makes up and that have no counterpart, by the names that people use most.
const CONSTANTS: &[(&str, &str)] = &[
    ("randomInt", "42"),
    ("randomBoolean", "true"),
    ("randomNanoId", "V1StGXR8_Z5jdHi6B-myT"),
    ("randomAlphaNumeric", "a"),
    ("randomFirstName", "Ann"),
    ("randomLastName", "Example"),
    ("randomFullName", "Ann Example"),
    ("randomUserName", "ann.example"),
    ("randomEmail", "ann@example.org"),
    ("randomExampleEmail", "ann@example.org"),
    ("randomPassword", "Password-1"),
    ("randomPhoneNumber", "555-0100"),
    ("randomCity", "Springfield"),
    ("randomCountry", "Iceland"),
    ("randomCountryCode", "IS"),
    ("randomStreetAddress", "1 Example Street"),
    ("randomCompanyName", "Example Ltd"),
    ("randomUrl", "https://example.org/"),
    ("randomDomainName", "example.org"),
    ("randomIP", "192.0.2.1"),
    ("randomIPV4", "192.0.2.1"),
    ("randomIPV6", "2001:db8::1"),
    ("randomColor", "blue"),
    ("randomHexColor", "#336699"),
    ("randomPrice", "9.99"),
    ("randomWord", "word"),
    ("randomWords", "some words"),
    ("randomLoremSentence", "Lorem ipsum dolor sit amet."),
    ("randomDateFuture", "2030-01-01T00:00:00Z"),
    ("randomDatePast", "2020-01-01T00:00:00Z"),
];

/// Whether a name is that of a dynamic variable.
pub(super) fn is_one(name: &str) -> bool {
    let name = name.strip_prefix('$').unwrap_or_default();
    matches!(name, "guid" | "timestamp" | "isoTimestamp") || (name.starts_with("random") && name.len() > 6)
}

/// Returns what stands for a dynamic variable; `None` for a name that is none.
pub(super) fn piece(name: &str, left_out: &mut Vec<LeftOut>) -> Option<Piece> {
    if !is_one(name) {
        return None;
    }
    Some(match name {
        "$guid" | "$randomUUID" => new_uuid(),
        "$timestamp" => new_date("%s"),
        "$isoTimestamp" => new_date("%Y-%m-%dT%H:%M:%S%.3fZ"),
        _ => {
            let known = CONSTANTS.iter().find(|(known, _)| name[1..] == **known).map_or("1", |(_, value)| value);
            left_out.push(LeftOut::new("dynamic variable", name, reason::CONSTANT));
            Piece::Text(known.to_owned())
        }
    })
}
