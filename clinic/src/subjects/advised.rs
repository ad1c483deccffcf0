//! What the doctor advises, as subjects are cured by it.

use torr_gauge::machine::cpus;

/// Returns the number of workers that the doctor advises where they wait: 4 to 8 for each CPU.
pub fn advised() -> String {
    (6 * cpus()).to_string()
}
