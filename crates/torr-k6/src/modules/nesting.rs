//! TypeScript sources that are nested too deeply to be parsed: the parser recurses with the nesting of its source and would
//! end the process where its stack ends.

/// Most brackets that are open at once in a TypeScript source, and most operators in a row.
const MAX_OPEN: usize = 2_000;
const MAX_ROW: usize = 20_000;

/// Returns whether a TypeScript source may be nested too deeply. Nesting comes with brackets, or with operators that no
/// separator ends; brackets and operators in strings and comments count too, which real sources are far from.
pub(super) fn is_too_deep(source: &str) -> bool {
    let bytes = source.as_bytes();
    let (mut open, mut row) = (0usize, 0usize);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' | b'<' => {
                open += usize::from(*byte != b'<');
                row += 1;
            }
            b')' | b']' => open = open.saturating_sub(1),
            b'}' => {
                open = open.saturating_sub(1);
                if !continues(&bytes[at + 1..]) {
                    row = 0;
                }
            }
            b';' | b',' => row = 0,
            b'=' | b'?' | b':' | b'!' | b'~' | b'+' | b'-' | b'`' | b'&' | b'|' => row += 1,
            b' ' if at > 0 && bytes[at - 1].is_ascii_alphanumeric() => row += 1,
            _ => {}
        }
        if open > MAX_OPEN || row > MAX_ROW {
            return true;
        }
    }
    false
}

/// Returns whether what follows a closing brace belongs to the same statement.
fn continues(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    rest.starts_with(b"else")
        || rest.first().is_some_and(|byte| !byte.is_ascii_alphanumeric() && !b"}'\"@/_$#".contains(byte))
}
