//! Python's frames: which code is the user's own, and the module that a function belongs to.

use crate::stack::{FRAMES, Frame, Stack};
use py_spy::StackTrace;
use std::collections::HashMap;
use std::sync::Arc;

/// The most frames that are kept to be shared.
const KNOWN: usize = 100_000;

/// The frames that were seen before.
#[derive(Debug, Default)]
pub struct Frames(HashMap<(String, String, i32), Arc<Frame>>);

impl Frames {
    /// Returns a trace's frames.
    pub fn stack(&mut self, trace: &StackTrace) -> Stack {
        if self.0.len() > KNOWN {
            self.0.clear();
        }
        let frames = trace.frames.iter().filter(|frame| !is_interpreters(frame)).take(FRAMES).map(|frame| {
            let known = self.0.entry((frame.name.clone(), frame.filename.clone(), frame.line));
            let new = || Arc::new(self::frame(&frame.name, &frame.filename, frame.line));
            known.or_insert_with(new).clone()
        });
        Stack(frames.collect())
    }
}

/// Returns whether a frame is one of the interpreter itself, between that of a class and that of its `__init__`: it has a name instead of
/// a file.
fn is_interpreters(frame: &py_spy::Frame) -> bool {
    frame.filename == frame.name && frame.line <= 0
}

/// Returns the frame of a function.
fn frame(function: &str, file: &str, line: i32) -> Frame {
    Frame {
        function: function.to_owned(),
        file: Some(file.to_owned()),
        line: u32::try_from(line).ok().filter(|line| *line > 0),
        object: file.to_owned(),
        module: module(file),
        is_own: is_own(file),
        is_named: true,
    }
}

/// The folders below which packages are installed.
const PACKAGES: [&str; 2] = ["/site-packages/", "/dist-packages/"];

/// Returns the path of a file below the folder of the standard library, such as `json/encoder.py`.
fn in_standard_library(file: &str) -> Option<&str> {
    let mut from = 0;
    while let Some(at) = file[from..].find("/python3") {
        let after = from + at + 1;
        let (folder, rest) = file[after..].split_once('/')?;
        let parent = &file[..from + at];
        let is_version = folder["python3".len()..].bytes().all(|byte| byte.is_ascii_digit() || b".t".contains(&byte));
        if is_version && (parent.ends_with("/lib") || parent.ends_with("/lib64") || parent.ends_with("/share")) {
            return Some(rest);
        }
        from = after;
    }
    None
}

/// Returns whether a file is the user's own: neither of an installed package nor of the standard library nor of the interpreter.
fn is_own(file: &str) -> bool {
    let is_installed = PACKAGES.iter().any(|folder| file.contains(folder)) || in_standard_library(file).is_some();
    // `<frozen importlib._bootstrap>`, `<string>`, `<stdin>`: code without a file.
    let is_file = !file.starts_with('<') && !file.is_empty();
    // A script that an installed package brings to start itself, such as `bin/gunicorn`.
    let is_starter =
        file.rsplit_once('/').is_some_and(|(folder, name)| folder.ends_with("/bin") && !name.contains('.'));
    is_file && !is_installed && !is_starter
}

/// Returns the module of a file: a dotted path in an installed package, the file's name of own code.
fn module(file: &str) -> String {
    let installed =
        PACKAGES.iter().find_map(|folder| Some(file.rsplit_once(folder)?.1)).or_else(|| in_standard_library(file));
    let path = installed.unwrap_or_else(|| file.rsplit('/').next().unwrap_or(file));
    let path = path.strip_suffix(".py").unwrap_or(path);
    path.strip_suffix("/__init__").unwrap_or(path).replace('/', ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_code_is_outside_of_packages() {
        for own in [
            "/srv/shop/app/views.py",
            "app.py",
            "/usr/lib/shop/python3_tools/orders.py",
            "/home/python3.11/x.py",
            "/srv/bin/serve.py",
        ] {
            assert!(is_own(own), "{own}");
        }
        for library in [
            "/usr/lib/python3.11/threading.py",
            "/root/.pyenv/versions/3.13.0/lib/python3.13/json/encoder.py",
            "/srv/venv/lib/python3.11/site-packages/flask/app.py",
            "/usr/lib/python3/dist-packages/yaml/__init__.py",
            "<frozen importlib._bootstrap>",
            "<string>",
            "/srv/venv/bin/gunicorn",
        ] {
            assert!(!is_own(library), "{library}");
        }
    }

    #[test]
    fn a_module_is_a_dotted_path() {
        assert_eq!(module("/usr/lib/python3.11/json/encoder.py"), "json.encoder");
        assert_eq!(module("/srv/venv/lib/python3.11/site-packages/flask/__init__.py"), "flask");
        assert_eq!(module("/srv/shop/views.py"), "views");
    }

    #[test]
    fn a_line_that_is_unknown_is_absent() {
        assert_eq!((frame("f", "/srv/a.py", 0).line, frame("f", "/srv/a.py", 7).line), (None, Some(7)));
    }
}
