//! How many attributes a tag has, counted as the tokenizer of HTML reads them (HTML, sections 13.2.5.6 to 13.2.5.40).

/// Reads a tag piece by piece.
#[derive(Debug, Default)]
pub struct TagScanner {
    /// The attributes by now.
    pub attributes: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Before the first byte.
    #[default]
    Start,
    /// Behind the first `<`.
    Opened,
    /// In the name of the tag.
    TagName,
    /// Where the name of an attribute may begin.
    BeforeName,
    /// In the name of an attribute.
    Name,
    /// Behind the name of an attribute, where `=` may follow.
    AfterName,
    /// Behind `=`.
    BeforeValue,
    /// In a value without quotes.
    Unquoted,
    /// In a value that this quote ends.
    Quoted(u8),
    /// In text or a comment, or behind the tag.
    Outside,
}

impl TagScanner {
    /// Reads a piece. The first one begins with the tag's `<`; one that begins otherwise has no attributes.
    pub fn read(&mut self, piece: &[u8]) {
        use State as S;
        let mut rest = piece;
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c');
            self.state = match (self.state, byte) {
                (S::Outside, _) => return,
                (S::Start, b'<') => S::Opened,
                (S::Start, _) => S::Outside,
                (S::Opened, b'/') => S::Opened,
                (S::Opened, byte) if byte.is_ascii_alphabetic() => S::TagName,
                (S::Opened, _) => S::Outside,
                (S::Quoted(quote), byte) if *byte == quote => S::BeforeName,
                (S::Quoted(quote), _) => {
                    let end = memchr::memchr(quote, rest).unwrap_or(rest.len());
                    rest = &rest[end..];
                    S::Quoted(quote)
                }
                (_, b'>') => S::Outside,
                (S::BeforeValue, quote @ (b'"' | b'\'')) => S::Quoted(*quote),
                (S::BeforeValue, _) if is_space => S::BeforeValue,
                (S::BeforeValue, _) => S::Unquoted,
                (S::Unquoted, _) if !is_space => S::Unquoted,
                (S::Name, _) if is_space => S::AfterName,
                (S::Name | S::AfterName, b'=') => S::BeforeValue,
                (S::AfterName, _) if is_space => S::AfterName,
                (S::TagName | S::BeforeName | S::Name | S::AfterName, b'/') => S::BeforeName,
                (S::TagName | S::BeforeName | S::Unquoted, _) if is_space => S::BeforeName,
                (S::TagName, _) => S::TagName,
                (S::Name, _) => S::Name,
                (S::BeforeName | S::AfterName | S::Unquoted, _) => {
                    self.attributes += 1;
                    S::Name
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_counted_in_every_spelling() {
        for (tag, attributes) in [
            ("<a>b c d", 0),
            ("<!-- a b", 0),
            ("< a b", 0),
            ("a b", 0),
            ("<a b>", 1),
            ("</a b c>", 2),
            ("<a/b/c/>", 2),
            ("<a b = c d='e f>' g=\"'\"h=i/j k>", 5),
            ("<a =b ==c>", 1),
            ("<a b='c d e", 1),
            ("<a b=c\nd=e\tf>", 3),
        ] {
            let mut whole = TagScanner::default();
            whole.read(tag.as_bytes());
            let mut pieces = TagScanner::default();
            tag.as_bytes().chunks(1).for_each(|piece| pieces.read(piece));
            assert_eq!((whole.attributes, pieces.attributes), (attributes, attributes), "{tag}");
        }
    }
}
