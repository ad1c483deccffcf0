//! Texts for errors of the operating system.

use std::io;

/// Returns the text of the error's kind, or the system's text where the standard library has no kind for the error.
pub fn describe(error: &io::Error) -> String {
    let kind = error.kind().to_string();
    if kind == "uncategorized error" { error.to_string() } else { kind }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    #[test]
    fn every_error_has_a_text_of_its_own() {
        assert_eq!(describe(&Errno::CONNREFUSED.into()), "connection refused");
        for (error, words) in
            [(Errno::MFILE, "open files"), (Errno::AFNOSUPPORT, "Address family"), (Errno::NXIO, "No such")]
        {
            let text = describe(&error.into());
            assert!(text.contains(words), "{text}");
        }
    }
}
