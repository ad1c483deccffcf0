//! A request as a line of `programs.toml`.

/// A request over HTTP/1.1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub fields: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
    /// The text that ends a response which has no end of its own.
    pub until: Option<String>,
    /// The texts that are sent over a WebSocket, each with what the message in response has: others before it do not count.
    pub messages: Option<Vec<(String, String)>>,
}

impl Request {
    /// Reads a line: `METHOD PATH | name: value | name: value || body`. In a body `\r` and `\n` are line ends. The method `WS` opens
    /// a WebSocket, and the parts of its body between `||` are messages: `TEXT`, or `TEXT >> RESPONSE` where the response to wait for
    /// has this text. The field `@until: TEXT` is not sent: the response is read
    /// until its content has this text.
    pub fn parse(line: &str) -> Result<Self, String> {
        let mut parts = line.trim().split("||").map(str::trim);
        let head = parts.next().unwrap_or_default();
        let contents: Vec<_> = parts.map(unescape).collect();
        let mut items = head.split(" | ").map(str::trim);
        let (method, path) = items.next().and_then(|first| first.split_once(' ')).ok_or("no method and path")?;
        let mut request = Self {
            method: method.to_owned(),
            path: path.trim().to_owned(),
            fields: Vec::new(),
            body: None,
            until: None,
            messages: None,
        };
        for item in items {
            let (name, value) = item.split_once(':').ok_or("a field without a colon")?;
            match name.trim() {
                "@until" => request.until = Some(value.trim().to_owned()),
                name => request.fields.push((name.to_owned(), value.trim().to_owned())),
            }
        }
        if request.method == "WS" {
            request.method = "GET".to_owned();
            let upgrade = [
                ("connection", "upgrade"),
                ("upgrade", "websocket"),
                ("sec-websocket-version", "13"),
                ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ];
            request.fields.extend(upgrade.map(|(name, value)| (name.to_owned(), value.to_owned())));
            let parts = |text: &String| {
                let (text, response) = text.split_once(" >> ").unwrap_or((text, ""));
                (text.to_owned(), response.to_owned())
            };
            request.messages = Some(contents.iter().map(parts).collect());
        } else {
            request.body = contents.into_iter().next().map(String::into_bytes);
        }
        Ok(request)
    }

    /// Returns the request's bytes with these cookies.
    pub fn encode(&self, cookies: &[(String, String)]) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\nhost: localhost\r\n", self.method, self.path);
        for (name, value) in &self.fields {
            text += &format!("{name}: {value}\r\n");
        }
        if !cookies.is_empty() {
            let pairs: Vec<_> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            text += &format!("cookie: {}\r\n", pairs.join("; "));
        }
        if let Some(body) = &self.body {
            text += &format!("content-length: {}\r\n", body.len());
        }
        text += "\r\n";
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(self.body.as_deref().unwrap_or_default());
        bytes
    }

    /// Whether the client announces that it sends no further request.
    pub fn is_last(&self) -> bool {
        self.fields.iter().any(|(name, value)| name == "connection" && value == "close")
    }
}

fn unescape(text: &str) -> String {
    text.replace("\\r", "\r").replace("\\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::Request;

    #[test]
    fn a_line_is_a_request() {
        let request = Request::parse("POST /a?b=c | x: y | content-type: text/plain || one\\r\\ntwo").unwrap();
        let bytes = request.encode(&[("id".to_owned(), "7".to_owned())]);
        let text = "POST /a?b=c HTTP/1.1\r\nhost: localhost\r\nx: y\r\ncontent-type: text/plain\r\ncookie: id=7\r\n\
                    content-length: 8\r\n\r\none\r\ntwo";
        assert_eq!(String::from_utf8(bytes).unwrap(), text);
    }

    #[test]
    fn a_websocket_has_messages() {
        let request = Request::parse("WS /chat || hello || again >> back").unwrap();
        let expected =
            [("hello", ""), ("again", "back")].map(|(text, response)| (text.to_owned(), response.to_owned()));
        assert_eq!(request.messages, Some(expected.to_vec()));
        assert_eq!((request.method.as_str(), request.body), ("GET", None));
    }

    #[test]
    fn a_line_without_a_path_is_refused() {
        assert!(Request::parse("GET").is_err());
        assert!(Request::parse("GET / | nonsense").is_err());
    }
}
