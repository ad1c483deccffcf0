//! `torr URL --script` and `torr FILE.lua`: scripts with the flags of a URL, and sessions as straight code.

use crate::scripts::{File, server};
use std::fs;
use torr_test_support::program::{Running, torr, torr_command};
use torr_test_support::script::{Client, Script};
use torr_test_support::servers::Serve;

#[test]
fn a_script_goes_with_the_flags_of_a_url() {
    let source = r#"
        function init(args)
            print("arguments", #args, args[1], args[2])
            wrk.headers["X-Own"] = "1"
        end
        local n = 0
        function request()
            n = n + 1
            return wrk.format(nil, "/" .. n)
        end
        function done(summary) print("requests", summary.requests) end
    "#;
    let (server, script) = (server(), File::new("load.lua", source));
    let url = format!("{}x", server.url());
    let json = script.beside().join("r.json");
    let flags = ["-c1", "-t1", "-n5", "-H", "X: y", "-A", "me", "-d", "30s", "--json", json.to_str().unwrap()];
    let ended = torr(&[&[&url, "--script", script.path()], &flags[..], &["--", "one", "two"]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stdout.starts_with("arguments\t2\tone\ttwo\n") && ended.stdout.ends_with("requests\t5\n"),
        "{ended:?}"
    );
    let texts = server.texts();
    let paths: Vec<_> = texts.iter().map(|text| text.split(' ').nth(1).unwrap_or_default()).collect();
    assert_eq!(paths, ["/2", "/3", "/4", "/5", "/6"], "the first is looked at and not sent, as with wrk");
    for line in ["X: y\r\n", "X-Own: 1\r\n", "User-Agent: me\r\n"] {
        assert!(texts[0].contains(line), "{line}: {}", texts[0]);
    }
    let result: serde_json::Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!((result["requests"].as_u64(), result["asked"].as_u64()), (Some(5), Some(5)));
    assert!(result.get("sessions").is_none(), "a request is no session");

    // Standard output belongs to the result.
    let ended = torr(&[&url, "--script", script.path(), "-c1", "-t1", "-n2", "--json", "-"]);
    assert!(ended.code == Some(0) && ended.stderr.contains("requests\t2"), "{ended:?}");
    let result: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(result["requests"].as_u64(), Some(2));

    for (args, what) in [
        (&["--pipeline", "4"][..], "leave out --pipeline"),
        (&["--expect-status", "200"], "do not go with this script"),
        (&["--setup", "a.hurl"], "--setup has no meaning for scripts"),
        (&["--urls", "list"], "--urls"),
    ] {
        let ended = torr(&[&[url.as_str(), "--script", script.path()], args].concat());
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(2), 1), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(what), "{args:?}: {ended:?}");
    }
}

#[test]
fn a_script_goes_over_http2_and_over_a_connection_for_each_request() {
    let serve = Serve::start(&[]);
    let source = "local n = 0\nfunction request()\n  n = n + 1\n  return wrk.format('GET', '/bytes/' .. n % 10 + 1)\nend\n\
                  function response(status, headers, body)\n  assert(status == 200 and #body > 0)\n  assert(headers['Content-Length'] and not headers['X'])\nend";
    let script = File::new("h2.lua", source);
    for flags in [&["--http2-prior-knowledge"][..], &["--no-keepalive"]] {
        let url = serve.url("/");
        let args = [&[&*url, "--script", script.path(), "-c2", "-n20", "--json", "-"], flags].concat();
        let ended = torr(&args);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let result: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(result["status"]["200"].as_u64(), Some(20), "{ended:?}");
    }
}

/// A shop that knows its customers by a token, and counts its visitors by a cookie.
fn shop(client: &mut Client) {
    while let Some(request) = client.request() {
        let text = String::from_utf8_lossy(&request).into_owned();
        let content = text.split("\r\n\r\n").nth(1).unwrap_or_default().to_owned();
        let (status, fields, body) = match text.split(' ').take(2).collect::<Vec<_>>()[..] {
            ["POST", "/login"] => {
                let user = serde_json::from_str::<serde_json::Value>(&content).unwrap()["user"].to_string();
                ("200 OK", "Set-Cookie: sid=7; Path=/\r\n", format!("{{\"token\": {user}, \"items\": [1, 2, 3]}}"))
            }
            ["GET", path] if path.starts_with("/items/") => {
                let known = text.contains("Authorization: Bearer ann") && text.contains("Cookie: sid=7");
                (if known { "200 OK" } else { "403 Forbidden" }, "", format!("{{\"path\": \"{path}\"}}"))
            }
            _ => ("404 Not Found", "", String::new()),
        };
        let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n", body.len());
        client.send((head + &body).as_bytes());
    }
}

const SHOPPING: &str = r#"
    function session(user)
        local login = http.post("/login", { json = { user = user.vars.name }, name = "log in" })
        user.check("logged in", login.status == 200)
        user.vars.token = login:json("$.token")
        user.think(0.001, 0.005)
        for item = 1, #login:json("$.items[*]") do
            local got = http.get("/items/" .. item, {
                headers = { Authorization = "Bearer " .. user.vars.token },
                query = { q = "a b" },
            })
            user.check("the item's own path", got:json("$.path") == "/items/" .. item .. "?q=a%20b")
            user.check("nothing strange", got:header("x-strange") == nil)
        end
    end
"#;

#[test]
fn a_session_reads_like_straight_code() {
    let (server, script) = (Script::start(shop), File::new("shop.lua", SHOPPING));
    let args = ["--script", script.path(), "--variable", "name=ann", "-c3", "-t2", "-n12", "--json", "-"];
    let ended = torr(&[&[&*server.url()], &args[..]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(result["sessions"]["finished"].as_u64(), Some(12), "{ended:?}");
    assert_eq!((result["requests"].as_u64(), result["status"]["200"].as_u64()), (Some(48), Some(48)), "{ended:?}");
    let names: Vec<_> = result["entries"].as_array().unwrap().iter().map(|entry| entry["name"].as_str()).collect();
    assert_eq!(names, [Some("log in"), Some("GET /items/{n}")]);
    assert_eq!(server.connections(), 3, "each user has a connection of its own");

    // A file that names its target is one itself.
    let script = File::new("shop.lua", &format!("target = '{}'\n{SHOPPING}", server.url()));
    let ended = torr(&[script.path(), "--variable", "name=bob", "-c1", "-n1", "--json", "-"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(result["status"]["403"].as_u64(), Some(3), "bob is not known: {ended:?}");
    let nameless = File::new("shop.lua", SHOPPING);
    let ended = torr(&[nameless.path()]);
    assert!(ended.code == Some(2) && ended.stderr.contains("does not say what to load (target ="), "{ended:?}");
}

#[test]
fn a_session_fails_where_its_script_says_so() {
    let source = r#"
        function session(user)
            local got = http.get("/nowhere")
            user.check("found", got.status == 200)
            user.fail("no " .. user.vars.name)
        end
    "#;
    let (server, script) = (Script::start(shop), File::new("fail.lua", source));
    let args = ["--script", script.path(), "--secret", "name=geheim", "-c1", "-n3", "--json", "-"];
    let ended = torr(&[&[&*server.url()], &args[..]].concat());
    let result: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(result["sessions"]["failed"].as_u64(), Some(3), "{ended:?}");
    let entry = &result["entries"][0];
    assert_eq!(entry["name"].as_str(), Some("GET /nowhere"));
    let text = entry.to_string();
    assert!(text.contains("\"no ***\"") && text.contains("found") && !ended.stdout.contains("geheim"), "{text}");
}

#[test]
fn a_session_sends_to_servers_that_a_response_names() {
    let other = Script::start(|client: &mut Client| {
        while client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\nSet-Cookie: own=1\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    let source = format!(
        "function session(user)\n  http.post('/login', {{ json = {{ user = 'ann' }} }})\n  for n = 1, 2 do\n    local got = \
         http.get('http://cdn.test:{}/cdn?' .. n)\n    user.check('ok', got.body == 'ok')\n  end\n  http.get('/items/1', {{ headers = \
         {{ Authorization = 'Bearer ann' }} }})\nend",
        other.address.port()
    );
    let (server, script) = (Script::start(shop), File::new("two.lua", &source));
    let resolve = format!("cdn.test:{}:127.0.0.1", other.address.port());
    let flags =
        ["--resolve", &resolve, "-H", "Authorization: geheim", "-H", "X-Own: 1", "-c3", "-t2", "-n12", "--json", "-"];
    let ended = torr(&[&[&*server.url(), "--script", script.path()], &flags[..]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(result["sessions"]["finished"].as_u64(), Some(12), "{ended:?}");
    assert_eq!((server.requests(), other.requests()), (24, 24), "{ended:?}");
    assert!(other.connections() <= 3, "each user has a connection of its own");
    let host = format!("\r\nHost: cdn.test:{}\r\n", other.address.port());
    for text in other.texts() {
        assert!(text.contains(&host) && text.contains("X-Own: 1"), "{text}");
        // Neither the target's cookies nor its credentials go to another server; its own cookies do.
        assert!(!text.contains("sid=7") && !text.contains("geheim"), "{text}");
        assert_eq!(text.contains("Cookie: own=1"), text.contains("/cdn?2"), "{text}");
    }
    let origins: Vec<_> = result["entries"].as_array().unwrap().iter().map(|entry| entry["origins"].clone()).collect();
    let ours = serde_json::json!([format!("http://{}", server.address)]);
    let others = serde_json::json!([format!("http://cdn.test:{}", other.address.port())]);
    assert_eq!(origins, [ours.clone(), others, ours], "{ended:?}");
}

#[test]
fn an_error_in_a_session_ends_the_run_with_its_position() {
    for (body, what) in [
        ("local x = nothing.field", "attempt to index global 'nothing'"),
        ("http.get(7)", "takes a path such as '/items', not a number"),
        ("http.get('/', { header = {} })", "a request has no option 'header'"),
        ("http.get('ftp://other.invalid/')", "only http:// and https:// can be loaded"),
        ("user.think('long')", "user.think takes seconds"),
        ("http.get('/'):json('$.a')", "the content of the response is no JSON"),
        ("http.get('/'):json('a b')", "is no JSON"),
        ("coroutine.yield(1)", "it yielded by itself"),
    ] {
        let server = Script::start(shop);
        let script = File::new("bad.lua", &format!("function session(user)\n  {body}\nend"));
        let ended = torr(&[&server.url(), "--script", script.path(), "-c1", "-d1m"]);
        assert!(ended.code == Some(1) && ended.stdout.contains("verdict"), "{body}: {ended:?}");
        let line =
            ended.stderr.lines().find(|line| line.contains("in session(): ")).unwrap_or_else(|| panic!("{ended:?}"));
        let position = if body.starts_with("coroutine") { "" } else { ":2" };
        assert!(line.starts_with(&format!("torr: {}{position}: in session(): ", script.path())), "{body}: {line}");
        assert!(line.contains(what), "{body}: {line}");
    }
}

#[test]
fn the_guides_commands_and_scripts_run() {
    let guide = include_str!("../../docs/scripts.md");
    let server = Script::start(shop);
    let at = server.address.to_string();
    let folder = tempfile::tempdir().unwrap();
    let blocks: Vec<_> = guide.split("```").skip(1).step_by(2).collect();
    for block in blocks.iter().filter_map(|block| block.strip_prefix("lua\n-- ")) {
        let (name, source) = block.split_once('\n').expect("a script has lines");
        fs::write(folder.path().join(name), format!("target = 'http://{at}/'\n{source}")).unwrap();
    }
    let commands: Vec<_> =
        blocks.iter().flat_map(|block| block.lines()).filter(|line| line.starts_with("torr ")).collect();
    assert!(commands.len() >= 5, "{commands:?}");
    for line in commands {
        let line = line.replace("127.0.0.1:8080", &at).replace("-d 10s", "-d 1s").replace("-c 100", "-c 10");
        let mut words: Vec<_> = line.split(' ').skip(1).collect();
        match words[0] {
            "limit" => words.extend(["--budget", "5s", "--max-connections", "20", "-t", "1"]),
            "doctor" => words.extend(["--budget", "5s", "-c", "10", "-t", "1"]),
            "check" | "once" => {}
            _ if line.contains(" -d ") => {}
            _ => words.insert(1, "-d1"),
        }
        let mut command = torr_command(&words);
        command.current_dir(folder.path());
        let ended = Running::start(command).wait();
        // The shop has status 404 for some of the guide's requests.
        let may_fail = ["limit", "once"].contains(&words[0]);
        assert!(ended.code == Some(0) || may_fail && ended.code == Some(1), "{line}: {ended:?}");
        assert!(words[0] == "check" || server.requests() > 0, "{line}: {ended:?}");
    }
}
