//! Bruno's dynamic variables, such as `{{$guid}}`.

use crate::draft::LeftOut;
use crate::dynamic;
use crate::reason;
use torr_session::hurl::ast::Piece;

/// Constants for values that Bruno makes up, and Postman does not.
const CONSTANTS: &[(&str, &str)] =
    &[("$randomNanoId", "V1StGXR8_Z5jdHi6B-myT"), ("$randomIPV4", "192.0.2.1"), ("$randomHexColor", "#336699")];

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
    let Some((_, own)) = CONSTANTS.iter().find(|(known, _)| *known == name) else {
        return dynamic::piece(name, left_out);
    };
    left_out.push(LeftOut::new("dynamic variable", name, reason::CONSTANT));
    Some(Piece::Text((*own).to_owned()))
}
