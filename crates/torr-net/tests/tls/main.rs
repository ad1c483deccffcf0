//! TLS: the server's side against this crate's client, and against OpenSSL's.

mod authority;
mod identities;
mod openssl;
mod pair;
mod refusals;
mod reload;
mod sessions;
mod talking;
mod trust;
