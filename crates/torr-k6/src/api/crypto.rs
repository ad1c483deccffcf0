//! `k6/crypto`: hashes, HMAC, random bytes.
