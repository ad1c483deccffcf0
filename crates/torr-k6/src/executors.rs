//! Executors: at which time which virtual user begins or stops an iteration.
