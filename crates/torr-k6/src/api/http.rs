//! `k6/http`.
