//! A `getopt` as POSIX (XBD 12.2) and GNU describe it: the second opinion on where an option ends and its value begins.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The options of a program.
pub struct Options {
    /// Letters that take a value.
    pub with_value: &'static str,
    /// Letters that take none.
    pub alone: &'static str,
    /// Long names, and the letters that they stand for.
    pub long: &'static [(&'static str, char)],
    /// Whether the beginning of a long name is enough, where no other begins so.
    pub abbreviated: bool,
    /// Whether everything behind the first operand is one, as in POSIX.
    pub ends_at_first_operand: bool,
}

/// Returns the arguments with each option and each value on its own, and all operands behind `--`.
///
/// # Errors
/// If something is no option, or lacks its value: the options in front of it.
pub fn getopt(options: &Options, args: &[OsString]) -> Result<Vec<OsString>, Vec<char>> {
    let (mut apart, mut operands, mut found) = (Vec::new(), Vec::new(), Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let bytes = arg.as_bytes();
        if bytes == b"--" {
            operands.extend(args.by_ref().cloned());
        } else if let Some(long) = bytes.strip_prefix(b"--") {
            let (name, glued) = match long.iter().position(|&byte| byte == b'=') {
                Some(at) => (&long[..at], Some(OsString::from_vec(long[at + 1..].to_vec()))),
                None => (long, None),
            };
            let Some(letter) = options.letter(name) else { return Err(found) };
            let takes_value = options.with_value.contains(letter);
            found.push(letter);
            apart.push(format!("-{letter}").into());
            match (takes_value, glued) {
                (true, Some(value)) => apart.push(value),
                (true, None) => apart.push(args.next().cloned().ok_or_else(|| found.clone())?),
                (false, Some(_)) => return Err(found),
                (false, None) => {}
            }
        } else if let Some(mut letters) = bytes.strip_prefix(b"-").filter(|letters| !letters.is_empty()) {
            while let Some((&letter, rest)) = letters.split_first() {
                let letter = char::from(letter);
                if options.alone.contains(letter) {
                    found.push(letter);
                    apart.push(format!("-{letter}").into());
                    letters = rest;
                    continue;
                }
                if !options.with_value.contains(letter) {
                    return Err(found);
                }
                apart.push(format!("-{letter}").into());
                // Torr takes `-n=5` for `-n5`, which these programs refuse.
                let glued = rest.strip_prefix(b"=").unwrap_or(rest);
                let value = match rest {
                    [] => args.next().cloned(),
                    _ => Some(OsString::from_vec(glued.to_vec())),
                };
                apart.push(value.ok_or_else(|| found.clone())?);
                found.push(letter);
                break;
            }
        } else {
            operands.push(arg.clone());
            if options.ends_at_first_operand {
                operands.extend(args.by_ref().cloned());
            }
        }
    }
    apart.push("--".into());
    apart.extend(operands);
    Ok(apart)
}

impl Options {
    /// Returns the letter of a long name, or of the only one that begins so.
    fn letter(&self, name: &[u8]) -> Option<char> {
        let begun: Vec<_> = self.long.iter().filter(|(long, _)| long.as_bytes().starts_with(name)).collect();
        let exact = self.long.iter().find(|(long, _)| long.as_bytes() == name);
        match (exact, begun.as_slice()) {
            (Some((_, letter)), _) => Some(*letter),
            (None, [(_, letter)]) if self.abbreviated => Some(*letter),
            _ => None,
        }
    }
}
