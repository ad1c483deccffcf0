//! Field sections as HTTP/3 encodes them (QPACK, RFC 9204), with the static table and literals only: both sides are to have no
//! dynamic table, so that no section waits for another stream.

mod decode;
mod encode;
mod statics;

pub use decode::{QpackError, decode, decode_up_to};
pub use encode::{encode, encode_response, encode_trailers};
