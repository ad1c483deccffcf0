//! k6 scripts as load.
