//! OpenSSL.
