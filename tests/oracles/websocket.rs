//! The WebSocket server of node (`ws`) as an oracle: it echoes all messages, and sees connections begin and end as RFC 6455 has it.

use crate::newman::ORACLES;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use torr_test_support::program::torr_json;
use torr_test_support::result::{adds_up, count};

/// Prints its port, and for each connection how it ended and how many messages came; ends with its standard input.
const SERVER: &str = "
const { WebSocketServer } = require('ws');
// Compresses each message for a client that offers it, with the parameters of the environment.
const perMessageDeflate = { threshold: 0, ...JSON.parse(process.env.DEFLATE || '{}') };
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate });
server.on('listening', () => console.log(server.address().port));
server.on('connection', (socket) => {
  let messages = 0;
  socket.on('message', (data, isBinary) => { messages += 1; socket.send(data, { binary: isBinary }); });
  socket.on('error', (error) => console.log('error', error.message));
  socket.on('close', (code) => console.log('closed', code, messages));
});
process.stdin.on('end', () => process.exit(0)).resume();
";

/// A server that runs, with these parameters of `perMessageDeflate`.
struct Node {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Node {
    fn start(deflate: &str) -> Self {
        let oracles = std::env::var(ORACLES).expect("./test full sets it");
        let mut command = Command::new("node");
        command.args(["-e", SERVER]).env("DEFLATE", deflate).current_dir(oracles);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("node starts");
        let lines = BufReader::new(process.stdout.take().expect("it was piped")).lines();
        Self { process, lines }
    }

    fn next(&mut self) -> String {
        self.lines.next().and_then(Result::ok).expect("the server says something")
    }

    /// The messages of this number of connections, each of which the client has closed as it should.
    fn messages(&mut self, connections: usize) -> u64 {
        let of = |end: String| end.strip_prefix("closed 1000 ").and_then(|messages| messages.parse::<u64>().ok());
        let messages = |end: String| of(end.clone()).unwrap_or_else(|| panic!("{end}"));
        (0..connections).map(|_| messages(self.next())).sum()
    }

    fn end(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().expect("node ends").success());
    }
}

#[test]
#[ignore = "ws is installed by ./test full"]
fn messages_are_echoed_by_node() {
    let mut node = Node::start("{}");
    let url = format!("ws://127.0.0.1:{}/", node.next());
    for (message, flags) in [("x".repeat(100), &[][..]), ("y".repeat(70_000), &["--binary", "--pipeline", "3"])] {
        let result = torr_json(&[&["-n", "300", "-c", "3", "-t", "1", "--data", &message, &url], flags].concat());
        adds_up(&result);
        let echoed = (count(&result, "/requests"), count(&result, "/bytes/body"));
        assert_eq!(echoed, (300, 300 * message.len() as u64), "{result}");
        assert_eq!(node.messages(3), 300);
    }
    node.end();
}

#[test]
#[ignore = "ws is installed by ./test full"]
fn compressed_messages_are_echoed_by_node() {
    let small = "number {{seq}}, number {{seq}}, number {{seq}}".to_owned();
    let large = "number {{seq}}, {{rand 1 1000000}}, {{uuid}}; ".repeat(2000);
    for deflate in [
        "{}",
        r#"{"serverNoContextTakeover": true}"#,
        r#"{"clientNoContextTakeover": true}"#,
        r#"{"serverNoContextTakeover": true, "clientNoContextTakeover": true}"#,
        r#"{"serverMaxWindowBits": 8, "clientMaxWindowBits": 8}"#,
        r#"{"serverMaxWindowBits": 9, "clientMaxWindowBits": 10}"#,
        r#"{"threshold": 1024}"#,
    ] {
        let mut node = Node::start(deflate);
        let url = format!("ws://127.0.0.1:{}/", node.next());
        for (message, flags) in [(&small, &[][..]), (&large, &["--binary", "--pipeline", "3"])] {
            let flags = [&["--compressed", "--expect-body", "number"], flags].concat();
            let result =
                torr_json(&[&["-n", "90", "-c", "3", "-t", "1", "--data", message, &url], &flags[..]].concat());
            adds_up(&result);
            let echoed = (count(&result, "/requests"), count(&result, "/websocket/compressed"));
            assert_eq!(echoed, (90, 3), "{deflate}: {result}");
            assert!(count(&result, "/bytes/sent") < count(&result, "/bytes/body"), "{deflate}: {result}");
            assert_eq!(node.messages(3), 90, "{deflate}");
        }
        node.end();
    }
    let mut node = Node::start("{}");
    let url = format!("ws://127.0.0.1:{}/", node.next());
    let flags = ["--compressed", "--no-context-takeover", "--data", &large];
    let result = torr_json(&[&["-n", "30", "-c", "3", "-t", "1", &url], &flags[..]].concat());
    assert_eq!((count(&result, "/requests"), count(&result, "/websocket/compressed")), (30, 3), "{result}");
    assert_eq!(node.messages(3), 30);
    node.end();
}
