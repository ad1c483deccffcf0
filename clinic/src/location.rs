//! The known location of a fault: the function, the lock or the statement, and the lines of its source.

use serde::Serialize;
use torr_gauge::verdict::place::PlaceKind;

/// The word before the name of a mark in a comment of a source.
const MARK: &str = "clinic: ";
/// The beginnings of comments that hold a mark.
const COMMENTS: [&str; 3] = ["// clinic: ", "# clinic: ", "/* clinic: "];

/// Whether the location can be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Visibility {
    /// One location dominates and can be seen.
    Dominant,
    /// Several locations are equal, so that naming one is wrong.
    None,
    /// One location dominates, but it cannot be seen from outside: silence is right, and so is its name.
    Invisible,
}

/// Lines of a source, from the first to the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lines {
    /// The name of the file, without folders.
    pub file: &'static str,
    /// The first line, counted from 1.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

/// The truth about the location of a fault.
#[derive(Debug, Clone, Serialize)]
pub struct Location {
    /// Whether the location can be named.
    pub visibility: Visibility,
    /// The kinds that are true, the main one first.
    pub kinds: Vec<PlaceKind>,
    /// The functions of which one must be named. For a lock they wait for it or hold it.
    pub functions: &'static [&'static str],
    /// The name of the lock, where the program has one for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<&'static str>,
    /// A part of the statement, normalised: its name for Redis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statement: Option<&'static str>,
    /// The lines of which a named one must be part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Lines>,
    /// Whether the cured form, which halves the cost of the location, is also what the right verdict advises: a pool that is twice as
    /// large.
    #[serde(skip)]
    pub is_cured_as_advised: bool,
}

/// A source of a service, as it is embedded in the clinic: with marks.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// The name of the file.
    pub file: &'static str,
    /// The text.
    pub text: &'static str,
}

impl Source {
    /// Returns the lines between the first and the last comment with this mark. `None` if no line has it.
    pub fn marked(&self, mark: &str) -> Option<Lines> {
        let mut lines = (1..).zip(self.text.lines()).filter(|(_, line)| marks(line).any(|found| found == mark));
        let first = lines.next()?.0;
        Some(Lines { file: self.file, first, last: lines.last().map_or(first, |(last, _)| last) })
    }

    /// Returns the text without its marks, which would give the location away. Each line keeps its number.
    pub fn unmarked(&self) -> String {
        let unmarked = |line: &str| {
            let end = COMMENTS.iter().filter_map(|comment| line.find(comment)).min();
            format!("{}\n", end.map_or(line, |end| line[..end].trim_end()))
        };
        self.text.lines().map(unmarked).collect()
    }
}

/// Returns the marks of a line.
fn marks(line: &str) -> impl Iterator<Item = &str> {
    let comment = COMMENTS.iter().find_map(|comment| line.split_once(comment)).map(|(_, rest)| rest);
    comment.into_iter().flat_map(|rest| rest.trim_end_matches("*/").split(MARK).map(str::trim))
}

impl Location {
    /// Creates the location of a fault of CPU time.
    pub fn cpu(source: Source, functions: &'static [&'static str], mark: &str) -> Self {
        Self::of(PlaceKind::Cpu, functions, source, &[mark])
    }

    /// Creates the location of a lock or a pool: `functions` wait for it or hold it.
    pub fn lock(source: Source, functions: &'static [&'static str], marks: &[&str]) -> Self {
        Self::of(PlaceKind::Lock, functions, source, marks)
    }

    /// Creates the location of a function in which threads wait.
    pub fn wait(source: Source, functions: &'static [&'static str], marks: &[&str]) -> Self {
        Self::of(PlaceKind::Wait, functions, source, marks)
    }

    /// Creates the location of a statement, which `functions` send.
    pub fn statement(
        statement: &'static str,
        source: Source,
        functions: &'static [&'static str],
        marks: &[&str],
    ) -> Self {
        Self { statement: Some(statement), ..Self::of(PlaceKind::Statement, functions, source, marks) }
    }

    /// Creates the label of a service with several equal locations.
    pub fn none() -> Self {
        Self::seen(Visibility::None, vec![], &[], vec![])
    }

    fn of(kind: PlaceKind, functions: &'static [&'static str], source: Source, marks: &[&str]) -> Self {
        let lines = marks.iter().filter_map(|mark| source.marked(mark)).collect();
        Self::seen(Visibility::Dominant, vec![kind], functions, lines)
    }

    fn seen(
        visibility: Visibility,
        kinds: Vec<PlaceKind>,
        functions: &'static [&'static str],
        lines: Vec<Lines>,
    ) -> Self {
        Self { visibility, kinds, functions, lock: None, statement: None, lines, is_cured_as_advised: false }
    }

    /// Adds the name of the lock.
    pub fn named(mut self, lock: &'static str) -> Self {
        self.lock = Some(lock);
        self
    }

    /// Adds a kind that is as true.
    pub fn or(mut self, kind: PlaceKind) -> Self {
        self.kinds.push(kind);
        self
    }

    /// Adds a part of the statement that is sent meanwhile, and makes naming the statement as true.
    pub fn or_statement(mut self, statement: &'static str) -> Self {
        self.statement = Some(statement);
        self.or(PlaceKind::Statement)
    }

    /// Marks a location whose cured form is also what the right verdict advises.
    pub fn cured_as_advised(mut self) -> Self {
        self.is_cured_as_advised = true;
        self
    }

    /// Marks a location that cannot be seen.
    pub fn invisible(mut self) -> Self {
        self.visibility = Visibility::Invisible;
        self
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.statement.or(self.lock).or(self.functions.first().copied()).unwrap_or_default();
        match (self.visibility, self.lines.first()) {
            (Visibility::None, _) => f.write_str("none"),
            (visibility, lines) => {
                let invisible = if visibility == Visibility::Invisible { "invisible: " } else { "" };
                write!(f, "{invisible}{name}")?;
                lines.map_or(Ok(()), |lines| write!(f, " ({}:{})", lines.file, lines.first))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: Source = Source {
        file: "shop.c",
        text: "int a(void) {\n    return b(); // clinic: a\n}\nint b(void) { /* clinic: b */\n    c();\n} /* clinic: b */\n",
    };

    #[test]
    fn marks_are_lines_and_are_not_written() {
        assert_eq!(SOURCE.marked("a"), Some(Lines { file: "shop.c", first: 2, last: 2 }));
        assert_eq!(SOURCE.marked("b"), Some(Lines { file: "shop.c", first: 4, last: 6 }));
        assert_eq!(SOURCE.marked("c"), None);
        assert_eq!(SOURCE.unmarked(), "int a(void) {\n    return b();\n}\nint b(void) {\n    c();\n}\n");
    }

    #[test]
    fn a_location_is_shown_by_its_name_and_its_first_line() {
        let location = Location::cpu(SOURCE, &["b"], "b");
        assert_eq!(location.to_string(), "b (shop.c:4)");
        assert_eq!(location.invisible().to_string(), "invisible: b (shop.c:4)");
        assert_eq!(Location::lock(SOURCE, &["b"], &["a"]).named("lock").to_string(), "lock (shop.c:2)");
        assert_eq!(Location::none().to_string(), "none");
    }
}
