//! The lines of a file of requests: what stands between two lines of `###`.

use crate::draft::LeftOut;

/// A request, and what stands around it.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) name: String,
    /// Definitions such as `@host = example.org`.
    pub(super) definitions: Vec<(String, String)>,
    /// Comments such as `# @no-redirect`, by name and value.
    pub(super) directives: Vec<(String, String)>,
    /// The method, the target and the version, none in a block of definitions.
    pub(super) line: String,
    pub(super) fields: Vec<(String, String)>,
    /// The lines of the content.
    pub(super) content: Vec<String>,
    pub(super) scripts_before: Vec<String>,
    pub(super) scripts_after: Vec<String>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Which part of a block the next line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Above,
    Fields,
    Content,
}

/// Splits a text into its blocks.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut block = Block::default();
    let mut part = Part::Above;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("###") {
            blocks.push(std::mem::take(&mut block));
            block.name = name.trim_matches(|c: char| c == '#' || c.is_whitespace()).to_owned();
            part = Part::Above;
            continue;
        }
        let trimmed = line.trim();
        let script = ["< {%", "> {%", "<{%", ">{%"].iter().find_map(|begin| trimmed.strip_prefix(begin));
        if let Some(first) = script {
            let script = until(first, "%}", &mut lines);
            if trimmed.starts_with('<') { &mut block.scripts_before } else { &mut block.scripts_after }.push(script);
            continue;
        }
        if part != Part::Above && block.behind(line) {
            continue;
        }
        if let Some(comment) = comment(trimmed) {
            block.comment(comment, part);
            continue;
        }
        part = match part {
            Part::Above => block.above(trimmed, &mut lines),
            Part::Fields if trimmed.is_empty() => Part::Content,
            Part::Fields => {
                block.field(trimmed);
                Part::Fields
            }
            Part::Content => {
                block.content.push(line.to_owned());
                Part::Content
            }
        };
    }
    blocks.push(block);
    blocks
}

/// Returns the text of a comment's line.
fn comment(trimmed: &str) -> Option<&str> {
    trimmed.strip_prefix('#').or_else(|| trimmed.strip_prefix("//")).map(str::trim)
}

/// Returns text up to a mark, which may stand in one of the next lines.
fn until<'t>(first: &str, end: &str, lines: &mut impl Iterator<Item = &'t str>) -> String {
    let mut text = String::new();
    let mut next = Some(first);
    while let Some(line) = next {
        if let Some((line, _)) = line.split_once(end) {
            text.push_str(line);
            break;
        }
        text.push_str(line);
        text.push('\n');
        next = lines.next();
    }
    text
}

impl Block {
    /// Takes a line above the request's own, or that one.
    fn above<'t>(&mut self, trimmed: &str, lines: &mut impl Iterator<Item = &'t str>) -> Part {
        if trimmed.is_empty() {
            return Part::Above;
        }
        if let Some((name, value)) = trimmed.strip_prefix('@').and_then(|rest| rest.split_once('=')) {
            self.definitions.push((name.trim_end_matches(':').trim().to_owned(), value.trim().to_owned()));
        } else if trimmed == "{{" || trimmed.starts_with("{{@") || trimmed.starts_with("{{+") {
            until("", "}}", lines);
            self.left_out.push(LeftOut::new("script in braces", "", "no counterpart"));
        } else if let Some(file) = trimmed.strip_prefix("< ") {
            self.left_out.push(LeftOut::new("script before the request", file, "in another file"));
        } else if trimmed.starts_with("import ") || trimmed.starts_with("run ") {
            self.left_out.push(LeftOut::new("requests of another file", trimmed, "import that file by itself"));
        } else {
            self.line = trimmed.to_owned();
            return Part::Fields;
        }
        Part::Above
    }

    fn comment(&mut self, comment: &str, part: Part) {
        if let Some(directive) = comment.strip_prefix('@') {
            let (name, value) = directive.split_once([' ', '=', '\t']).unwrap_or((directive, ""));
            self.directives.push((name.to_owned(), value.trim_start_matches('=').trim().to_owned()));
        } else if part == Part::Content {
            self.left_out.push(LeftOut::new("comment in the content", "", "httpyac sends none"));
        }
    }

    fn field(&mut self, trimmed: &str) {
        if self.fields.is_empty() && trimmed.starts_with(['?', '&', '/']) {
            // The rest of the target, before a version if there is one.
            self.line.push_str(trimmed);
        } else if let Some((name, value)) = trimmed.split_once(':').filter(|(name, _)| !name.trim().is_empty()) {
            self.fields.push((name.trim().to_owned(), value.trim().to_owned()));
        } else {
            self.left_out.push(LeftOut::new("line of the fields", "", "neither a field nor a part of the target"));
        }
    }

    /// Takes a line behind the content; `false` for one of the content.
    fn behind(&mut self, line: &str) -> bool {
        let (what, which, reason) = if let Some(file) = line.strip_prefix(">>") {
            ("file for the response", file.trim_start_matches('!').trim(), "responses are not kept")
        } else if let Some(file) = line.strip_prefix("<>") {
            ("saved response", file.trim(), "it is documentation")
        } else if let Some(file) = line.strip_prefix("> ").filter(|file| file.trim_end().ends_with(".js")) {
            ("response handler", file.trim(), "in another file")
        } else if let Some(condition) = line.strip_prefix("?? ") {
            return self.condition(condition.trim());
        } else {
            return false;
        };
        self.left_out.push(LeftOut::new(what, which, reason));
        true
    }

    /// Takes a condition of httpyac's on the response.
    fn condition(&mut self, condition: &str) -> bool {
        let status = condition.strip_prefix("status").map(str::trim).and_then(|rest| rest.strip_prefix("=="));
        match status.map(str::trim).filter(|code| code.parse::<u16>().is_ok()) {
            Some(code) => self.scripts_after.push(format!("client.assert(response.status === {code});")),
            None => self.left_out.push(LeftOut::new("condition", condition, "no counterpart")),
        }
        true
    }
}
