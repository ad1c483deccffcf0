//! TLS of the server's side against this crate's client, and against OpenSSL's.

mod authority;
mod identities;
mod openssl;
mod pair;
mod rejection;
mod reload;
mod sessions;
mod transfer;
mod trust;
