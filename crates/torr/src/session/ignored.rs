//! Notes about options of hurl files that have no effect in a run.

use crate::output;
use torr_plan::session::files::Prepared;
use torr_plan::target::RunFile;
use torr_session::Session;

/// Prints a note for each option of a file that has no effect in a run.
pub fn note(path: &str, session: &Session) {
    for (at, what) in &session.ignored {
        output::note(&format!("{path}:{at}: {what}"));
    }
}

/// Prints the notes of all files of a run.
pub fn note_all(files: &[RunFile], prepared: &Prepared) {
    for (file, compiled) in files.iter().zip(&prepared.files) {
        note(&file.path, &compiled.session);
    }
}
