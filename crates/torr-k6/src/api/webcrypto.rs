//! The global `crypto`: Web Crypto.
