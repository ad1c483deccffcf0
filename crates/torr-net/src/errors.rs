//! Texts for errors of the operating system.

use std::io;

/// Returns the text of the error's kind, or the system's text where the standard library has no kind for the error. The kind of a
/// missing file has the words that people know instead of "entity not found". An error with a text of its own keeps it.
pub fn describe(error: &io::Error) -> String {
    match error.kind() {
        _ if error.get_ref().is_some() => error.to_string(),
        io::ErrorKind::NotFound => "no such file or directory".into(),
        io::ErrorKind::InvalidData => error.to_string(),
        kind if kind.to_string() == "uncategorized error" => error.to_string(),
        kind => kind.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    #[test]
    fn every_error_has_a_text_of_its_own() {
        assert_eq!(describe(&Errno::CONNREFUSED.into()), "connection refused");
        assert_eq!(describe(&Errno::NOENT.into()), "no such file or directory");
        assert_eq!(describe(&io::Error::new(io::ErrorKind::NotFound, "not sent")), "not sent");
        for (error, words) in
            [(Errno::MFILE, "open files"), (Errno::AFNOSUPPORT, "Address family"), (Errno::NXIO, "No such")]
        {
            let text = describe(&error.into());
            assert!(text.contains(words), "{text}");
        }
    }
}
