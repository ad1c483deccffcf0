//! The lines of a file of requests: what stands between two lines of `###`.

use super::line;
use crate::draft::LeftOut;
use crate::script::Phase;
use std::iter::Peekable;
use std::str::Lines;

/// A definition such as `@host = example.org`.
#[derive(Debug, Clone)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) value: String,
    /// Whether the value is read again for each request that uses it, as with `@name := value`.
    pub(super) is_lazy: bool,
}

/// The language of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// That of JetBrains' client, between `{%` and `%}`.
    Jetbrains,
    /// That of httpyac, between braces.
    Httpyac,
}

/// A script of a request.
#[derive(Debug, Clone)]
pub(super) struct Script {
    pub(super) phase: Phase,
    pub(super) language: Language,
    /// The text, or the name of the file that has it.
    pub(super) text: Result<String, String>,
}

/// A request, and what stands around it.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    pub(super) title: String,
    pub(super) definitions: Vec<Definition>,
    /// Comments such as `# @no-redirect`, by name and value.
    pub(super) directives: Vec<(String, String)>,
    /// The method, the target and the version, none in a block of definitions.
    pub(super) line: String,
    pub(super) fields: Vec<(String, String)>,
    /// The lines of the content.
    pub(super) content: Vec<String>,
    pub(super) scripts: Vec<Script>,
    /// Conditions of httpyac's on the response.
    pub(super) conditions: Vec<String>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Which part of a block the next line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Above,
    Fields,
    Content,
    /// A response that an editor wrote into the file.
    Response,
}

/// Splits a text into its blocks.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut block = Block::default();
    let mut part = Part::Above;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_content = part == Part::Content;
        if let Some(title) = line::separator(line).filter(|title| !is_content || block.is_separated(title)) {
            blocks.push(std::mem::take(&mut block));
            block.title = title.to_owned();
            part = Part::Above;
            continue;
        }
        if part == Part::Response {
            continue;
        }
        if part != Part::Above && line::is_request(line) && !block.is_mixed() {
            blocks.push(std::mem::take(&mut block));
            part = Part::Above;
        }
        part = block.take(line, part, &mut lines);
    }
    blocks.push(block);
    blocks
}

impl Block {
    /// Returns the name by which other requests refer to this one's response.
    pub(super) fn name(&self) -> &str {
        self.directive("name").filter(|name| !name.is_empty()).unwrap_or(&self.title)
    }

    /// Returns the value of a comment such as `# @loop for 3`.
    pub(super) fn directive(&self, name: &str) -> Option<&str> {
        self.directives.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Returns the value of a field of the file.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the texts that are sent and can have variables.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let fields = self.fields.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
        let definitions = self.definitions.iter().map(|definition| definition.value.as_str());
        std::iter::once(self.line.as_str())
            .chain(fields)
            .chain(self.content.iter().map(String::as_str))
            .chain(definitions)
    }

    /// Returns the bytes of the texts.
    pub(super) fn size(&self) -> usize {
        self.texts().map(str::len).sum()
    }

    /// Returns this block with other texts in the places of [`texts`](Self::texts).
    pub(super) fn rewritten(&self, rewrite: impl Fn(&str) -> String) -> Self {
        let mut made = self.clone();
        made.line = rewrite(&made.line);
        made.fields.iter_mut().for_each(|(_, value)| *value = rewrite(value));
        made.content.iter_mut().for_each(|line| *line = rewrite(line));
        made.definitions.iter_mut().for_each(|definition| definition.value = rewrite(&definition.value));
        made
    }

    fn is_kind(&self, kind: &str) -> bool {
        let of = |value: &str| value.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case(kind));
        self.field("content-type").is_some_and(of)
    }

    /// Whether requests may be parts of the content.
    fn is_mixed(&self) -> bool {
        self.is_kind("multipart/mixed") || self.directive("force-region-delimiter").is_some()
    }

    /// Whether a separator with this title ends the content: Markdown has titles of its own.
    fn is_separated(&self, title: &str) -> bool {
        title.is_empty() || !self.is_kind("text/markdown")
    }

    /// Takes a line, and returns the part of the next one.
    fn take(&mut self, line: &str, part: Part, lines: &mut Peekable<Lines<'_>>) -> Part {
        let trimmed = line.trim();
        let behind = if part == Part::Fields { Part::Content } else { part };
        let is_above = part == Part::Above;
        if let Some(first) = line::script(trimmed, '>').or_else(|| line::script(trimmed, '<').filter(|_| is_above)) {
            let phase = if trimmed.starts_with('<') { Phase::Before } else { Phase::After };
            self.script(phase, Language::Jetbrains, until(first, "%}", lines));
            return behind;
        }
        if let Some(event) = line::braces(trimmed) {
            let text = until_line("}}", lines);
            match (event.trim_start_matches('@'), part) {
                (event, _) if event.starts_with('+') => {
                    self.left_out.push(LeftOut::new("script for all requests", "", "no counterpart"));
                }
                ("request", _) | ("", Part::Above) => self.script(Phase::Before, Language::Httpyac, text),
                _ => self.script(Phase::After, Language::Httpyac, text),
            }
            return behind;
        }
        if is_above && let Some(file) = line::file(trimmed, '<') {
            self.scripts.push(Script {
                phase: Phase::Before,
                language: Language::Jetbrains,
                text: Err(file.to_owned()),
            });
            return part;
        }
        if !is_above && self.behind(trimmed) {
            return behind;
        }
        let is_comment = line::is_comment(trimmed) && !(part == Part::Content && self.is_kind("text/markdown"));
        if is_comment {
            self.comment(trimmed, part);
            return part;
        }
        if trimmed == "/*" {
            until_line("*/", lines);
            self.comment(trimmed, part);
            return part;
        }
        if let Some((name, value, is_lazy)) = line::definition(trimmed, is_above).filter(|_| part != Part::Fields) {
            if value.starts_with('"') {
                self.left_out.push(LeftOut::new(
                    "meaning of quotes",
                    name,
                    "sent, as in VS Code; httpyac drops the first",
                ));
            }
            self.definitions.push(Definition { name: name.to_owned(), value: value.to_owned(), is_lazy });
            return part;
        }
        match part {
            Part::Above => self.above(trimmed),
            Part::Fields if trimmed.is_empty() => Part::Content,
            Part::Fields if self.head(trimmed) => Part::Fields,
            _ if line::is_status(trimmed) => {
                self.left_out.push(LeftOut::new("saved response", "", "it is documentation"));
                Part::Response
            }
            _ => {
                self.content.push(line.to_owned());
                Part::Content
            }
        }
    }

    fn script(&mut self, phase: Phase, language: Language, text: String) {
        self.scripts.push(Script { phase, language, text: Ok(text) });
    }

    /// Takes a line above the request's own, or that one.
    fn above(&mut self, trimmed: &str) -> Part {
        if trimmed.is_empty() {
            return Part::Above;
        }
        if let Some(condition) = trimmed.strip_prefix("??") {
            self.conditions.push(condition.trim().to_owned());
        } else if trimmed.starts_with("import ") || trimmed.starts_with("run ") {
            self.left_out.push(LeftOut::new("requests of another file", trimmed, "import that file by itself"));
        } else {
            self.line = trimmed.to_owned();
            return Part::Fields;
        }
        Part::Above
    }

    fn comment(&mut self, trimmed: &str, part: Part) {
        if let Some((name, value)) = line::directive(trimmed) {
            self.directives.push((name, value));
        } else if part == Part::Content && !self.content.is_empty() {
            self.left_out.push(LeftOut::new("comment in the content", "", "httpyac sends none"));
        }
    }

    /// Takes a line of the header section; `false` for one of the content.
    fn head(&mut self, trimmed: &str) -> bool {
        if line::is_method(&self.line) && self.fields.is_empty() {
            // The target may stand below its method.
            self.line = format!("{} {trimmed}", self.line);
        } else if line::is_target(trimmed) {
            // The rest of the target, before a version if there is one.
            self.line.push_str(trimmed);
        } else if let Some(variable) = trimmed.strip_prefix("...") {
            self.left_out.push(LeftOut::new("fields of a variable", variable, "no counterpart"));
        } else if let Some((name, value)) = line::field(trimmed) {
            self.fields.push((name.to_owned(), value.to_owned()));
        } else {
            return false;
        }
        true
    }

    /// Takes a line about the response; `false` for any other.
    fn behind(&mut self, trimmed: &str) -> bool {
        let (what, which, reason) = if let Some(file) = line::output(trimmed) {
            ("file for the response", file, "responses are not kept")
        } else if let Some(file) = trimmed.strip_prefix("<>").map(str::trim).filter(|file| !file.is_empty()) {
            ("saved response", file, "it is documentation")
        } else if let Some(file) = line::file(trimmed, '>') {
            self.scripts.push(Script {
                phase: Phase::After,
                language: Language::Jetbrains,
                text: Err(file.to_owned()),
            });
            return true;
        } else if let Some(condition) = trimmed.strip_prefix("?? ") {
            self.conditions.push(condition.trim().to_owned());
            return true;
        } else {
            return false;
        };
        self.left_out.push(LeftOut::new(what, which, reason));
        true
    }
}

/// Returns text up to a mark, which may stand in one of the next lines of the block.
fn until(first: &str, end: &str, lines: &mut Peekable<Lines<'_>>) -> String {
    let mut text = Vec::new();
    let mut line = first;
    loop {
        if let Some((before, _)) = line.split_once(end) {
            text.push(before);
            break;
        }
        text.push(line);
        match lines.next_if(|next| line::separator(next).is_none()) {
            Some(next) => line = next,
            None => break,
        }
    }
    text.join("\n")
}

/// Returns the lines of the block before one that consists of a mark.
fn until_line(end: &str, lines: &mut Peekable<Lines<'_>>) -> String {
    let mut text = Vec::new();
    while let Some(line) = lines.next_if(|next| line::separator(next).is_none()) {
        if line.trim() == end {
            break;
        }
        text.push(line);
    }
    text.join("\n")
}
