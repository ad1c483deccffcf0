//! What an unknown factor most likely is: the factors that the evidence points to without proof, as data.

use super::factor::Factor;
use serde::{Deserialize, Serialize};

/// A factor that evidence points to without proof.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Hypothesis {
    /// The factor.
    pub factor: Factor,
    /// The number of readings of the evidence that name the factor. A reading is the verdict of the same rules under one assumption
    /// about what the disturbance changed.
    pub readings: usize,
    /// The number of all readings.
    pub of: usize,
}
