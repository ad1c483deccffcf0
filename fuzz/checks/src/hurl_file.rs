//! Hurl files: the position of a mistake is within the file, and a file that is read is written and read back as it was.

use torr_session::hurl::{parse, write};

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let file = match parse(text) {
        Ok(file) => file,
        Err(error) => {
            assert!(!error.message.contains('\n'), "{error}");
            let lines = text.split('\n').count();
            assert!(error.at.line >= 1 && error.at.line <= lines, "{error}: the file has {lines} lines");
            return;
        }
    };
    let written = write(&file);
    let read = parse(&written).unwrap_or_else(|error| panic!("what was written cannot be read: {error}\n{written}"));
    assert_eq!(write(&read), written);
}
