//! A program that draws the whole screen of a terminal, as `script` of util-linux makes one, and its screen while it runs.

use crate::program::{signal, torr_path};
use crate::{PATIENCE, wait_until};
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use vt100::Parser;

/// What the shell says when the terminal is as before.
const RESTORED: &str = "the terminal is as before";

/// `torr` in a terminal of its own.
pub struct FullScreen {
    child: Child,
    keys: ChildStdin,
    parser: Arc<Mutex<Parser>>,
    /// The number of the program, once the shell has said it.
    pid: Arc<OnceLock<u32>>,
    reader: Option<JoinHandle<()>>,
}

/// What a terminal shows after the program's end.
#[derive(Debug)]
pub struct EndedScreen {
    pub code: Option<i32>,
    pub text: String,
    /// Whether the program has left the alternate screen, a cursor that is seen, and the modes that it found.
    pub is_restored: bool,
}

impl FullScreen {
    /// Runs `torr` with these arguments, which have no quotes, in a terminal of a size. `environment` are words `NAME=VALUE`.
    pub fn torr((columns, rows): (u16, u16), environment: &str, arguments: &str) -> Self {
        let torr = torr_path();
        let command = format!(
            "stty cols {columns} rows {rows}; trap : INT; before=$(stty -g)\n\
             {environment} sh -c 'echo \"pid $$.\"; exec {torr} {arguments}'; code=$?\n\
             [ \"$before\" = \"$(stty -g)\" ] && echo '{RESTORED}'; exit $code"
        );
        // Under nohup the terminal's end would be ignored.
        let mut script = Command::new("env");
        script.args(["--default-signal=HUP", "script", "-qfec", &command, "/dev/null"]);
        script.env("TERM", "xterm-256color").env("SHELL", "/bin/sh");
        script.env_remove("COLUMNS").env_remove("NO_COLOR");
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = script.spawn().unwrap_or_else(|error| panic!("{script:?}: {error}"));
        let keys = child.stdin.take().expect("it was piped");
        let mut output = child.stdout.take().expect("it was piped");
        let size = |cells| NonZero::new(cells).expect("a terminal has cells");
        let parser = Arc::new(Mutex::new(Parser::new(size(rows), size(columns), 1000)));
        let (seen, pid) = (Arc::clone(&parser), Arc::new(OnceLock::new()));
        let said = Arc::clone(&pid);
        let reader = thread::spawn(move || {
            let (mut bytes, mut begin) = ([0; 4096], Vec::new());
            while let Ok(length @ 1..) = output.read(&mut bytes) {
                // The program may cover it at once.
                if said.get().is_none() {
                    begin.extend_from_slice(&bytes[..length]);
                    if let Some(pid) = pid_in(&String::from_utf8_lossy(&begin)) {
                        said.set(pid).expect("only this sets it");
                    }
                }
                seen.lock().expect("the parser does not panic").process(&bytes[..length]);
            }
        });
        Self { child, keys, parser, pid, reader: Some(reader) }
    }

    /// Types keys.
    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("the terminal reads its keys");
    }

    /// Waits until the screen shows a text, and returns all of the screen then.
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contents().contains(text))
    }

    /// Waits until the screen is in a state.
    pub fn wait_until(&self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) -> String {
        let began = Instant::now();
        loop {
            let parser = self.parser.lock().expect("the parser does not panic");
            if is_so(parser.screen()) {
                return parser.screen().contents();
            }
            assert!(began.elapsed() < PATIENCE, "no {what} in {PATIENCE:?}:\n{}", parser.screen().contents());
            drop(parser);
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns the program's process id.
    pub fn pid(&self) -> u32 {
        wait_until("the number of the program", || self.pid.get().copied())
    }

    /// Sends the program a signal by its name, such as `TERM`.
    pub fn signal(&self, pid: u32, name: &str) {
        signal(pid, name);
    }

    /// Waits for the program's end.
    pub fn end(mut self) -> EndedScreen {
        let status = wait_until("the program to end", || self.child.try_wait().expect("a child can be waited for"));
        // All that was written is read by then.
        self.reader.take().expect("only this takes it").join().expect("reading does not panic");
        let parser = self.parser.lock().expect("the parser does not panic");
        let screen = parser.screen();
        let text = screen.contents();
        let is_restored = !screen.alternate_screen() && !screen.hide_cursor() && text.contains(RESTORED);
        EndedScreen { code: status.code(), text, is_restored }
    }
}

fn pid_in(text: &str) -> Option<u32> {
    text.split_once("pid ")?.1.split_once('.')?.0.parse().ok()
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        // The terminal's end hangs up the program in it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
