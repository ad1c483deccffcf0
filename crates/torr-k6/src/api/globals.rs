//! The globals `__ENV`, `__VU`, `global`.
