//! Redis commands without values: the command's name and the prefix of its first key.

use super::text::Text;

/// The most bytes of an argument that are read.
pub(crate) const ARGUMENT: usize = 64;

/// The number of arguments that are read, the command's name included.
pub(crate) const ARGUMENTS: usize = 2;

/// The most characters of a command's name or of a key's prefix.
const NAME: usize = 32;

/// Commands whose second word is a part of their name.
const CONTAINERS: [&str; 16] = [
    "ACL", "CLIENT", "CLUSTER", "COMMAND", "CONFIG", "DEBUG", "FUNCTION", "LATENCY", "MEMORY", "MODULE", "OBJECT",
    "PUBSUB", "SCRIPT", "SLOWLOG", "XGROUP", "XINFO",
];

/// Commands whose first argument is no key.
const KEYLESS: [&str; 32] = [
    "ASKING",
    "AUTH",
    "BGREWRITEAOF",
    "BGSAVE",
    "BITOP",
    "DBSIZE",
    "DISCARD",
    "ECHO",
    "EVAL",
    "EVALSHA",
    "EVALSHA_RO",
    "EVAL_RO",
    "EXEC",
    "FCALL",
    "FCALL_RO",
    "FLUSHALL",
    "FLUSHDB",
    "HELLO",
    "INFO",
    "KEYS",
    "LASTSAVE",
    "MONITOR",
    "MULTI",
    "PING",
    "QUIT",
    "RANDOMKEY",
    "RESET",
    "SCAN",
    "SELECT",
    "SWAPDB",
    "TIME",
    "UNWATCH",
];

/// Returns a command without values. `arguments` begin with the command's name; further ones than [`ARGUMENTS`] are not needed.
///
/// Of a key only what precedes the first colon is kept: `GET user:42` becomes `GET user:?`.
pub(crate) fn command(arguments: &[&[u8]], has_more: bool) -> Text {
    let Some(name) = arguments.first().and_then(|name| word(name, ".")) else { return Text::new("?".into()) };
    let name = name.to_ascii_uppercase();
    let Some(&first) = arguments.get(1) else { return Text::new(name) };
    if CONTAINERS.contains(&&*name) {
        let sub = word(first, "").filter(|sub| sub.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-'));
        return Text::new(format!("{name} {}", sub.map_or("?".into(), str::to_ascii_uppercase)));
    }
    if KEYLESS.contains(&&*name) {
        return Text::new(format!("{name} ?"));
    }
    let prefix = first.iter().position(|&byte| byte == b':').and_then(|end| word(&first[..end], "."));
    // A prefix with digits may be an identifier already.
    let prefix = prefix.filter(|prefix| !prefix.bytes().any(|byte| byte.is_ascii_digit()));
    let key = prefix.map_or("?".into(), |prefix| format!("{prefix}:?"));
    Text::new(format!("{name} {key}{}", if has_more { " ?" } else { "" }))
}

/// Returns what may be a name: letters, digits and a few marks.
fn word<'a>(bytes: &'a [u8], marks: &str) -> Option<&'a str> {
    let is_usual =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || marks.contains(byte as char);
    let is_name = !bytes.is_empty() && bytes.len() <= NAME && bytes.iter().all(|&byte| is_usual(byte));
    std::str::from_utf8(bytes).ok().filter(|_| is_name)
}
