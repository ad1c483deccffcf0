//! Character references of HTML in text.

use encoding_rs::WINDOWS_1252;
use html5ever::data::NAMED_ENTITIES;

/// The most characters of a named reference, its semicolon aside.
const LONGEST_NAME: usize = 32;

/// Returns the text with references for what has a meaning in HTML, those that hurl writes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for next in text.chars() {
        match next {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#x27;"),
            next => out.push(next),
        }
    }
    out
}

/// Returns the text with each reference replaced by what it stands for, as browsers do: a semicolon may be missing (HTML, section
/// 13.2.5.72). What is no reference stays.
pub fn unescape(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let length = if rest.starts_with('#') { numeric(rest, &mut out) } else { named(rest, &mut out) };
        match length {
            Some(length) => rest = &rest[length..],
            None => out.push('&'),
        }
    }
    out.push_str(rest);
    out
}

/// Appends the character that a number after `#` stands for, and returns the length of the reference after its ampersand.
fn numeric(text: &str, out: &mut String) -> Option<usize> {
    let (prefix, radix) = if text[1..].starts_with(['x', 'X']) { (2, 16) } else { (1, 10) };
    let digits = text[prefix..].bytes().take_while(|byte| (*byte as char).is_digit(radix)).count();
    let end = prefix + digits;
    if digits == 0 {
        return None;
    }
    // Of the numbers that are no characters, only those of controls and of noncharacters stand for nothing.
    match u32::from_str_radix(&text[prefix..end], radix).ok().filter(|number| *number != 0) {
        Some(number @ 0x80..=0x9f) => out.push_str(&WINDOWS_1252.decode(&[number as u8]).0),
        Some(number) => out.extend(Some(char::from_u32(number).unwrap_or('\u{fffd}')).filter(|c| !is_left_out(*c))),
        None => out.push('\u{fffd}'),
    }
    Some(end + usize::from(text[end..].starts_with(';')))
}

fn is_left_out(character: char) -> bool {
    let is_noncharacter = (u32::from(character) & 0xfffe) == 0xfffe || ('\u{fdd0}'..='\u{fdef}').contains(&character);
    is_noncharacter || (character.is_control() && !matches!(character, '\t' | '\n' | '\u{c}' | '\r'))
}

/// Appends what the longest name at the beginning of the text stands for, and returns its length.
fn named(text: &str, out: &mut String) -> Option<usize> {
    let is_name = |c: char| !matches!(c, '\t' | '\n' | '\u{c}' | ' ' | '<' | '&' | '#' | ';');
    let name = text.chars().take(LONGEST_NAME).take_while(|c| is_name(*c)).map(char::len_utf8).sum::<usize>();
    let with_semicolon = text[name..].starts_with(';').then_some(name + 1);
    let shorter = (1..=name).rev().filter(|end| text.is_char_boundary(*end));
    with_semicolon.into_iter().chain(shorter).find_map(|end| {
        // The table has the beginnings of names too, which stand for nothing.
        let (first, second) = *NAMED_ENTITIES.get(&text[..end]).filter(|(first, _)| *first != 0)?;
        out.extend(char::from_u32(first));
        out.extend(char::from_u32(second).filter(|second| *second != '\0'));
        Some(end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_replaced_by_what_they_stand_for() {
        for (text, expected) in [
            ("&lt;a&gt; &amp;amp; &#x27;&#39;", "<a> &amp; ''"),
            (
                "&#8364; &#x82; &amp &copy &eacute; &lt&nosuch; &Afr;",
                "\u{20ac} \u{201a} & \u{a9} \u{e9} <&nosuch; \u{1d504}",
            ),
            ("&notit; &notin; &NotEqualTilde;", "\u{ac}it; \u{2209} \u{2242}\u{338}"),
            ("&#0; &#xd800; &#x110000; &#99999999999;", "\u{fffd} \u{fffd} \u{fffd} \u{fffd}"),
            ("&#1;&#xffff;&#xfdd0;|&#9;|&#x0D;", "|\t|\r"),
            ("& && &; &# &#; &#x; &#xg &é; a&b", "& && &; &# &#; &#x; &#xg &é; a&b"),
        ] {
            assert_eq!(unescape(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_escaped_is_unescaped() {
        let text = "<a href='/x'> & \"\u{e9}\"";
        assert_eq!(escape(text), "&lt;a href=&#x27;/x&#x27;&gt; &amp; &quot;\u{e9}&quot;");
        assert_eq!(unescape(&escape(text)), text);
    }
}
