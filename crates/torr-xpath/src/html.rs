//! HTML, read as tolerantly as browsers do, and given the shape that hurl's users write expressions for.
//!
//! hurl's library differs from browsers in a few points, which are made good here: elements that an author left out of a table
//! (`tbody`, `tr`, `colgroup`) are not added; nor are `head` and `body` where there is nothing to be in them; a tag with `/>` is
//! an element without content; names are in lower case and have no namespaces, also in SVG; what is in `noscript` and
//! `template` are elements like others.

mod attributes;
mod sink;

use super::tree::{MAX_BYTES, Tree};
use attributes::TagScanner;
use html5ever::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, EndTag, StartTag, Tag, TagToken, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use sink::{Handle, Sink};
use std::cell::Cell;

/// Reads HTML.
///
/// # Errors
/// In words, if there is nothing, or the text is beyond a limit.
pub fn parse(text: &str) -> Result<Tree, String> {
    if text.trim().is_empty() {
        return Err("cannot parse HTML: the content is empty".to_owned());
    }
    read(text, false)
}

/// Reads HTML into the tree that browsers make: with the elements that an author left out, and `/>` without a meaning.
///
/// # Errors
/// In words, if the text is beyond a limit.
pub fn parse_as_browsers(text: &str) -> Result<Tree, String> {
    read(text, true)
}

fn read(text: &str, as_browsers: bool) -> Result<Tree, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("the content is larger than {MAX_BYTES} bytes"));
    }
    let options = TreeBuilderOpts { scripting_enabled: as_browsers, drop_doctype: true, ..TreeBuilderOpts::default() };
    let tokens =
        Tokens { builder: TreeBuilder::new(Sink::new(as_browsers), options), tokens: Cell::new(0), as_browsers };
    let tokenizer = Tokenizer::new(tokens, TokenizerOpts::default());
    let input = BufferQueue::default();
    let (mut rest, mut tokens) = (text, 0);
    let (mut scanner, mut left) = (TagScanner::default(), MAX_COMPARISONS);
    while !rest.is_empty() && !tokenizer.sink.builder.sink.is_full() {
        let (piece, after) = rest.split_at(piece(rest));
        rest = after;
        scanner.read(piece.as_bytes());
        input.push_back(StrTendril::from(piece));
        // The tokenizer stops at scripts, which browsers run, and at declarations of a charset, which is known here.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        let count = tokenizer.sink.tokens.get();
        let is_within_tag = count == std::mem::replace(&mut tokens, count);
        if scanner.attributes.pow(2) > left {
            return Err("the content's tags have too many attributes".to_owned());
        }
        if !is_within_tag {
            left -= scanner.attributes.pow(2);
            scanner = TagScanner::default();
        }
    }
    tokenizer.end();
    tokenizer.sink.builder.sink.into_tree()
}

/// How many bytes the tokenizer is given at a time, at most.
const PIECE: usize = 1 << 14;

/// How many comparisons of attributes the tags of a document may take together. The tokenizer compares each attribute of a tag
/// with those before it, so that the time for a tag grows with the square of their number: this many take half a second. Tests
/// without optimisation meet a smaller limit.
const MAX_COMPARISONS: usize = if cfg!(test) { 1 << 22 } else { 1 << 30 };

/// Returns the length of the next piece of a text: a tag begins only at the front of a piece.
fn piece(text: &str) -> usize {
    let most = (0..=PIECE.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    memchr::memchr(b'<', &text.as_bytes()[1..most]).map_or(most, |at| at + 1)
}

/// Elements that have no content (HTML, section 13.1.2): nothing ends them.
const VOID: &[&str] = &[
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "image", "img", "input", "keygen",
    "link", "meta", "param", "source", "track", "wbr",
];

/// Hands tokens on to the tree's builder.
struct Tokens {
    builder: TreeBuilder<Handle, Sink>,
    /// Tokens by now.
    tokens: Cell<usize>,
    /// Whether `/>` has no meaning.
    as_browsers: bool,
}

impl TokenSink for Tokens {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        self.tokens.set(self.tokens.get() + 1);
        let sink = &self.builder.sink;
        if sink.is_full() {
            return TokenSinkResult::Continue;
        }
        let (begun, closed) = match &token {
            TagToken(tag) if tag.kind == StartTag => {
                (Some(tag.name.clone()), tag.self_closing && !self.as_browsers && !VOID.contains(&&*tag.name))
            }
            _ => (None, false),
        };
        sink.begin_token(begun.clone());
        let result = self.builder.process_token(token, line);
        if let Some(name) = begun.filter(|name| closed && sink.has_made(name)) {
            // Elements whose content is text put the tokenizer into another state; they stay open as in browsers.
            if matches!(result, TokenSinkResult::Continue) {
                let attrs = Vec::new();
                let end = Tag { kind: EndTag, name, self_closing: false, attrs, had_duplicate_attributes: false };
                return self.builder.process_token(TagToken(end), line);
            }
        }
        result
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}
