//! Secrets are shown in no output and no message.

use super::collector::without_proxy;
use base64::Engine;

use torr_test_support::program::{Running, torr_command};
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::servers::closed_port;

/// What must be nowhere in what is printed or written, in no encoding that is as good as itself.
const SECRET: &str = "hunter2";

/// Every command that is given a secret, and the one variable that it may be in.
fn commands_with_secrets(server: &str, nowhere: &str, list: &str, config: &str) -> Vec<(Vec<String>, Option<String>)> {
    let words = |line: &str| -> Vec<String> {
        // Some values have a line end; '|' separates words.
        let fill = |word: &str| {
            let word = word.replace("SECRET", SECRET).replace("SERVER", server).replace("NOWHERE", nowhere);
            word.replace("LIST", list).replace("CONFIG", config).replace("\\n", "\n")
        };
        line.split('|').map(fill).collect()
    };
    let plain = [
        // Runs that come about: what they print, and their files.
        "http://u:SECRET@SERVER/|-n|2|-c|1|--json|result.json|--csv|series.csv|--hlog|log.hlog|--prometheus|m.prom|--junit|j.xml",
        "http://SECRET@SERVER/|-n|2|-c|1|--json|-",
        "u:SECRET@SERVER/|-n|2|-c|1",
        "http://SERVER/|-n|2|-c|1|--user|u:SECRET|--json|-",
        "http://SERVER/|-n|2|-c|1|--oauth2-bearer|SECRET|--json|-",
        "http://SERVER/|-n|2|-c|1|-H|Authorization: Bearer SECRET|-b|a=SECRET|--json|-",
        "http://SERVER/|-n|2|-c|1|-H|Referer: http://u:SECRET@h/|--json|-",
        "once|http://SERVER/|-H|Referer: http://u:SECRET@h/?token=SECRET",
        "http://SERVER/|-H|Referer: http://u:SECRET@h/|--print-plan",
        "http://SERVER/|-n|2|-c|1|--otlp|http://u:SECRET@NOWHERE/",
        "--urls|LIST|-n|2|-c|1|--json|-",
        "ab|-n|2|-c|1|-A|u:SECRET|-P|u:SECRET|-C|a=SECRET|-H|X-Token: SECRET|http://u:SECRET@SERVER/",
        "ab|-v|4|-n|1|-c|1|-A|u:SECRET|-P|u:SECRET|-C|a=SECRET|-H|X-Token: SECRET|http://SERVER/",
        "wrk|-d|1|-c|1|-t|1|-H|Authorization: Bearer SECRET|http://u:SECRET@SERVER/",
        "httpress|-n|2|http://u:SECRET@SERVER/",
        "press|-n|2|http://u:SECRET@SERVER/",
        "doctor|http://u:SECRET@SERVER/|--budget|5s|-c|2|-q",
        // Targets that cannot be reached, and URLs that are none.
        "http://u:SECRET@NOWHERE/|-n|1|--junit|j.xml",
        "http://u:SECRET@NOWHERE:x/",
        "http://u:SECRET word@NOWHERE/",
        "http://u:SECRET/@NOWHERE/",
        "ftp://u:SECRET@NOWHERE/",
        "u:SECRET@NOWHERE:99999",
        "http://NOWHERE/|http://u:SECRET@NOWHERE/",
        "limit|http://u:SECRET@NOWHERE:x/",
        "doctor|http://u:SECRET@NOWHERE:x/",
        "ab|http://u:SECRET@NOWHERE",
        "ab|http://u:SECRET@:x/",
        "wrk|-d|1|u:SECRET@NOWHERE",
        "httpress|u:SECRET@NOWHERE",
        "press|u:SECRET@NOWHERE",
        // Credentials and fields that cannot be sent.
        "http://NOWHERE/|--user|SECRET",
        "http://NOWHERE/|--user|u:{{SECRET",
        "http://NOWHERE/|--oauth2-bearer|SECRET\\n",
        "http://NOWHERE/|--oauth2-bearer|{{SECRET}}",
        "http://NOWHERE/|-H|Authorization: Bearer SECRET\\n.",
        "http://NOWHERE/|-H|Authorization Bearer SECRET",
        "http://NOWHERE/|-H|Api Key: SECRET",
        "http://NOWHERE/|-H|SECRET",
        "http://NOWHERE/|-H|Content-Length: SECRET",
        "http://NOWHERE/|-b|SECRET",
        "http://NOWHERE/|-b|a=SECRET\\n.",
        "http://NOWHERE/|-F|SECRET",
        "ab|-H|SECRET|http://NOWHERE/",
        "ab|-H|Authorization: SECRET\\n.|http://NOWHERE/",
        "wrk|-d|1|-H|Authorization: SECRET\\n.|http://NOWHERE/",
        // Proxies, collectors, watchers.
        "http://NOWHERE/|-n|1|-x|http://u:SECRET@NOWHERE|--proxy-user|u:SECRET",
        "http://NOWHERE/|-x|http://u:SECRET@proxy",
        "http://NOWHERE/|-x|u:SECRET@proxy:x",
        "ab|-X|u:SECRET@proxy:x|http://NOWHERE/",
        "http://NOWHERE/|--otlp|https://u:SECRET@NOWHERE/",
        "http://SERVER/|-n|2|--prometheus-remote-write|http://u:SECRET@NOWHERE/x?token=SECRET",
        "http://SERVER/|-n|2|--influxdb|https://u:SECRET@NOWHERE",
        "http://NOWHERE/|--influxdb|ftp://u:SECRET@NOWHERE",
        "http://NOWHERE/|--otlp|http://u:SECRET@",
        "doctor|http://NOWHERE/|--watch|http://u:SECRET@NOWHERE",
        "doctor|http://NOWHERE/|--watch|u:SECRET@NOWHERE|--watch-token|SECRET",
        "doctor|--sweep|workers|--command|/no/such/program {n} {port} --database postgres://u:SECRET@h/d",
        "watch|--listen|nowhere|--token|SECRET",
        // Databases and caches.
        "serve|--print-config|--database|postgres://u:SECRET@h/d|--cache|redis://:SECRET@h/1",
        "serve|--print-config|--database|mysql://SECRET@h/d",
        "serve|--print-config|--database|postgres://h/d?user=u&password=SECRET",
        "serve|--print-config|--database|postgres://u:SECRET/@h/d",
        "serve|--print-config|--config|CONFIG",
        "serve|--listen|127.0.0.1:0|--database|postgres://u:SECRET@NOWHERE/d",
        "serve|--listen|127.0.0.1:0|--database|postgres://u:x?SECRET@h/d",
        "serve|--listen|127.0.0.1:0|--database|postgres://u:SECRET/x@h/d",
        "serve|--listen|127.0.0.1:0|--database|mysql://u:SECRET@NOWHERE/d",
        "serve|--listen|127.0.0.1:0|--database|mysql://u:SECRET/x@h/d",
        "serve|--listen|127.0.0.1:0|--database|oracle://u:SECRET@h/d",
        "serve|--listen|127.0.0.1:0|--cache|redis://:SECRET@h/x",
        "serve|--listen|127.0.0.1:0|--cache|rediss://:SECRET@h",
    ];
    let by_variable = [
        ("http://SERVER/|-n|1|--otlp|http://NOWHERE/", "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer SECRET"),
        ("http://NOWHERE/|--otlp|http://NOWHERE/", "OTEL_EXPORTER_OTLP_HEADERS=authorization=SECRET%0a"),
        ("http://NOWHERE/|--otlp|http://NOWHERE/", "OTEL_EXPORTER_OTLP_HEADERS=SECRET"),
        ("http://SERVER/|-n|1|--influxdb|http://NOWHERE/", "TORR_PUSH_HEADERS=authorization=Token SECRET"),
        ("http://NOWHERE/|--influxdb|http://NOWHERE/", "TORR_PUSH_HEADERS=SECRET"),
        ("serve|--print-config", "TORR_SERVE_DATABASE=postgres://u:SECRET@h/d"),
        ("serve|--print-config", "TORR_SERVE_CACHE=redis://:SECRET@h"),
        ("serve|--print-config", "TORR_SERVE_DATABASE=postgres://u:SECRET@h/d\\nx"),
        ("watch|--listen|nowhere", "TORR_WATCH_TOKEN=SECRET"),
    ];
    let plain = plain.iter().map(|line| (words(line), None));
    plain.chain(by_variable.iter().map(|(line, variable)| (words(line), words(variable).pop()))).collect()
}

#[test]
fn no_secret_is_ever_shown() {
    let server = Script::start(answering(OK));
    let (address, nowhere) = (server.address.to_string(), format!("127.0.0.1:{}", closed_port()));
    let given = tempfile::tempdir().unwrap();
    let (list, config) = (given.path().join("urls.txt"), given.path().join("torr.toml"));
    std::fs::write(&list, format!("http://u:{SECRET}@{address}/a\nhttp://u:{SECRET}@{address}/b\n")).unwrap();
    std::fs::write(&config, format!("database = \"mysql://u:{SECRET}@h/d\"\ncache = \"redis://:{SECRET}@h\"\n"))
        .unwrap();
    let encoded = |text: &str| base64::prelude::BASE64_STANDARD.encode(text);
    let forms = [SECRET.to_owned(), encoded(&format!("u:{SECRET}")), encoded(&format!("{SECRET}:"))];
    let commands =
        commands_with_secrets(&address, &nowhere, &list.display().to_string(), &config.display().to_string());
    for (args, variable) in &commands {
        let folder = tempfile::tempdir().unwrap();
        let mut command = without_proxy(torr_command(&args.iter().map(String::as_str).collect::<Vec<_>>()));
        command.current_dir(folder.path());
        if let Some((name, value)) = variable.as_deref().and_then(|variable| variable.split_once('=')) {
            command.env(name, value);
        }
        let ended = Running::start(command).wait();
        assert!(!ended.stdout.is_empty() || !ended.stderr.is_empty(), "{args:?} says nothing: {ended:?}");
        let files = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let files = files.map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
        for said in [ended.stdout, ended.stderr].into_iter().chain(files) {
            for form in &forms {
                assert!(!said.contains(form), "{args:?} {variable:?} shows its secret: {said}");
            }
        }
    }
}
