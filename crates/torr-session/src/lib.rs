//! What a virtual user does: requests in order, with variables, captures and asserts between them. The crate reads hurl files
//! and evaluates what they say; sockets and timers are the load engine's.
#![forbid(unsafe_code)]

pub mod hurl;
