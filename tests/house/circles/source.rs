//! Reads what the modules of a crate use of each other, from a source file without its tests.

use std::collections::{BTreeMap, BTreeSet};

/// The names that lead to a module or an item: `["crate", "wire", "Head"]`.
pub type Path = Vec<String>;

/// The uses that one file makes of other modules.
#[derive(Debug, Default)]
pub struct Source {
    /// Paths in code and in private `use` declarations, each with the inline modules around it.
    pub uses: Vec<(Path, Path)>,
    /// Targets of names that `use` declarations bring into the file's scope, public or private.
    pub names: BTreeMap<String, Path>,
    /// Child modules that exist for tests only.
    pub test_modules: Vec<String>,
    /// Names of functions that the file defines.
    pub functions: BTreeSet<String>,
    /// Whether the file has a type of function pointers: `fn(u8) -> u8`.
    pub has_pointers: bool,
    /// Names for such types: `type Reader = fn(&str)`.
    pub pointer_types: BTreeSet<String>,
    /// All words of the file's code.
    pub words: BTreeSet<String>,
    /// Functions that the file passes to others by name.
    pub passed: Vec<Passed>,
}

/// A function that is passed to another one by its name: `command_line::note(grammar)`. What a type's own function is passed becomes
/// part of a value, such as a row of a table, and the owner of the value calls it.
#[derive(Debug)]
pub struct Passed {
    /// The inline modules around the call.
    pub inline: Path,
    /// The function that is called.
    pub to: Path,
    /// The function that is passed.
    pub function: Path,
}

impl Source {
    /// Reads a file. `children` are the modules whose names begin paths without `self::`.
    pub fn read(text: &str, children: &[String]) -> Self {
        let mut source = Self::default();
        let tokens = source.without_tests(&tokens(text));
        let (mut public, mut values) = (Vec::new(), Vec::new());
        let words: BTreeSet<String> = tokens.iter().filter(|token| is_word(token)).cloned().collect();
        let variables = variables(&tokens);
        let (mut inline, mut depth, mut at): (Vec<(String, usize)>, usize, usize) = (Vec::new(), 0, 0);
        while at < tokens.len() {
            let token = tokens[at].as_str();
            let around: Path = inline.iter().map(|(name, _)| name.clone()).collect();
            let next = |n: usize| tokens.get(at + n).map_or("", String::as_str);
            match token {
                "{" => depth += 1,
                "}" => {
                    depth = depth.saturating_sub(1);
                    inline.pop_if(|(_, opened)| *opened == depth);
                }
                "fn" if next(1) == "(" => {
                    source.has_pointers = true;
                    if let [.., keyword, name, equals] = &tokens[..at]
                        && keyword == "type"
                        && equals == "="
                    {
                        source.pointer_types.insert(name.clone());
                    }
                }
                "fn" => drop(source.functions.insert(next(1).to_owned())),
                "mod" if next(2) == "{" => inline.push((next(1).to_owned(), depth)),
                // What follows otherwise is a list of captured lifetimes.
                "use" if next(1) != "<" => {
                    let end = tokens[at..].iter().position(|token| token == ";").map_or(tokens.len(), |n| at + n);
                    let mut leaves = Vec::new();
                    tree(&tokens[at + 1..end], &mut Vec::new(), &mut leaves);
                    let is_public = at > 0 && (tokens[at - 1] == "pub" || tokens[at - 1] == ")");
                    for (path, name) in leaves {
                        if is_local(&path, children) {
                            source.names.insert(name.clone(), path.clone());
                            match is_public {
                                true => public.push((name, around.clone(), path)),
                                false => source.uses.push((around.clone(), path)),
                            }
                        }
                    }
                    at = end;
                }
                _ if is_word(token) => {
                    let begins = at == 0 || !["::", ".", "in", "mod"].contains(&tokens[at - 1].as_str());
                    let path = path(&tokens[at..]);
                    let is_of_type =
                        |path: &Path| path.len() > 1 && path[path.len() - 2].starts_with(char::is_uppercase);
                    if begins && !is_of_type(&path) && (at == 0 || tokens[at - 1] != "fn") {
                        let arguments = &tokens[at + 2 * path.len() - 1..];
                        let passed = |function| Passed { inline: around.clone(), to: path.clone(), function };
                        source.passed.extend(functions_in(arguments, &variables).into_iter().map(passed));
                    }
                    if begins && path.len() > 1 && is_local(&path, children) {
                        source.uses.push((around, path));
                    }
                    values.push(token.to_owned());
                }
                _ => {}
            }
            at += 1;
        }
        // A public declaration alone hands a name on. The file's own code uses that name where the name occurs.
        let used = public.into_iter().filter(|(name, ..)| values.contains(name));
        source.uses.extend(used.map(|(_, around, path)| (around, path)));
        source.words = words;
        source
    }

    /// Returns the tokens without items of `#[cfg(test)]`, and notes the modules among these items.
    fn without_tests(&mut self, tokens: &[String]) -> Vec<String> {
        const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
        let (mut kept, mut at) = (Vec::with_capacity(tokens.len()), 0);
        while at < tokens.len() {
            if !tokens[at..].iter().map(String::as_str).take(MARK.len()).eq(MARK) {
                kept.push(tokens[at].clone());
                at += 1;
                continue;
            }
            let mut depth = 0;
            for (n, token) in tokens[at + MARK.len()..].iter().enumerate() {
                if token == "mod" && depth == 0 {
                    self.test_modules.extend(tokens.get(at + MARK.len() + n + 1).cloned());
                }
                match token.as_str() {
                    "{" | "(" | "[" => depth += 1,
                    "}" | ")" | "]" => depth -= 1,
                    _ => {}
                }
                if depth == 0 && (token == ";" || token == "}") {
                    at += MARK.len() + n + 1;
                    break;
                }
            }
        }
        kept
    }
}

/// Returns the names that tokens declare with a type, or bind by `let` or as the only argument of a closure.
fn variables(tokens: &[String]) -> BTreeSet<String> {
    let is_bound = |at: usize| {
        let before = at.checked_sub(1).map_or("", |before| &tokens[before]);
        ["let", "mut", "|"].contains(&before) || tokens.get(at + 1).is_some_and(|next| next == ":")
    };
    (0..tokens.len()).filter(|&at| is_word(&tokens[at]) && is_bound(at)).map(|at| tokens[at].clone()).collect()
}

/// Returns the paths that are arguments of the call whose bracket is the first token.
fn functions_in(tokens: &[String], variables: &BTreeSet<String>) -> Vec<Path> {
    let (mut found, mut depth, mut begin) = (Vec::new(), 0, 1);
    for (at, token) in tokens.iter().enumerate().take_while(|_| tokens[0] == "(") {
        match token.as_str() {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 || depth == 1 && token == "," {
            let argument = &tokens[begin..at.max(begin)];
            let is_path = argument.first().is_some_and(|first| is_word(first) && !variables.contains(first));
            if is_path && path(argument).len() * 2 - 1 == argument.len() {
                found.push(path(argument));
            }
            begin = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    found
}

/// Whether a path leads into its own crate.
fn is_local(path: &Path, children: &[String]) -> bool {
    path.first().is_some_and(|first| ["crate", "self", "super"].contains(&first.as_str()) || children.contains(first))
}

/// The path that tokens begin with.
fn path(tokens: &[String]) -> Path {
    let mut path = vec![tokens[0].clone()];
    let mut rest = &tokens[1..];
    while let [colons, name, ..] = rest
        && colons == "::"
        && is_word(name)
    {
        path.push(name.clone());
        rest = &rest[2..];
    }
    path
}

/// Collects the paths of a `use` tree, each with the name that it gets. Returns what follows the tree.
fn tree<'t>(mut tokens: &'t [String], before: &mut Path, leaves: &mut Vec<(Path, String)>) -> &'t [String] {
    let depth = before.len();
    loop {
        match tokens.first().map(String::as_str) {
            Some("::") => {}
            Some("{") => {
                tokens = &tokens[1..];
                while tokens.first().is_some_and(|token| token != "}") {
                    tokens = tree(tokens, before, leaves);
                    tokens = tokens.strip_prefix(&[",".to_owned()]).unwrap_or(tokens);
                }
                before.truncate(depth);
                return tokens.get(1..).unwrap_or_default();
            }
            Some("*") => {
                leaves.push((before.clone(), "*".to_owned()));
                before.truncate(depth);
                return &tokens[1..];
            }
            Some(word) if is_word(word) && word != "as" => before.push(word.to_owned()),
            _ => break,
        }
        tokens = &tokens[1..];
    }
    // `self` at the end of a tree is the module before it.
    if before.len() > 1 && before.last().is_some_and(|last| last == "self") {
        before.pop();
    }
    let mut name = before.last().cloned().unwrap_or_default();
    if let [keyword, alias, ..] = tokens
        && keyword == "as"
    {
        name.clone_from(alias);
        tokens = &tokens[2..];
    }
    leaves.push((before.clone(), name));
    before.truncate(depth);
    tokens
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Splits a source into words, `::` and single characters, without comments and literals.
fn tokens(text: &str) -> Vec<String> {
    let (bytes, mut at, mut out) = (text.as_bytes(), 0, Vec::new());
    while at < bytes.len() {
        let rest = &text[at..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = literal(rest) {
            length
        } else if is_word(rest) {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            out.push(rest[..length].to_owned());
            length
        } else {
            let length = if rest.starts_with("::") { 2 } else { rest.chars().next().map_or(1, char::len_utf8) };
            out.extend((!rest.starts_with(char::is_whitespace)).then(|| rest[..length].to_owned()));
            length
        };
        at += length;
    }
    out
}

/// Returns the length of a text's first token, if that is a string, a character or a lifetime.
fn literal(text: &str) -> Option<usize> {
    let unprefixed = text.trim_start_matches(['b', 'c', 'r']);
    let prefix = text.len() - unprefixed.len();
    if prefix <= 2 && text[..prefix].ends_with('r') && unprefixed.starts_with(['"', '#']) {
        let hashes = unprefixed.len() - unprefixed.trim_start_matches('#').len();
        let end = format!("\"{}", "#".repeat(hashes));
        let content = unprefixed[hashes..].strip_prefix('"')?;
        return Some(prefix + hashes + 1 + content.find(&end)? + end.len());
    }
    if prefix <= 1 && unprefixed.starts_with('"') {
        return Some(prefix + 1 + closing(&unprefixed[1..], '"')?);
    }
    let quoted = text.strip_prefix("b'").or_else(|| text.strip_prefix('\''))?;
    let mut chars = quoted.chars();
    let (first, second) = (chars.next()?, chars.next());
    match first == '\\' || second == Some('\'') {
        true => Some(text.len() - quoted.len() + closing(quoted, '\'')?),
        // A lifetime.
        false => Some(1 + quoted.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(quoted.len())),
    }
}

/// Returns where the text behind a closing quote begins.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == quote && !escaped {
            return Some(at + 1);
        }
        escaped = c == '\\' && !escaped;
    }
    None
}
