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

/// Adds `print` to Torr's functions: it passes on a text that a script printed.
pub fn add_functions(lua: &Lua, native: &Table, printing: Printing) -> Result<()> {
    let to_stderr = printing != Printing::Watched { stderr: false };
    native.set(
        "print",
        lua.create_function(move |_, text: LuaString| {
            if let Some(view) = &*view_now() {
                text.to_string_lossy().lines().for_each(|line| view(line.to_owned()));
                return Ok(());
            }
            let bytes = text.as_bytes();
            // The reader of a pipe may have gone.
            let _ = if to_stderr { io::stderr().write_all(&bytes) } else { io::stdout().write_all(&bytes) };
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

    #[test]
    fn what_a_watched_script_prints_goes_to_the_view_line_by_line() {
        let text = "print('one', 2)\nio.write('three\\nfour')\nprint('\\27[2J')\n";
        let file = ScriptFile::read(Path::new("a.lua"), FileReader::new(|_| Ok(text.into()))).expect("it is read");
        let (sender, lines) = channel();
        divert(Some(Box::new(move |line| _ = sender.send(line))));
        let facts = Facts { printing: Printing::Watched { stderr: true }, ..Facts::default() };
        let loaded = State::load(&file, &facts);
        divert(None);
        assert!(loaded.is_ok());
        assert_eq!(lines.iter().collect::<Vec<_>>(), ["one\t2", "three", "four", "\u{1b}[2J"]);
    }
}
