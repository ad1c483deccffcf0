//! Outputs of samples: JSON lines and CSV.
