//! `k6/html`: parsing and jQuery-like selections.
