//! Command lines, and the hurl files that become of them.

use super::import;
use proptest::prelude::*;
use torr_session::hurl::parse;

fn imported(command: &str) -> (String, String) {
    let draft = import(command).unwrap_or_else(|error| panic!("{command}: {error}"));
    let text = draft.text();
    parse(&text).unwrap_or_else(|error| panic!("{command}: {error}\n{text}"));
    (text, draft.summary())
}

/// Commands, and their files.
const COMMANDS: &[(&str, &str)] = &[
    ("curl example.org", "GET http://example.org\n"),
    ("$ curl -sSL https://a/b?c#d -b ''", "GET https://a/b?c\n[Options]\nlocation: true\n"),
    ("curl -XDELETE 'https://a/b c'", "DELETE https://a/b c\n"),
    ("curl -I https://a/", "HEAD https://a/\n"),
    ("curl https://a/ -H 'Accept: text/html' -H 'X-A;' -H 'Expect:'", "GET https://a/\nAccept: text/html\nX-A:\n"),
    (
        "curl https://a/ -d a=1 -d b=%C3%A9+x",
        "POST https://a/\nContent-Type: application/x-www-form-urlencoded\n```a=1&b=%C3%A9+x```\n",
    ),
    ("curl -G https://a/?x=1 -d a=1 --data-urlencode 'b=c d'", "GET https://a/?x=1&a=1&b=c+d\n"),
    (
        "curl https://a/ --json '{\"a\": 1}'",
        "POST https://a/\nContent-Type: application/json\nAccept: application/json\n{\"a\": 1}\n",
    ),
    (
        "curl https://a/ -H 'content-type: application/json' --data-raw '{\"a\":\"it\\'s\"}'",
        "POST https://a/\ncontent-type: application/json\n{\"a\":\"it's\"}\n",
    ),
    (
        "curl https://a/ -d '{\"t\": \"{{x}}\"}' -H 'Content-Type: a/b'",
        "POST https://a/\nContent-Type: a/b\n```,escape\n\\u{7b}\"t\": \"\\u{7b}\\u{7b}x}}\"}```\n",
    ),
    (
        "curl https://a/ -d 'plain text'",
        "POST https://a/\nContent-Type: application/x-www-form-urlencoded\n```plain text```\n",
    ),
    ("curl https://a/ -T data.bin", "PUT https://a/data.bin\nfile,data.bin;\n"),
    (
        "curl https://a/ --data-binary @data.bin -H 'Content-Type: x/y'",
        "POST https://a/\nContent-Type: x/y\nfile,data.bin;\n",
    ),
    (
        "curl https://a/ -F 'a=b' -F 'f=@x.png;type=image/png' --form-string 'c=@d'",
        "POST https://a/\n[Multipart]\na: b\nf: file,x.png; image/png\nc: @d\n",
    ),
    (
        "curl https://a/ -k --compressed --http1.1 -m 2.5 --retry 3 --resolve a:443:127.0.0.1",
        "GET https://a/\n[Options]\ninsecure: true\ncompressed: true\nhttp1.1: true\nmax-time: 2500ms\nretry: 3\nresolve: a:443:127.0.0.1\n",
    ),
    ("curl https://a/ --http3-only", "GET https://a/\n[Options]\nhttp3: true\n"),
    (
        "curl https://a/ --next https://b/ -XPUT",
        "GET https://a/\n[Options]\nno-cookie-store: true\n\nPUT https://b/\n[Options]\nno-cookie-store: true\n",
    ),
    (
        "curl https://a/ -c jar\ncurl https://b/ -b jar # c\ncurl https://c/",
        "GET https://a/\n\nGET https://b/\n\nGET https://c/\n[Options]\nno-cookie-store: true\n",
    ),
    (
        "curl 'https://a/' \\\n  -H $'X-A: it\\'s \\u00e9' \\\n  -A \"agent \\\"x\\\"\"",
        "GET https://a/\nX-A: it's é\nUser-Agent: agent \"x\"\n",
    ),
    (
        "curl.exe ^\"https://a/?b=1^&c=2^\" ^\n  -H ^\"X-A: ^\\^\"q^\\^\"^\" ^\n  --data-raw ^\"a=1^\"",
        "POST https://a/?b=1&c=2\nX-A: \"q\"\n[Form]\na: 1\n",
    ),
    // What Chromium copies for cmd: doubled backslashes, a line end within content, a percent sign, several commands.
    (
        "curl ^\"https://a/x^%^20y^\" ^\r\n  --data-raw ^\"^{^\\^\"a^\\^\":^\\^\"say ^\\\\^\\^\"hi^\\\\^\\^\"^\\^\",^\r\n\r\n^\\^\"p^\\^\":^\\^\"c:^\\\\^\\\\d^\\^\"^}^\" &\r\ncurl ^\"https://b/^\"",
        "POST https://a/x%20y\nContent-Type: application/x-www-form-urlencoded\n[Options]\nno-cookie-store: true\n{\"a\":\"say \\\"hi\\\"\",\n\"p\":\"c:\\\\d\"}\n\nGET https://b/\n[Options]\nno-cookie-store: true\n",
    ),
    ("curl \"https://a/?b=^1\" ^\n  -H \"X-A: b\"", "GET https://a/?b=^1\nX-A: b\n"),
    ("curl 'https://a/' -H 'X-A: \"^\"'", "GET https://a/\nX-A: \"^\"\n"),
    // What Chromium copies for bash, several in one text.
    (
        "curl 'https://a/' \\\n  --data-raw $'{\"a\":\"it\\\'s \\u0021 \\ud83d\\ude00\"}' ;\ncurl 'https://b/'",
        "POST https://a/\nContent-Type: application/x-www-form-urlencoded\n[Options]\nno-cookie-store: true\n{\"a\":\"it's ! \u{1f600}\"}\n\nGET https://b/\n[Options]\nno-cookie-store: true\n",
    ),
    // A field of cookies counts alone, several flags are one field.
    ("curl https://a/ -b 'a=1' -H 'cookie: b=2' -b c=3", "GET https://a/\ncookie: {{cookie}}\n"),
    ("curl https://a/ -b 'a=1' -b b=2", "GET https://a/\nCookie: {{cookie}}\n"),
    // What stands around a command.
    (
        "TOKEN=1 curl -s https://a/ 2>/dev/null > x.json && curl https://b/ >>y 2>&1",
        "GET https://a/\n[Options]\nno-cookie-store: true\n\nGET https://b/\n[Options]\nno-cookie-store: true\n",
    ),
    // What only the shell knows.
    (
        "curl https://a/ --cacert $CA -T \"$DIR/a.png\"",
        "# left out: --cacert $CA (its value is known to the shell only)\n\
         # left out: name of a file $DIR/a.png (variables are not supported in file names, as files are read before \
         the run)\nPUT https://a/a.png\nfile,a.png;\n",
    ),
    (
        "curl \"$BASE/a?b=${B:-1}\" -H \"Authorization: Bearer $(cat token)\" -d \"{\\\"a\\\": $N, \\\"b\\\": \\\"$N\\\"}\" -u $U:$P",
        "POST {{BASE}}/a?b={{B}}\nAuthorization: Bearer {{cat_token}}\nContent-Type: application/x-www-form-urlencoded\n{\"a\": {{N}}, \"b\": \"{{N}}\"}\n",
    ),
    (
        "curl https://$H:80/ -d \"a=$A&password=$P\" -d 'b=$B' -d '$'",
        "POST https://{{H}}:80/\nContent-Type: application/x-www-form-urlencoded\n```a={{A}}&password={{P}}&b=$B&$```\n",
    ),
    (
        "curl https://a/ -d \"a=$A&password=$P\" -d 'b=$B'",
        "POST https://a/\nContent-Type: application/x-www-form-urlencoded\n```a={{A}}&password={{P}}&b=$B```\n",
    ),
    // Flags with values that name no URL.
    (
        "curl --ciphers A --proto =https --tlsv1.2 -Z https://a/",
        "# left out: --ciphers (a setting of the run, not of a request)\n# left out: --proto (a setting of the run, not of a request)\n# left out: --tlsv1.2 (a setting of the run, not of a request)\nGET https://a/\n",
    ),
    ("curl https://a/ --url-query 'a=b c' --url-query +d=%20", "GET https://a/?a=b+c&d=%20\n"),
    (
        "curl https://a/ -F 'a=\"b\";type=text/x' -F f=@/tmp/x.png",
        "# left out: exact form (the content of '/tmp/x.png' is unknown: files are not available here)\n\
         # left out: folder of a file /tmp/x.png (put the file next to the hurl file)\nPOST https://a/\n[Multipart]\n\
         a: b\nf: file,x.png;\n",
    ),
];

#[test]
fn what_is_no_command_of_curl_is_left_out_and_counted() {
    let (text, summary) =
        imported("cd /tmp\ncurl https://a/ | jq '.x y' | head\ncurl\ncurl https://b/ --data-urlencode a@b.txt");
    assert_eq!(text.lines().filter(|line| line.starts_with("GET ") || line.starts_with("POST ")).count(), 2, "{text}");
    for line in [
        "left out: commands, 1 time (not a curl command)",
        "left out: commands, 1 time (the curl command has no URL)",
        "left out: commands behind a pipe, 1 time (only requests are imported)",
        "left out: data of 'b.txt', 1 time (files are not available here)",
    ] {
        assert!(summary.lines().any(|said| said == line), "{line}: {summary}");
    }
    let (_, summary) = imported("curl https://a/$B/${A}");
    for name in ["A", "B"] {
        let line =
            format!("variable '{name}' has no value: set it with --variable {name}=VALUE or HURL_VARIABLE_{name}");
        assert!(summary.lines().any(|said| said == line), "{line}: {summary}");
    }
}

#[test]
fn commands_become_files() {
    for (command, file) in COMMANDS {
        assert_eq!(
            imported(&command.replace("\\'s", if command.contains("$'") { "\\'s" } else { "'\\''s" })).0,
            *file,
            "{command}"
        );
    }
}

#[test]
fn credentials_become_variables() {
    let (text, summary) = imported(
        "curl 'https://a/login' -H 'Authorization: Bearer abc' -b 'id=7; x=y' -H 'X-Api-Key: k' \
         -d '{\"user\": \"ann\", \"password\": \"p\\u0022w\", \"token\": \"\"}' -H 'Content-Type: application/json'",
    );
    assert_eq!(
        text,
        "POST https://a/login\nAuthorization: Bearer {{authorization}}\nCookie: {{cookie}}\nX-Api-Key: {{x_api_key}}\n\
         Content-Type: application/json\n{\"user\": \"ann\", \"password\": \"{{password}}\", \"token\": \"\"}\n"
    );
    for secret in ["abc", "id=7", "p\"w", "p\\u0022w"] {
        assert!(!text.contains(secret) && !summary.contains(secret), "{secret}: {text}{summary}");
    }
    assert!(
        summary.contains("secret: field Cookie is the variable 'cookie', read from HURL_VARIABLE_cookie"),
        "{summary}"
    );
    let (text, _) = imported("curl https://a/ -u ann:pw -d 'password=other&password=pw&a=b'");
    assert_eq!(
        text,
        "POST https://a/\n[Form]\npassword: {{password}}\npassword: {{password_2}}\na: b\n[BasicAuth]\nann: {{password_2}}\n"
    );
    let (text, summary) = imported("curl 'https://a/token=x?page=2&token=t%20k&api_key=&a=token' -G -d password=pw");
    assert_eq!(text, "GET https://a/token=x?page=2&token={{token}}&api_key=&a=token&password={{password}}\n");
    assert!(summary.contains("read from HURL_VARIABLE_token") && !summary.contains("t%20k"), "{summary}");
    // What is said about a URL quotes it.
    let (text, summary) = imported("curl \"https://a/?q='x'&token=s3cret\"");
    assert_eq!(
        text,
        "# left out: characters of the URL ' (the target is sent as /?q=%27x%27&token=x)\n\
         GET https://a/?q='x'&token={{token}}\n"
    );
    assert!(
        summary.contains("(the target is sent as /?q=%27x%27&token=x)") && !summary.contains("s3cret"),
        "{summary}"
    );
    let (text, summary) = imported(
        "curl https://b/\ncurl 'https://a b/?token=s3cret'\ncurl 'ftp://a/?token=s3cret'\n\
         curl 'https://ann:s3cret@a/[?token=s3cret'",
    );
    assert!(summary.contains("unclosed [ in 'https://***@a/[?token=***'"), "{summary}");
    assert!(!text.contains("s3cret") && !summary.contains("s3cret"), "{text}{summary}");
}

#[test]
fn what_cannot_be_carried_over_is_said() {
    let (text, summary) = imported("curl https://a/ --ntlm --frobnicate -b jar.txt -x proxy:80");
    let expected = "# left out: --ntlm (this authentication scheme is not supported)\n\
                    # left out: --frobnicate (unknown flag)\n\
                    # left out: -x (a proxy is a setting of the run: use torr --proxy)\n\
                    # left out: cookies of the file 'jar.txt' (a virtual user starts without cookies)\n\
                    GET https://a/\n";
    assert_eq!(text, expected);
    assert_eq!(summary.lines().filter(|line| line.starts_with("left out: ")).count(), 4, "{summary}");
}

#[test]
fn commands_that_are_none_are_refused() {
    let refused = [
        ("", "expected a command that begins with curl"),
        ("wget https://a/", "'wget' is not a curl command"),
        ("curl -H 'a: b'", "has no URL"),
        ("curl https://a/ -H", "missing value of -H"),
        ("curl 'https://a/", "unclosed ' in the command"),
        ("curl ftp://a/", "must begin with http://"),
        ("curl https://a/ --retry many", "--retry needs a number, found 'many'"),
    ];
    for (command, message) in refused {
        let error = import(command).expect_err(command).to_string();
        assert!(error.contains(message), "{command}: {error}");
    }
}

proptest! {
    /// Every command is refused or becomes a file that can be read.
    #[test]
    fn every_import_can_be_read(words in prop::collection::vec("[ -~é]{0,12}", 0..4), flags in prop::collection::vec(0..8_usize, 0..4)) {
        const FLAGS: [&str; 8] = ["-d", "-H", "--json", "-F", "-u", "-b", "--data-urlencode", "-A"];
        let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''")));
        let words: Vec<_> = flags.iter().map(|flag| FLAGS[*flag].to_owned()).zip(quoted).map(|(flag, word)| format!("{flag} {word}")).collect();
        if let Ok(draft) = import(&format!("curl https://a/ {}", words.join(" "))) {
            let text = draft.text();
            prop_assert!(parse(&text).is_ok(), "{:?}:\n{text}", parse(&text));
        }
    }
}
