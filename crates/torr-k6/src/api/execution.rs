//! `k6/execution`.
