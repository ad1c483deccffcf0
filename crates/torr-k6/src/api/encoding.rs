//! `k6/encoding`: Base64.
