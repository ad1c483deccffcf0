//! Entities that a document declares, replaced by their text before the document is parsed, up to a limit.
//!
//! The parser never sees a document type declaration, so what entities grow to is bounded by the text that is made here, in
//! whatever way they are written.

use std::borrow::Cow;
use std::collections::HashMap;

/// How many bytes references may grow to, in a whole document.
const MAX_EXPANDED: usize = 16 << 20;
/// What a reference costs beside the text that it stands for, in bytes: references to nothing take time as well.
const REFERENCE: usize = 16;
/// How deep references may lead to further references; deeper ones refer to themselves.
const MAX_LEVELS: usize = 40;
/// Entities that every parser knows (XML 1.0, section 4.6).
const PREDEFINED: [&str; 5] = ["amp", "lt", "gt", "apos", "quot"];

/// The entities of a document: names and replacement texts.
type Entities<'t> = HashMap<&'t str, String>;

/// Returns a document without its document type declaration, the references to the entities that it declares replaced. Lines
/// keep their numbers. External entities and those of parameters (`%name;`) are not read.
///
/// # Errors
/// In words, if the declaration is malformed, or the references grow beyond the limit.
pub fn expand(text: &str) -> Result<Cow<'_, str>, String> {
    let malformed = || "cannot parse XML: malformed document type declaration".to_owned();
    let Some(start) = declaration_start(text) else { return Ok(Cow::Borrowed(text)) };
    let mut cursor = Cursor(&text[start..]);
    let entities = declaration(&mut cursor).ok_or_else(malformed)?;
    let end = text.len() - cursor.0.len();
    let mut out = Expanded { text: text[..start].to_owned(), left: MAX_EXPANDED };
    out.text.extend(text[start..end].chars().map(|c| if matches!(c, '\n' | '\r') { c } else { ' ' }));
    out.content(&entities, &text[end..], 0)?;
    Ok(Cow::Owned(out.text))
}

/// Returns the position of the document type declaration, which only comments and processing instructions may stand before.
fn declaration_start(text: &str) -> Option<usize> {
    let mut cursor = Cursor(text);
    loop {
        cursor.skip_spaces();
        match cursor.0 {
            rest if rest.starts_with("<!DOCTYPE") => return Some(text.len() - rest.len()),
            rest if rest.starts_with("<!--") => cursor.skip_comment()?,
            rest if rest.starts_with("<?") => cursor.skip_past("?>")?,
            _ => return None,
        }
    }
}

/// Reads a document type declaration (XML 1.0, section 2.8).
fn declaration<'t>(cursor: &mut Cursor<'t>) -> Option<Entities<'t>> {
    let mut entities = Entities::new();
    if cursor.skip_to(&['[', '>'])? == '>' {
        return Some(entities);
    }
    loop {
        cursor.skip_spaces();
        match cursor.0 {
            rest if rest.starts_with(']') => {
                cursor.0 = &rest[1..];
                cursor.skip_spaces();
                cursor.skip_past_char('>')?;
                return Some(entities);
            }
            rest if rest.starts_with("<!--") => cursor.skip_comment()?,
            rest if rest.starts_with("<?") => cursor.skip_past("?>")?,
            rest if rest.starts_with("<!ENTITY") => {
                cursor.0 = &rest["<!ENTITY".len()..];
                if let Some((name, value)) = entity(cursor)? {
                    // The first declaration of a name counts.
                    entities.entry(name).or_insert_with(|| replacement(value));
                }
            }
            rest if rest.starts_with("<!") => {
                cursor.skip_to(&['>'])?;
            }
            rest if rest.starts_with('%') => cursor.skip_past(";")?,
            _ => return None,
        }
    }
}

/// Reads the declaration of an entity behind its keyword: name and literal value, if it is one that references can name.
fn entity<'t>(cursor: &mut Cursor<'t>) -> Option<Option<(&'t str, &'t str)>> {
    cursor.skip_spaces();
    let is_parameter = cursor.skip_past_char('%').is_some();
    cursor.skip_spaces();
    let name = cursor.word();
    cursor.skip_spaces();
    let value = cursor.literal();
    cursor.skip_to(&['>'])?;
    if name.is_empty() {
        return None;
    }
    Some(value.filter(|_| !is_parameter).map(|value| (name, value)))
}

/// Returns the replacement text of an entity: its literal value, character references in it resolved (XML 1.0, section 4.5).
fn replacement(value: &str) -> String {
    let (mut out, mut rest) = (String::new(), value);
    while let Some(at) = rest.find("&#") {
        out.push_str(&rest[..at]);
        let end = rest[at..].find(';').map_or(rest.len(), |end| at + end + 1);
        match character(&rest[at..end]) {
            Some(c) => out.push(c),
            // The parser tells what is wrong with this reference.
            None => out.push_str(&rest[at..end]),
        }
        rest = &rest[end..];
    }
    out + rest
}

/// Returns the character that a reference such as `&#38;` stands for.
fn character(reference: &str) -> Option<char> {
    let digits = reference.strip_prefix("&#")?.strip_suffix(';')?;
    let number = match digits.strip_prefix('x') {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    let is_allowed = |c: &char| !c.is_control() || matches!(c, '\t' | '\n' | '\r' | '\u{7f}'..='\u{9f}');
    char::from_u32(number).filter(is_allowed)
}

/// The text of a document whose references are replaced.
struct Expanded {
    text: String,
    /// How many bytes references may still grow to.
    left: usize,
}

impl Expanded {
    fn take(&mut self, bytes: usize) -> Result<(), String> {
        let too_large = || format!("the content's entities could expand to more than {MAX_EXPANDED} bytes");
        self.left = self.left.checked_sub(bytes).ok_or_else(too_large)?;
        Ok(())
    }

    /// Appends text; at level 0 the document's own, otherwise that of an entity.
    fn push(&mut self, text: &str, level: usize) -> Result<(), String> {
        if level > 0 {
            self.take(text.len())?;
        }
        self.text.push_str(text);
        Ok(())
    }

    /// Appends content: text, tags, comments and the like.
    fn content(&mut self, entities: &Entities<'_>, text: &str, level: usize) -> Result<(), String> {
        let mut rest = text;
        while let Some(at) = rest.find(['<', '&']) {
            self.push(&rest[..at], level)?;
            rest = &rest[at..];
            let (end, is_tag) = match rest {
                _ if rest.starts_with('&') => {
                    rest = self.reference(entities, rest, level, false)?;
                    continue;
                }
                _ if rest.starts_with("<!--") => (end_of(rest, 4, "-->"), false),
                _ if rest.starts_with("<![CDATA[") => (end_of(rest, 9, "]]>"), false),
                _ if rest.starts_with("<?") => (end_of(rest, 2, "?>"), false),
                _ => {
                    let mut cursor = Cursor(rest);
                    (cursor.skip_to(&['>']).map_or(rest.len(), |_| rest.len() - cursor.0.len()), true)
                }
            };
            let (piece, after) = rest.split_at(end);
            match is_tag {
                true => self.tag(entities, piece, level)?,
                false => self.push(piece, level)?,
            }
            rest = after;
        }
        self.push(rest, level)
    }

    /// Appends a tag; references stand in the values of its attributes.
    fn tag(&mut self, entities: &Entities<'_>, tag: &str, level: usize) -> Result<(), String> {
        let mut rest = tag;
        while let Some(at) = rest.find('&') {
            self.push(&rest[..at], level)?;
            rest = self.reference(entities, &rest[at..], level, true)?;
        }
        self.push(rest, level)
    }

    /// Appends what the reference at the front of a text stands for, and returns what follows it. What is not declared in the
    /// document is left to the parser.
    fn reference<'r>(
        &mut self,
        entities: &Entities<'_>,
        text: &'r str,
        level: usize,
        in_value: bool,
    ) -> Result<&'r str, String> {
        let name = Cursor(&text[1..]).word();
        let declared = entities.get(name).filter(|_| !PREDEFINED.contains(&name));
        let after = text[1 + name.len()..].strip_prefix(';');
        let (Some(replacement), Some(after)) = (declared, after) else {
            self.push("&", level)?;
            return Ok(&text[1..]);
        };
        if level == MAX_LEVELS {
            return Err(format!(
                "the content's entities refer to themselves, or are nested deeper than {MAX_LEVELS} levels"
            ));
        }
        self.take(REFERENCE)?;
        match in_value {
            true => self.value(entities, replacement, level + 1)?,
            false => self.content(entities, replacement, level + 1)?,
        }
        Ok(after)
    }

    /// Appends an entity's text within the value of an attribute, where its quotes end nothing (XML 1.0, section 4.4.5).
    fn value(&mut self, entities: &Entities<'_>, text: &str, level: usize) -> Result<(), String> {
        let mut rest = text;
        while let Some(at) = rest.find(['&', '"', '\'']) {
            self.push(&rest[..at], level)?;
            rest = match &rest[at..] {
                reference if reference.starts_with('&') => self.reference(entities, reference, level, true)?,
                quote => {
                    self.push(if quote.starts_with('"') { "&quot;" } else { "&apos;" }, level)?;
                    &quote[1..]
                }
            };
        }
        self.push(rest, level)
    }
}

/// Returns the position behind an end, which is looked for from a position on; that of the text's end if there is none.
fn end_of(text: &str, from: usize, end: &str) -> usize {
    text[from..].find(end).map_or(text.len(), |at| from + at + end.len())
}

/// What is left to read of a text.
struct Cursor<'t>(&'t str);

impl<'t> Cursor<'t> {
    fn skip_spaces(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    fn skip_comment(&mut self) -> Option<()> {
        self.0 = self.0.get(4..)?;
        self.skip_past("-->")
    }

    fn skip_past(&mut self, end: &str) -> Option<()> {
        self.0 = self.0.split_once(end)?.1;
        Some(())
    }

    fn skip_past_char(&mut self, c: char) -> Option<()> {
        self.0 = self.0.strip_prefix(c)?;
        Some(())
    }

    /// Skips what stands before the first of these characters outside quotes, and the character, which is returned.
    fn skip_to(&mut self, ends: &[char]) -> Option<char> {
        let mut quote = None;
        for (at, c) in self.0.char_indices() {
            match quote {
                Some(open) if c == open => quote = None,
                Some(_) => {}
                None if ends.contains(&c) => {
                    self.0 = &self.0[at + c.len_utf8()..];
                    return Some(c);
                }
                None if matches!(c, '"' | '\'') => quote = Some(c),
                None => {}
            }
        }
        None
    }

    /// Takes a name: what no space and no punctuation of markup ends.
    fn word(&mut self) -> &'t str {
        let ends =
            |c: char| c.is_ascii_whitespace() || matches!(c, '&' | ';' | '<' | '>' | '"' | '\'' | '%' | '#' | '/');
        let (word, rest) = self.0.split_at(self.0.find(ends).unwrap_or(self.0.len()));
        self.0 = rest;
        word
    }

    /// Takes text in quotes, if it comes next, without the quotes.
    fn literal(&mut self) -> Option<&'t str> {
        let quote = self.0.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, rest) = self.0[1..].split_once(quote)?;
        self.0 = rest;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_replaced_where_they_are_references() {
        for (text, expanded) in [
            ("<a>&b;</a>", "<a>&b;</a>"),
            ("<!DOCTYPE a>\n<a/>", "            \n<a/>"),
            (
                "<?x?><!--y--><!DOCTYPE a [\n<!ENTITY b 'c'>]><a>&b;</a>",
                "<?x?><!--y-->             \n                 <a>c</a>",
            ),
        ] {
            assert_eq!(expand(text).as_deref(), Ok(expanded), "{text}");
        }
        let declared = "<!DOCTYPE a SYSTEM ']>' [<!--<!ENTITY b 'no'> ]>--><?p ]>?><!ATTLIST a x CDATA ']>'> %p;\
            <!ENTITY % b 'no'><!ENTITY b '1'><!ENTITY b '2'><!ENTITY c \"&b;'&#38;&#60;\"><!ENTITY lt 'no'>\
            <!ENTITY d SYSTEM 'file'><!ENTITY e '<i x=\"&b;\">&b;</i>'>] >";
        for (text, expanded) in [
            ("<a>&b;&c;</a>", "<a>11'&<</a>"),
            ("<a x='&c;' y=\"&b;\"/>", "<a x='1&apos;&<' y=\"1\"/>"),
            ("<a>&e;</a>", "<a><i x=\"1\">1</i></a>"),
            ("<a><!--&b;--><![CDATA[&b;]]><?p &b;?>&b</a>", "<a><!--&b;--><![CDATA[&b;]]><?p &b;?>&b</a>"),
            ("<a>&lt;&#98;&d;&f;</a>", "<a>&lt;&#98;&d;&f;</a>"),
        ] {
            let found = expand(&format!("{declared}{text}")).map(|found| found.trim_start().to_owned());
            assert_eq!(found.as_deref(), Ok(expanded), "{text}");
        }
        for text in ["<!DOCTYPE a [", "<!DOCTYPE a [<!ENTITY>]><a/>", "<!DOCTYPE a [x]><a/>", "<!DOCTYPE a [<!--]><a/>"]
        {
            assert!(expand(text).is_err_and(|why| why.contains("malformed")), "{text}");
        }
    }

    #[test]
    fn what_references_grow_to_is_bounded() {
        let million = "A".repeat(1_000_000);
        let levels: String = (1..30).map(|level| format!("<!ENTITY e{level} '&e{0};&e{0};'>", level - 1)).collect();
        let bombs = [
            // A declaration behind a comment that looks like one.
            format!(
                "[<!--<!ENTITY ]>--><!ENTITY a '{million}'><!ENTITY b '{}'>]><r x='{}'/>",
                "&a;".repeat(255),
                "&b;".repeat(40)
            ),
            format!("[<?x ]>?><!ENTITY a '{million}'>]><r>{}</r>", "&a;".repeat(40)),
            format!("[<!ATTLIST r x CDATA ']>'><!ENTITY a '{million}'>]><r>{}</r>", "&a;".repeat(40)),
            format!("SYSTEM ']>' [<!ENTITY a '{million}'>]><r>{}</r>", "&a;".repeat(40)),
            // Nothing, a billion times.
            format!("[<!ENTITY e0 ''>{levels}]><r>&e29;</r>"),
            format!("[<!ENTITY e0 ''>{levels}]><r x='&e29;'/>"),
        ];
        for bomb in bombs {
            let error = expand(&format!("<!DOCTYPE r {bomb}")).expect_err("it must be refused");
            assert!(error.starts_with("the content's entities could expand"), "{error}");
        }
        let own = "<!DOCTYPE r [<!ENTITY a '&b;'><!ENTITY b '&a;'>]><r>&a;</r>";
        assert!(expand(own).is_err_and(|why| why.starts_with("the content's entities refer to themselves")));
    }
}
