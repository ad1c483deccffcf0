//! The end of a summary: texts are printed, files written.

use super::data::Summary;
use super::json;
use super::text::{Mode, text};
use crate::log::{Level, Log};
use std::io::Write;
use std::path::Path;

/// Prints and writes a summary: what `handleSummary` returned, or else the usual text, and the file of `--summary-export`. What
/// cannot be written is logged.
pub fn deliver(
    summary: &Summary,
    mode: Option<Mode>,
    export: Option<&Path>,
    returned: Option<Vec<(String, Vec<u8>)>>,
    log: &Log,
) {
    let (mut stdout, mut stderr) = (std::io::stdout(), std::io::stderr());
    for (name, content) in files(summary, mode, returned) {
        let written = match name.as_str() {
            "stdout" => stdout.write_all(&content).and_then(|()| stdout.flush()),
            "stderr" => stderr.write_all(&content).and_then(|()| stderr.flush()),
            path => std::fs::write(path, &content),
        };
        if let Err(error) = written {
            log.write(Level::Error, &format!("cannot write '{name}' of the summary: {error}"), &[]);
        }
    }
    if let Some(path) = export
        && let Err(error) = std::fs::write(path, json::export(summary))
    {
        log.write(Level::Error, &format!("cannot write the summary '{}': {error}", path.display()), &[]);
    }
}

/// Returns what is to be written, each text with the name of its file, `stdout` or `stderr`.
fn files(summary: &Summary, mode: Option<Mode>, returned: Option<Vec<(String, Vec<u8>)>>) -> Vec<(String, Vec<u8>)> {
    match (returned, mode) {
        (Some(returned), _) => returned,
        (None, Some(mode)) => vec![("stdout".to_owned(), text(summary, mode).into_bytes())],
        (None, None) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_script_replace_the_text() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = |name: &str| folder.path().join(name);
        let log_file = std::fs::File::create(path("log")).expect("the folder can be written");
        let log = Log::to(crate::log::LogSettings::default(), Some(Box::new(log_file)), false);
        let returned = [(path("a.txt"), "text"), ("/nowhere/b".into(), "lost")];
        let returned = returned.map(|(path, content)| (path.display().to_string(), content.as_bytes().to_vec()));
        let export = path("export.json");
        deliver(&Summary::default(), Some(Mode::Compact), Some(&export), Some(returned.to_vec()), &log);
        let read = |name: &str| std::fs::read_to_string(path(name)).expect("the file was written");
        assert_eq!(read("a.txt"), "text");
        assert!(read("export.json").contains("root_group") && read("log").contains("cannot write '/nowhere/b'"));
        let usual = files(&Summary::default(), Some(Mode::Compact), None);
        assert!(usual[0].0 == "stdout" && !usual[0].1.is_empty(), "{usual:?}");
        assert!(files(&Summary::default(), None, None).is_empty());
    }
}
