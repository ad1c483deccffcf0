//! A page as a browser's parser reads it.

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts, states::RawKind,
};
use std::cell::RefCell;

/// An attribute: its name and its value.
type Attribute = (String, String);

/// The elements and texts of a page in their order.
pub struct Page(Vec<Piece>);

enum Piece {
    Start(String, Vec<Attribute>),
    End(String),
    Text(String),
}

#[derive(Default)]
struct Collector(RefCell<Vec<Piece>>);

impl TokenSink for Collector {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut pieces = self.0.borrow_mut();
        match token {
            Token::TagToken(Tag { kind: TagKind::StartTag, name, attrs, .. }) => {
                let attributes = attrs.iter().map(|attr| (attr.name.local.to_string(), attr.value.to_string()));
                pieces.push(Piece::Start(name.to_string(), attributes.collect()));
                // What stands in these is text up to their end.
                return match &*name {
                    "style" => TokenSinkResult::RawData(RawKind::Rawtext),
                    "script" => TokenSinkResult::RawData(RawKind::ScriptData),
                    "title" => TokenSinkResult::RawData(RawKind::Rcdata),
                    _ => TokenSinkResult::Continue,
                };
            }
            Token::TagToken(Tag { name, .. }) => pieces.push(Piece::End(name.to_string())),
            Token::CharacterTokens(text) => pieces.push(Piece::Text(text.to_string())),
            Token::ParseError(error) => panic!("the page is no sound HTML: {error}"),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl Page {
    pub fn read(html: &str) -> Self {
        let input = BufferQueue::default();
        input.push_back(StrTendril::from(html));
        let tokenizer =
            Tokenizer::new(Collector::default(), TokenizerOpts { exact_errors: true, ..TokenizerOpts::default() });
        let _ = tokenizer.feed(&input);
        tokenizer.end();
        Self(tokenizer.sink.0.take())
    }

    /// Demands that nothing of the page loads anything, or runs anything but its own script, and that its policy forbids both.
    pub fn loads_nothing(&self) {
        let mut policies = 0;
        for piece in &self.0 {
            let Piece::Start(element, attributes) = piece else { continue };
            if let ("a", [(name, value)]) = (element.as_str(), &attributes[..])
                && name == "href"
                && value.strip_prefix('#').is_some_and(|id| id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
            {
                // It leads to another part of the page.
                continue;
            }
            let loading = ["img", "link", "iframe", "object", "embed", "base", "form", "a", "use", "image", "video"];
            assert!(!loading.contains(&element.as_str()), "<{element}> {attributes:?}");
            for (name, value) in attributes {
                let loads = ["src", "href", "xlink:href", "srcset", "action", "data", "style", "poster", "background"];
                assert!(!loads.contains(&name.as_str()) && !name.starts_with("on"), "<{element} {name}={value}>");
                policies += usize::from(value.starts_with("default-src 'none'; style-src 'sha256-"));
            }
            let is_refresh = attributes.iter().any(|(_, value)| value.eq_ignore_ascii_case("refresh"));
            assert!(!is_refresh, "{attributes:?}");
        }
        assert_eq!(policies, 1, "one policy that forbids everything");
        assert_eq!((self.count("style"), self.count("script")), (1, 1), "our own");
    }

    pub fn count(&self, element: &str) -> usize {
        self.attributes(element).count()
    }

    /// Returns the attributes of all elements of a name.
    pub fn attributes(&self, element: &str) -> impl Iterator<Item = &Vec<Attribute>> {
        self.0.iter().filter_map(move |piece| match piece {
            Piece::Start(name, attributes) if name == element => Some(attributes),
            _ => None,
        })
    }

    /// Returns the text within each element of a name.
    pub fn texts_of(&self, element: &str) -> Vec<String> {
        let mut texts = vec![];
        let mut within = false;
        for piece in &self.0 {
            match piece {
                Piece::Start(name, _) if name == element => {
                    within = true;
                    texts.push(String::new());
                }
                Piece::End(name) if name == element => within = false,
                Piece::Text(text) if within => {
                    if let Some(last) = texts.last_mut() {
                        last.push_str(text);
                    }
                }
                _ => {}
            }
        }
        texts
    }

    /// Returns all text of the page.
    pub fn text(&self) -> String {
        let text = |piece: &Piece| if let Piece::Text(text) = piece { Some(text.clone()) } else { None };
        self.0.iter().filter_map(text).collect()
    }
}
