//! `k6/data`: arrays that all virtual users share.
