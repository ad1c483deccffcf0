//! Hashes as text.

/// Returns bytes as hexadecimal digits in small letters.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
