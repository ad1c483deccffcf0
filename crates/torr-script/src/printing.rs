//! What scripts print while a view of the run covers the terminal.

use crate::facts::Printing;
use mlua::{Lua, LuaString, Result, Table};
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What takes the lines that scripts print.
type View = Box<dyn Fn(String) + Send>;

/// The view of the terminal, of which a process has one.
static VIEW: Mutex<Option<View>> = Mutex::new(None);

/// Hands each line that scripts with [`Printing::Watched`] print to `view` from now on; to the terminal again with `None`.
pub fn divert(view: Option<View>) {
    *view_now() = view;
}

fn view_now() -> MutexGuard<'static, Option<View>> {
    VIEW.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds `print` to Torr's functions: it passes on a text that a script printed, and whether to the standard error stream.
pub fn add_functions(lua: &Lua, native: &Table, printing: Printing) -> Result<()> {
    let is_stdout = printing == Printing::Watched { stderr: false };
    native.set(
        "print",
        lua.create_function(move |_, (text, is_error): (LuaString, bool)| {
            if let Some(view) = &*view_now() {
                text.to_string_lossy().lines().for_each(|line| view(line.to_owned()));
                return Ok(());
            }
            let bytes = text.as_bytes();
            // The reader of a pipe may have gone.
            let _ = match is_stdout && !is_error {
                true => io::stdout().write_all(&bytes),
                false => io::stderr().write_all(&bytes),
            };
            Ok(())
        })?,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::State;
    use crate::{Facts, FileReader, ScriptFile};
    use std::path::Path;
    use std::sync::mpsc::channel;

    /// Returns the lines that a watched script hands to the view.
    fn shown(source: &str) -> Vec<String> {
        let text = source.as_bytes().to_vec();
        let file =
            ScriptFile::read(Path::new("a.lua"), FileReader::new(move |_| Ok(text.clone()))).expect("it is read");
        let (sender, lines) = channel();
        // A process has one view.
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        divert(Some(Box::new(move |line| _ = sender.send(line))));
        let facts = Facts { printing: Printing::Watched { stderr: true }, ..Facts::default() };
        let loaded = State::load(&file, &facts);
        divert(None);
        loaded.expect("the script runs");
        lines.iter().collect()
    }

    #[test]
    fn what_a_watched_script_prints_goes_to_the_view_line_by_line() {
        let source = "print('one', 2)\nio.write('three\\nfour')\nprint('\\27[2J')\n";
        assert_eq!(shown(source), ["one\t2", "three", "four", "\u{1b}[2J"]);
    }

    #[test]
    fn no_stream_of_a_watched_script_goes_past_the_view() {
        let source = r#"
            assert(io.stdout:write("a", 1, "\n") == io.stdout and io.stdout:flush())
            io.stderr:write("b\n"):write("c\n")
            io.output():write("d\n")
            io.output(io.stderr):write("e\n")
            assert(io.write("f\n") == io.stderr)
            print(io.type(io.stdout), io.type(1), tostring(io.stdout):match("^file") ~= nil)
            print(pcall(io.stdout.write, io.stdout, {}))
        "#;
        let refused = "false\tbad argument #1 to 'write' (string expected, got table)";
        assert_eq!(shown(source), ["a1", "b", "c", "d", "e", "f", "file\tnil\ttrue", refused]);
    }

    #[test]
    fn a_file_of_a_watched_script_is_no_terminal() {
        let source = r#"
            local file = io.output(io.tmpfile())
            assert(io.write("to the file\n") and io.output() == file)
            print("shown")
            file:seek("set")
            print(file:read("*l"))
            io.close()
            print(io.type(file))
            io.output(io.stdout)
            io.write("again\n")
        "#;
        assert_eq!(shown(source), ["shown", "to the file", "closed file", "again"]);
    }
}
