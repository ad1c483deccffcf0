//! Names that cannot be guessed.

/// Returns 128 random bits as 32 hexadecimal digits.
pub fn name() -> String {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).expect("the system has random numbers, since a process could hardly begin without");
    format!("{:032x}", u128::from_ne_bytes(bits))
}
