//! The characters that parts of a URL percent-encode (RFC 3986).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};

/// The characters that a segment of a path, and a name or a value of a query or a form, encode: all but the unreserved ones
/// (section 2.3).
pub const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The characters that a path encodes (section 3.3). The slashes between its segments stay.
pub const PATH: &AsciiSet = &COMPONENT
    .remove(b'/')
    .remove(b':')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

/// The characters that a query encodes where all reserved ones stay (section 2.2) but `#`, which would end the query.
pub const RESERVED_QUERY: &AsciiSet = &PATH.remove(b'?').remove(b'[').remove(b']');
