//! Commands and their words while a text is read.

/// A command, and the text of the commands that read its output.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) words: Vec<String>,
    pub(super) piped: Option<String>,
}

/// What of a text was read.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: Vec<Line>,
    line: Line,
    pub(super) word: Option<String>,
    /// Whether the next word names a file that output goes to.
    pub(super) is_redirected: bool,
}

impl Lines {
    pub(super) fn push(&mut self, next: char) {
        self.word.get_or_insert_default().push(next);
    }

    /// Begins a word, which may stay empty.
    pub(super) fn begin_word(&mut self) {
        self.word.get_or_insert_default();
    }

    pub(super) fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if std::mem::take(&mut self.is_redirected) {
            return;
        }
        match &mut self.line.piped {
            Some(piped) => {
                if !piped.is_empty() {
                    piped.push(' ');
                }
                piped.push_str(&word);
            }
            None => self.line.words.push(word),
        }
    }

    /// Ends the command, whose output another one reads.
    pub(super) fn pipe(&mut self) {
        self.end_word();
        self.line.piped.get_or_insert_default();
    }

    /// Begins the name of a file that output goes to; a number before it is that of the output.
    pub(super) fn redirect(&mut self) {
        if self.word.as_ref().is_some_and(|word| word.chars().all(|next| next.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        self.is_redirected = true;
    }

    pub(super) fn end_line(&mut self) {
        self.end_word();
        self.is_redirected = false;
        let line = std::mem::take(&mut self.line);
        if !line.words.is_empty() {
            self.lines.push(line);
        }
    }

    pub(super) fn finish(mut self) -> Vec<Line> {
        self.end_line();
        self.lines
    }
}
