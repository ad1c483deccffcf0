//! Commands, their words and what they read, while a text is split.

use std::mem;

/// What a command reads from its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::curl) enum Stdin {
    /// Text, in which variables of the shell may stand.
    Text(String),
    /// The content of a file, by its name.
    File(String),
    /// What only the shell knows, in words: `the output of jq`.
    Unknown(String),
}

/// A command.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) words: Vec<String>,
    /// What its own redirection gives it to read.
    pub(super) stdin: Option<Stdin>,
    /// Whether it reads the output of the command before it.
    pub(super) is_piped: bool,
    pub(super) number: usize,
}

/// The redirection that the next word belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Redirection {
    /// A file that output goes to.
    Output,
    /// A file that is read.
    Input,
    /// Text that is read: `<<<`.
    Text,
}

/// What of a text was read.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: Vec<Line>,
    line: Line,
    pub(super) word: Option<String>,
    redirection: Option<Redirection>,
    count: usize,
}

impl Lines {
    pub(super) fn push(&mut self, next: char) {
        self.word.get_or_insert_default().push(next);
    }

    pub(super) fn push_text(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    /// Begins a word, which may stay empty.
    pub(super) fn begin_word(&mut self) {
        self.word.get_or_insert_default();
    }

    /// Whether the next word names a file that output goes to.
    pub(super) fn is_redirected(&self) -> bool {
        self.redirection == Some(Redirection::Output) && self.word.is_none()
    }

    pub(super) fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.redirection.take() {
            Some(Redirection::Output) => {}
            Some(Redirection::Input) => self.line.stdin = Some(Stdin::File(word)),
            Some(Redirection::Text) => self.line.stdin = Some(Stdin::Text(word + "\n")),
            None => self.line.words.push(word),
        }
    }

    /// Ends the command, whose output the next one reads.
    pub(super) fn pipe(&mut self) {
        self.end_line();
        self.line.is_piped = true;
    }

    /// Begins the name of a file that output goes to; a number before it is that of the output.
    pub(super) fn redirect(&mut self) {
        self.begin_redirection(Redirection::Output);
    }

    /// Begins the name of a file that the command reads.
    pub(super) fn read_file(&mut self) {
        self.begin_redirection(Redirection::Input);
    }

    /// Begins a word that the command reads, with a line end behind it.
    pub(super) fn read_word(&mut self) {
        self.begin_redirection(Redirection::Text);
    }

    fn begin_redirection(&mut self, redirection: Redirection) {
        if self.word.as_ref().is_some_and(|word| !word.is_empty() && word.chars().all(|next| next.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        self.redirection = Some(redirection);
    }

    /// Returns the number of the command that is being read, to give it text to read later.
    pub(super) fn number(&self) -> usize {
        self.count
    }

    /// Gives a command text to read, by its number.
    pub(super) fn give(&mut self, number: usize, text: String) {
        let line = self.lines.iter_mut().find(|line| line.number == number);
        let line = line.or((self.count == number).then_some(&mut self.line));
        if let Some(line) = line {
            line.stdin = Some(Stdin::Text(text));
        }
    }

    pub(super) fn end_line(&mut self) {
        self.end_word();
        self.redirection = None;
        let line = mem::take(&mut self.line);
        self.lines.extend(Some(Line { number: self.count, ..line }).filter(|line| !line.words.is_empty()));
        self.count += 1;
    }

    pub(super) fn finish(mut self) -> Vec<Line> {
        self.end_line();
        self.lines
    }
}
