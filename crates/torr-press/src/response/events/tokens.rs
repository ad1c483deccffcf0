//! The tokens of language models in the events of a stream.

use serde::Deserialize;
use serde_json::Value;
use serde_json_path::JsonPath;
use std::num::NonZero;
use thiserror::Error;
use torr_net::Nanos;

/// The limit of tokens that a stream may say it has had, above which its usage is not believed.
const MOST_TOKENS: u64 = 1_000_000_000;

/// Which events have tokens of a language model.
#[derive(Debug, Clone)]
pub enum TokenRule {
    /// Chunks of completions as OpenAI's API streams them: those with text in `choices[].delta.content`, or in `choices[].text`. The
    /// member `usage` tells how many tokens there were.
    OpenAi,
    /// Events whose data is JSON in which this path leads to a text that is not empty, or to a number.
    Path(Box<JsonPath>),
}

/// The reason for which a text is no rule of tokens.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TokenRuleError {
    /// The text has another form.
    #[error("expected openai, or jsonpath and a path such as 'jsonpath $.token.text'; found '{0}'")]
    Form(String),
    /// The path is none.
    #[error("invalid JSONPath '{path}': {why}")]
    Path {
        /// The path as given.
        path: String,
        /// The defect of the path.
        why: String,
    },
}

impl TokenRule {
    /// Parses `openai`, or `jsonpath` and a path (RFC 9535).
    ///
    /// # Errors
    /// [`TokenRuleError`].
    pub fn parse(text: &str) -> Result<Self, TokenRuleError> {
        let text = text.trim();
        if text == "openai" {
            return Ok(Self::OpenAi);
        }
        let path = text.strip_prefix("jsonpath").filter(|rest| rest.starts_with(char::is_whitespace)).map(str::trim);
        let path = path.ok_or_else(|| TokenRuleError::Form(text.to_owned()))?;
        let parsed = JsonPath::parse(path);
        let why = |error: serde_json_path::ParseError| error.message().to_owned();
        parsed
            .map(|parsed| Self::Path(Box::new(parsed)))
            .map_err(|error| TokenRuleError::Path { path: path.to_owned(), why: why(error) })
    }

    /// Returns whether an event's data has a token, and what it says of all tokens.
    fn read(&self, data: &[u8]) -> (bool, Option<Usage>) {
        match self {
            Self::OpenAi => {
                let chunk: Chunk = serde_json::from_slice(data).unwrap_or_default();
                (chunk.choices.iter().any(Choice::has_text), chunk.usage)
            }
            Self::Path(path) => {
                let value: Value = serde_json::from_slice(data).unwrap_or_default();
                let is_token = |value: &Value| value.is_number() || value.as_str().is_some_and(|text| !text.is_empty());
                (path.query(&value).all().into_iter().any(is_token), None)
            }
        }
    }
}

/// The members of an event of OpenAI's API that matter. An event of another form has no tokens.
#[derive(Debug, Default, Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Debug, Default, Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default)]
    text: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

impl Choice {
    fn has_text(&self) -> bool {
        let content = self.delta.as_ref().and_then(|delta| delta.content.as_deref());
        content.or(self.text.as_deref()).is_some_and(|text| !text.is_empty())
    }
}

/// The tokens of one stream that were read at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenArrival {
    /// The number of events with a token.
    pub chunks: u32,
    /// The time of the event with a token before; `None` for the first of the stream.
    pub before: Option<NonZero<Nanos>>,
    /// What the stream says of its tokens, if it has said it now.
    pub usage: Option<UsageArrival>,
}

/// What a stream says of its tokens, beyond what it has said before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageArrival {
    /// The number of tokens of the completion.
    pub completion: u64,
    /// The number of tokens of the prompt.
    pub prompt: u64,
    /// The events with a token that these tokens came in.
    pub chunks: u64,
    /// Whether the stream has said nothing of its tokens before.
    pub is_first: bool,
}

/// The watch over the tokens of one stream at a time.
#[derive(Debug)]
pub(super) struct TokenWatch<'p> {
    rule: &'p TokenRule,
    /// The events with a token that have not been taken.
    fresh: u32,
    /// The time of the latest event with a token that has been taken.
    last: Option<NonZero<Nanos>>,
    /// The events with a token since the stream's latest word on its tokens.
    unsaid: u64,
    /// That word.
    said: Option<Usage>,
    /// What of it has not been taken.
    usage: Option<UsageArrival>,
}

impl<'p> TokenWatch<'p> {
    /// Returns a watch that awaits a stream.
    pub fn new(rule: &'p TokenRule) -> Self {
        Self { rule, fresh: 0, last: None, unsaid: 0, said: None, usage: None }
    }

    /// Forgets the stream.
    pub fn reset(&mut self) {
        *self = Self::new(self.rule);
    }

    /// Takes an event's data.
    pub fn see(&mut self, data: &[u8]) {
        let (has_token, usage) = self.rule.read(data);
        if has_token {
            self.fresh += 1;
            self.unsaid += 1;
        }
        let is_credible = |usage: &Usage| usage.prompt_tokens.max(usage.completion_tokens) <= MOST_TOKENS;
        if let Some(now) = usage.filter(is_credible) {
            let is_first = self.said.is_none();
            let before = self.said.replace(now).unwrap_or_default();
            let usage = self.usage.get_or_insert_default();
            usage.completion += now.completion_tokens.saturating_sub(before.completion_tokens);
            usage.prompt += now.prompt_tokens.saturating_sub(before.prompt_tokens);
            usage.chunks += std::mem::take(&mut self.unsaid);
            usage.is_first |= is_first;
        }
    }

    /// Takes what has arrived since the last call, by this time.
    pub fn take(&mut self, at: Nanos) -> TokenArrival {
        let (chunks, usage) = (std::mem::take(&mut self.fresh), self.usage.take());
        let before =
            if chunks > 0 { self.last.replace(NonZero::new(at.max(1)).expect("it is 1 or more")) } else { self.last };
        TokenArrival { chunks, before, usage }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(rule: &str, data: &[&str]) -> TokenArrival {
        let rule = TokenRule::parse(rule).expect("it is a rule");
        let mut watch = TokenWatch::new(&rule);
        data.iter().for_each(|data| watch.see(data.as_bytes()));
        watch.take(10)
    }

    const CHUNK: &str = r#"{"choices":[{"index":0,"delta":{"content":" a"},"finish_reason":null}]}"#;

    #[test]
    fn events_with_content_have_tokens() {
        let others = [
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
            r#"{"choices":[{"delta":{"content":null}}]}"#,
            r#"{"choices":[]}"#,
            r#"{"choices":7}"#,
            "[DONE]",
            "",
        ];
        assert_eq!(watched("openai", &others), TokenArrival::default());
        let text = r#"{"choices":[{"text":"a"}]}"#;
        assert_eq!(watched("openai", &[CHUNK, text, "[DONE]"]).chunks, 2);
        let path = "jsonpath $.token.text";
        let tokens = [r#"{"token":{"text":"a"}}"#, r#"{"token":{"text":""}}"#, r#"{"token":7}"#, "[DONE]"];
        assert_eq!(watched(path, &tokens).chunks, 1);
    }

    #[test]
    fn usage_counts_for_the_chunks_before_it() {
        let usage = r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14}}"#;
        let arrival = watched("openai", &[CHUNK, CHUNK, usage]);
        let expected = UsageArrival { completion: 5, prompt: 9, chunks: 2, is_first: true };
        assert_eq!((arrival.chunks, arrival.usage), (2, Some(expected)));
        // Some servers say so with each chunk, as it is by then.
        let rule = TokenRule::OpenAi;
        let mut watch = TokenWatch::new(&rule);
        let (mut completion, mut prompt, mut chunks, mut streams) = (0, 0, 0, 0);
        for n in 1..=3 {
            let chunk =
                CHUNK.replacen('{', &format!(r#"{{"usage":{{"prompt_tokens":9,"completion_tokens":{}}},"#, 2 * n), 1);
            watch.see(chunk.as_bytes());
            let usage = watch.take(n).usage.expect("there was one");
            completion += usage.completion;
            prompt += usage.prompt;
            chunks += usage.chunks;
            streams += u32::from(usage.is_first);
        }
        assert_eq!((completion, prompt, chunks, streams), (6, 9, 3, 1));
        let unbelievable = r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":18446744073709551615}}"#;
        assert_eq!(watched("openai", &[CHUNK, unbelievable]).usage, None);
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for bad in ["", "open ai", "jsonpath", "jsonpath$.a", "xpath //a"] {
            assert!(matches!(TokenRule::parse(bad), Err(TokenRuleError::Form(_))), "{bad:?}");
        }
        assert!(matches!(TokenRule::parse("jsonpath $["), Err(TokenRuleError::Path { .. })));
    }
}
