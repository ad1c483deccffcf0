//! Errors of the system in words.

use std::io;

/// The kind of error in words; for one that has no kind of its own, the system's text.
pub fn describe(error: &io::Error) -> String {
    let kind = error.kind().to_string();
    if kind == "uncategorized error" { error.to_string() } else { kind }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    #[test]
    fn every_error_says_what_it_is() {
        assert_eq!(describe(&Errno::CONNREFUSED.into()), "connection refused");
        for (error, words) in
            [(Errno::MFILE, "open files"), (Errno::AFNOSUPPORT, "Address family"), (Errno::NXIO, "No such")]
        {
            let text = describe(&error.into());
            assert!(text.contains(words), "{text}");
        }
    }
}
