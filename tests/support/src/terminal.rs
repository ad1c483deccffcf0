//! A program in a terminal of its own, as `script` of util-linux makes one, and what is seen on its screen.

use crate::program::{Ended, Running};
use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};

/// A program that runs in a terminal.
pub struct Terminal {
    running: Running,
    keys: ChildStdin,
    columns: usize,
}

impl Terminal {
    /// Runs a shell's command in a terminal of so many columns.
    pub fn run(columns: usize, command: &str) -> Self {
        let mut script = Command::new("script");
        let sized = format!("stty cols {columns} rows 50; exec {command}");
        script.args(["-qfec", &sized, "/dev/null"]).env("TERM", "xterm").env("SHELL", "/bin/sh");
        script.env_remove("COLUMNS").env_remove("NO_COLOR").stdin(Stdio::piped());
        let mut running = Running::start_with_its_input(script);
        let keys = running.stdin();
        Self { running, keys, columns }
    }

    /// Types Ctrl-C.
    pub fn interrupt(&mut self) {
        self.keys.write_all(b"\x03").expect("the terminal reads its keys");
    }

    /// Waits for the program's end. Returns what is on the screen then, and the exit code.
    pub fn end(self) -> (Screen, Option<i32>) {
        let Ended { code, stdout, .. } = self.running.wait();
        (Screen::showing(&stdout, self.columns), code)
    }
}

/// The lines of a screen that never scrolls.
#[derive(Debug)]
pub struct Screen {
    /// The characters of each line; a space is where nothing was written.
    rows: Vec<Vec<char>>,
    /// All that was written, with its control sequences.
    pub output: String,
    /// How many lines went on in the next one, since they were longer than the screen is wide.
    pub wrapped: usize,
    columns: usize,
    row: usize,
    column: usize,
}

impl Screen {
    /// Returns what a terminal of so many columns shows of a program's output.
    pub fn showing(output: &str, columns: usize) -> Self {
        let output = output.to_owned();
        let mut screen = Self { rows: vec![vec![]], output: output.clone(), wrapped: 0, columns, row: 0, column: 0 };
        let mut rest = output.chars();
        while let Some(c) = rest.next() {
            match c {
                '\x1b' => {
                    let sequence: String = rest.by_ref().take(1).collect();
                    assert_eq!(sequence, "[", "a sequence that this terminal does not know: {output:?}");
                    let mut parameters = String::new();
                    let last = rest.by_ref().find(|c| {
                        let ends = c.is_ascii_alphabetic();
                        if !ends {
                            parameters.push(*c);
                        }
                        ends
                    });
                    screen.control(last.expect("a sequence ends"), &parameters);
                }
                '\r' => screen.column = 0,
                '\n' => screen.down(1),
                '\x08' => screen.column = screen.column.saturating_sub(1),
                c => screen.put(c),
            }
        }
        screen
    }

    /// The lines, without what is empty at their ends.
    pub fn lines(&self) -> Vec<String> {
        self.rows.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned()).collect()
    }

    fn put(&mut self, c: char) {
        if self.column == self.columns {
            self.wrapped += usize::from(c != ' ');
            self.column = 0;
            self.down(1);
        }
        let row = &mut self.rows[self.row];
        row.resize(row.len().max(self.column + 1), ' ');
        row[self.column] = c;
        self.column += 1;
    }

    fn down(&mut self, by: usize) {
        self.row += by;
        self.rows.resize(self.rows.len().max(self.row + 1), vec![]);
    }

    fn control(&mut self, kind: char, parameters: &str) {
        let number = parameters.parse::<usize>().ok();
        match kind {
            'A' => self.row = self.row.saturating_sub(number.unwrap_or(1)),
            'B' => self.down(number.unwrap_or(1)),
            'C' => self.column = (self.column + number.unwrap_or(1)).min(self.columns - 1),
            'D' => self.column = self.column.saturating_sub(number.unwrap_or(1)),
            'K' if number == Some(2) => self.rows[self.row].clear(),
            'K' => self.rows[self.row].truncate(self.column),
            // Colours, and the cursor's look.
            'm' | 'h' | 'l' => {}
            other => panic!("a sequence that this terminal does not know: {other}"),
        }
    }
}
