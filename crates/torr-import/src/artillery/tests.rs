use super::*;

/// Imports a script, beside a file of records.
fn tried(text: &str, environment: Option<&str>) -> Result<Script, ImportError> {
    let read = |name: &str| match name {
        "users.csv" => Ok(b"user,id,mixed\nann,1,1\nbob,2,x\n".to_vec()),
        other => Err(format!("cannot read '{other}'")),
    };
    let environment = environment.map(str::to_owned);
    import(text, &Options { environment, folder: "load/".to_owned(), read: &read })
}

fn imported(text: &str) -> Script {
    tried(text, None).expect("it is a script")
}

/// Returns the file of a flow, with this beside the target.
fn with(config: &str, flow: &str) -> Draft {
    let mut script = imported(&format!("config: {{target: 'http://a', {config}}}\nscenarios: [{{flow: [{flow}]}}]"));
    script.scenarios.remove(0).draft
}

fn flow(flow: &str) -> Draft {
    with("", flow)
}

/// Returns the lines of a file without those that each request has.
fn lines(draft: &Draft) -> Vec<String> {
    let own =
        ["accept-encoding: gzip, deflate, br", "[Options]", "location: true", "variable: target=\"http://a\"", ""];
    draft.text().lines().filter(|line| !own.contains(line)).map(str::to_owned).collect()
}

fn flags(config: &str) -> Vec<String> {
    let script = format!("config: {{target: 'http://a', {config}}}\nscenarios: [{{flow: [{{get: {{url: /}}}}]}}]");
    imported(&script).flags
}

#[test]
fn each_scenario_becomes_a_file_and_the_load_a_command() {
    let script = imported(include_str!("../../samples/shop.artillery.yml"));
    let names: Vec<_> = script.scenarios.iter().map(|of| (of.name.as_str(), of.weight)).collect();
    assert_eq!(names, [("Browse", 7), ("Buy / pay", 1)]);
    let expected = [
        "--stages 0:1,1m:5,0:0,30s:0,0:5,2m:5",
        "-c 110",
        "--timeout 5s",
        "--feeder load/users.csv",
        "--fail-if 'p95>=300ms,sessions_failed>1%'",
    ];
    assert_eq!(script.flags, expected);
    let summary = script.scenarios[0].draft.summary();
    for line in [
        "environments: staging; choose one with --environment NAME",
        "scenario 'Browse', weight 7",
        "left out: processor ./functions.js, 1 time (functions in JavaScript are not supported)",
        "left out: scenario 'Chat', 1 time (the engine ws is not HTTP)",
    ] {
        assert!(summary.lines().any(|said| said == line), "{line}: {summary}");
    }
    let buy = &script.scenarios[1].draft;
    for line in [
        "# left out: beforeScenario prepare (functions in JavaScript are not supported)",
        "# left out: function pickItem (functions in JavaScript are not supported)",
        "# left out: beforeRequest sign (functions in JavaScript are not supported)",
        "authorization: Bearer {{token}}",
        "{\"user\":\"{{user}}\",\"size\":{{sizes}},\"item\":{\"id\":\"{{item}}\",\"note\":\"for {{mail}}\"}}",
    ] {
        assert!(buy.text().lines().any(|made| made == line), "{line}: {}", buy.text());
    }
    assert!(
        buy.summary()
            .contains("variable 'token' is captured by the file of --setup: without it, set HURL_VARIABLE_token")
    );
    let before = script.before.expect("there is one").text();
    assert!(before.contains("{\"user\":\"admin\",\"password\":\"{{getEnv \"SHOP_PASSWORD\"}}\"}"), "{before}");
    assert!(before.contains("token: jsonpath \"$.token\"") && script.after.is_some());
}

#[test]
fn an_environment_wins_over_the_rest_of_the_configuration() {
    let text = "config: {variables: {a: [1], b: {c: 1, d: 2}}, environments: {dev: {target: 'http://dev', variables: {b: {c: 3}}}}}\n\
                scenarios: [{flow: [{get: {url: '/{{ b.c }}/{{ b.d }}/{{ $environment }}/{{ a }}'}}]}]";
    let made = tried(text, Some("dev")).expect("it is a script").scenarios.remove(0).draft.text();
    assert!(made.starts_with("GET {{target}}/{{b_c}}/{{b_d}}/dev/{{a}}\n"), "{made}");
    for line in ["variable: target=\"http://dev\"", "variable: b_c=\"3\"", "variable: b_d=\"2\"", "variable: a=\"1\""] {
        assert!(made.contains(line), "{line}: {made}");
    }
    let refused = |environment| tried(text, environment).expect_err("it is refused").to_string();
    assert_eq!(refused(Some("prod")), "no such environment: 'prod' (expected: dev)");
    assert_eq!(refused(None), "the script has no target: choose an environment (dev)");
}

#[test]
fn phases_become_the_arrivals_of_a_run() {
    for (phases, expected) in [
        ("", "-n 1"),
        ("phases: [{duration: 60, arrivalRate: 5}]", "-r 5 -d 1m -c 50"),
        ("phases: [{duration: 1.5m, arrivalRate: '5'}]", "-r 5 -d 90s -c 50"),
        ("phases: [{duration: 4, arrivalCount: 6}]", "-r 1.5 -n 6 -c 15"),
        ("phases: [{duration: 2h, arrivalRate: 1, rampTo: 9}]", "--stages 0:1,2h:9 -c 90"),
        ("phases: [{duration: 10, rampTo: 9}, {pause: 5}]", "--stages 10s:9,0:0,5s:0 -c 90"),
        ("phases: [{duration: 10, arrivalRate: 2}, {duration: 10, arrivalRate: 2}]", "--stages 0:2,10s:2,10s:2 -c 20"),
        (
            "phases: [{duration: 10, arrivalRate: 2, maxVusers: 7}, {pause: 1}]",
            "--stages 0:2,10s:2,0:0,1s:0 -c 7 --patience 1ms",
        ),
        ("mode: poisson, phases: [{duration: 10, arrivalRate: 2}]", "-r 2 -d 10s --arrivals poisson -c 20"),
        ("timeout: 2.5, phases: [{duration: 10, arrivalRate: 2}]", "-r 2 -d 10s -c 5 --timeout 2500ms"),
        ("phases: [{duration: 10, arrivalRate: 1000000}]", "-r 1000000 -d 10s -c 1000000"),
    ] {
        assert_eq!(flags(phases).join(" "), format!("{expected} --requests-per-connection 1"), "{phases}");
    }
    for (phase, reason) in [
        ("{duration: 10, arrivalRate: '{{ $env.RATE }}'}", "its numbers are not known: set --stages"),
        ("{duration: 0, arrivalRate: 1}", "its numbers are not known: set --stages"),
        ("{duration: 5, arrivalRate: 1, maxVusers: 3}, {duration: 5, arrivalRate: 1}", "not the same in all phases"),
    ] {
        let summary = with(&format!("phases: [{phase}]"), "{get: {url: /}}").summary();
        assert!(summary.contains(reason), "{summary}");
    }
}

#[test]
fn thresholds_become_rules() {
    let made = flags(
        "ensure: {p99: 200, median: 20, thresholds: [{http.response_time.p999: 9}, {vusers.failed: 1}], conditions: [x]}",
    );
    assert!(made.contains(&"--fail-if 'p99>=200ms,p50>=20ms,p99.9>=9ms'".to_owned()), "{made:?}");
    let summary = with("ensure: {conditions: [x]}", "{get: {url: /}}").summary();
    assert!(summary.contains("left out: ensure, 1 time (no counterpart)"), "{summary}");
}

#[test]
fn names_stand_for_values_of_their_type_in_json() {
    let config = "variables: {num: 5, text: x, none: null, user: {id: 1}, on: 'true'}";
    let made = with(
        config,
        "{post: {url: /, json: {a: '{{ num }}', b: '{{num}}!', c: '{{ text }}', d: '{{ none }}', e: '{{ user }}', f: '{{ user.id }}', '2': b, '1': a, '{{ text }}': k, z: 1.0}}}",
    );
    let body = "{\"1\":\"a\",\"2\":\"b\",\"a\":{{num}},\"b\":\"{{num}}!\",\"c\":\"{{text}}\",\"d\":{{none}},\"e\":{\"id\":1},\"f\":{{user_id}},\"z\":1,\"{{text}}\":\"k\"}";
    assert_eq!(lines(&made).last().map(String::as_str), Some(body));
    let payload = "payload: {path: users.csv, fields: [user, id, mixed], skipHeader: true}";
    let made = with(payload, "{post: {url: /, json: ['{{ user }}', '{{ id }}', '{{ mixed }}', '{{ $environment }}']}}");
    let text = made.text();
    assert!(text.contains("[\"{{user}}\",{{id}},\"{{mixed}}\",null]"), "{text}");
    assert!(text.contains("# left out: type of a variable in JSON mixed (sent as a string"), "{text}");
    let line = "records: 'users.csv' provides user,id,mixed: use --feeder";
    assert!(made.summary().lines().any(|said| said == line), "{}", made.summary());
}

#[test]
fn braces_are_those_that_artillery_takes() {
    let made = with("variables: {n: 5}", "{post: {url: '/{{{ n }}}', body: 'a {{ n }}} {{ a + b }} {{{{ n }}}}'}}");
    let text = made.text();
    assert!(text.starts_with("POST {{target}}/{{n}}\n"), "{text}");
    assert!(text.contains("a {{n}} \\u{7b}\\u{7b} a + b }} \\u{7b}{{n}}}```"), "{text}");
    use text::Part::{Call, Name, Text};
    let parts = text::parts("{{ $f(1, a) }}{{a['b'].c}}{{ }}{{x}}}y{{ä}}");
    assert_eq!(parts, [Call("$f", "1, a"), Name("a['b'].c"), Name(""), Name("x"), Text("y{{ä}}")]);
}

#[test]
fn artilleries_own_names_have_counterparts_or_are_said() {
    let made = flow(
        "{get: {url: '/{{ $uuid }}/{{ $uuid }}/{{ $env.A_B }}/{{ $environment }}/{{ $timestamp }}/{{ $randomNumber(3, 9) }}/{{ $randomString(40) }}'}}",
    );
    let expected = "GET {{target}}/{{user_uuid}}/{{user_uuid}}/{{getEnv \"A_B\"}}/undefined/undefined/3/\
                    {{newUuid replace \"-\" \"\"}}{{newUuid replace \"-\" \"\" regex /^(.{8})/}}";
    let made_lines = lines(&made);
    assert!(made_lines.iter().any(|line| line == expected), "{made_lines:?}");
    assert!(made.text().contains("variable: user_uuid=\"{{newUuid}}\""), "{}", made.text());
    let summary = made.summary();
    assert!(summary.contains("variable $timestamp, 1 time (Artillery has no value for it"), "{summary}");
    assert!(summary.contains("function, 1 time (no counterpart: replaced by a constant)"), "{summary}");
}

#[test]
fn fields_and_cookies_are_those_of_the_defaults_and_of_the_request() {
    let config = "variables: {n: 5}, tls: {rejectUnauthorized: false}, defaults: {headers: {X-A: a, X-B: '{{ n }}', X-C: 'c{{ n }}'}, cookie: {c: 1}}";
    let made = with(
        config,
        "{get: {url: /, headers: {x-a: b, Authorization: Bearer k, X-D: true}, cookie: {d: '{{ n }}'}, auth: {user: mia, pass: pw}, gzip: false, followRedirect: false}}",
    );
    let expected = [
        "# left out: cookies d (sent with this request only: Artillery keeps them once a response has set a cookie)",
        "GET {{target}}/",
        "x-a: b",
        "x-c: cundefined",
        "authorization: Bearer {{authorization}}",
        "x-d: true",
        "variable: n=\"5\"",
        "insecure: true",
        "[Cookies]",
        "c: {{c}}",
        "d: {{n}}",
        "[BasicAuth]",
        "mia: {{password}}",
    ];
    assert_eq!(lines(&made), expected);
    let summary = made.summary();
    assert!(summary.contains("Artillery knows no variables there, and does not send it"), "{summary}");
}

#[test]
fn a_secret_has_one_variable_in_all_files() {
    let flow = |password: &str| format!("flow: [{{post: {{url: 'http://a/', json: {{password: {password}}}}}}}]");
    let (one, other) = (flow("one"), flow("other"));
    let script =
        imported(&format!("config: {{target: 'http://a'}}\nbefore: {{{one}}}\nscenarios: [{{{other}}}, {{{one}}}]"));
    let before = script.before.expect("there is one");
    let of = |draft: &Draft| draft.secrets.iter().map(|secret| secret.variable.clone()).collect::<Vec<_>>();
    let all: Vec<_> = [&before, &script.scenarios[0].draft, &script.scenarios[1].draft].map(of).concat();
    assert_eq!(all, ["password", "password_2", "password"]);
}

#[test]
fn forms_and_queries_keep_their_bytes() {
    let made = flow(
        "{post: {url: '/?old=1', qs: {a: 'b c', d: [1, 2]}, form: {a: b, n: 1}}}, {put: {url: '/?old=1', qs: {a: b}, form: {a: 'b c', l: [1, 2]}}}, \
         {post: {url: /, formData: {a: 1, f: {fromFile: ./a.txt}}}}, {post: {url: /, formData: {a: {value: b, contentType: x/y}}}}",
    );
    let expected = [
        "POST {{target}}/?a=b+c&d=1&d=2",
        "[Form]",
        "a: b",
        "n: 1",
        "PUT {{target}}/",
        "content-type: application/x-www-form-urlencoded",
        "[Query]",
        "a: b",
        "```a=b+c&l=1%2C2```",
        "POST {{target}}/",
        "[Multipart]",
        "a: 1",
        "f: file,a.txt; text/plain",
    ];
    assert_eq!(lines(&made)[..expected.len()], expected);
    assert!(made.text().contains("content-type: multipart/form-data; boundary=torr-part"), "{}", made.text());
}

#[test]
fn what_artillery_does_not_send_is_left_out() {
    let made = flow(
        "{get: {url: /a, json: {}}}, {post: {url: /b, json: {}, form: {}}}, {post: {url: /c, body: {}}}, {get: {url: d}}, {post: {url: /e, formData: {a: true}}}, \
         {get: {url: /f, ifTrue: 'n == 1'}}, {emit: x}, {get: {url: /}}",
    );
    let made = made.text();
    for line in [
        "# left out: request GET /a (GET and HEAD with content: Artillery ends the session here)",
        "# left out: request POST /b (content of two kinds: Artillery ends the session here)",
        "# left out: request POST /c (content that is no text: Artillery ends the session here)",
        "# left out: request GET d (no URL of HTTP: Artillery ends the session here)",
        "# left out: request POST /e (a part that is no text, number or file: Artillery ends the session here)",
        "# left out: ifTrue n == 1 (its request is always sent)",
        "# left out: step emit (not an HTTP request)",
    ] {
        assert!(made.lines().any(|of| of == line), "{line}: {made}");
    }
}

#[test]
fn conditions_of_known_values_decide() {
    for (condition, is_sent) in
        [("n == 5", true), ("n != 5", false), ("n > 4", true), ("n <= 4", false), ("s == \"x\"", true), ("zero", false)]
    {
        let steps = format!("{{get: {{url: /a, ifTrue: '{condition}'}}}}, {{get: {{url: /b}}}}");
        let made = with("variables: {n: 5, s: x, zero: 0}", &steps);
        assert_eq!(made.entries.len() == 2, is_sent, "{condition}");
    }
}

#[test]
fn pauses_become_delays() {
    let made = with(
        "variables: {t: 3}, defaults: {think: {jitter: 10%}}",
        "{think: 2}, {think: 500ms}, {think: '{{ t }}'}, {get: {url: /}}, {think: 0.5}, {think: '{{ x }}'}, {get: {url: /}}, {think: 1 minute}",
    );
    let text = made.text();
    assert!(text.contains("delay: 5500ms") && text.contains("delay: 1ms"), "{text}");
    assert!(text.contains("# left out: think 0.5 (Artillery pauses for 1 ms"), "{text}");
    assert!(text.contains("# left out: think {{ x }} (a time that is not known: add a delay)"), "{text}");
    assert!(text.contains("# left out: think 60000 ms (without a request behind it)"), "{text}");
    assert!(made.summary().contains("left out: jitter, 1 time (replaced by the mean pause)"));
}

#[test]
fn loops_are_repeated_or_written_out() {
    let urls = |steps: &str| {
        let made = with("variables: {list: [[a, b]], n: 3}", steps);
        made.text()
            .lines()
            .filter(|line| line.starts_with("GET") || line.contains("repeat"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(urls("{loop: [{get: {url: /}}], count: 3}"), ["GET {{target}}/", "repeat: 3"]);
    assert_eq!(urls("{loop: [{get: {url: /}}], count: '{{ n }}'}"), ["GET {{target}}/", "repeat: 3"]);
    assert_eq!(urls("{loop: [{get: {url: /}}], count: '{{ x }}'}"), ["GET {{target}}/", "repeat: {{x}}"]);
    assert_eq!(urls("{loop: [{loop: [{get: {url: /}}], count: 2}], count: 3}"), ["GET {{target}}/", "repeat: 6"]);
    let expected = ["GET {{target}}/4/4", "GET {{target}}/5/4"];
    assert_eq!(urls("{loop: [{get: {url: '/{{ $loopCount }}/{{ $loopElement }}'}}], count: 4-6}"), expected);
    let expected = ["GET {{target}}/0/a", "GET {{target}}/1/b"];
    assert_eq!(
        urls("{loop: [{get: {url: '/{{ i }}/{{ e.x }}'}}], over: [{x: a}, {x: b}], loopValue: i, loopElement: e}"),
        expected
    );
    assert_eq!(
        urls("{loop: [{get: {url: /a}}, {get: {url: /b}}], count: 60}"),
        ["GET {{target}}/a", "GET {{target}}/b"]
    );
    assert_eq!(urls("{loop: [{get: {url: /a}}], whileTrue: more}"), ["GET {{target}}/a"]);
    assert_eq!(urls("{loop: [{get: {url: /a}}]}"), ["GET {{target}}/a"]);
    let made = flow(
        "{get: {url: /, capture: {json: $.items, as: items}}}, {loop: [{get: {url: '/{{ $loopElement.id }}'}}], over: items}",
    );
    let text = made.text();
    assert!(text.contains("\nGET {{target}}/{{_loopElement_id}}\n"), "{text}");
    assert!(text.contains("_loopElement_id: jsonpath \"$.items[0]['id']\""), "{text}");
}

#[test]
fn loops_within_loops_end() {
    let mut steps = "{get: {url: '/{{ $loopCount }}'}}".to_owned();
    for _ in 0..30 {
        steps = format!("{{loop: [{steps}], over: [{}]}}", vec!["1"; 100].join(", "));
    }
    let made = flow(&format!("{{get: {{url: /}}}}, {steps}"));
    assert!(made.summary().contains("loops and values make more than a file can have"), "{}", made.summary());
    let large = "x".repeat(4 << 20);
    let config = format!("variables: {{list: {{a: {large}}}}}");
    let made =
        with(&config, &format!("{{get: {{url: /}}}}, {{post: {{url: /, body: '{}'}}}}", "{{ list }}".repeat(2000)));
    assert!(made.summary().contains("more than 64 MiB together") && made.entries.len() == 1);
}

#[test]
fn captures_matches_and_expectations_have_counterparts() {
    let config = "plugins: {expect: {expectDefault200: true}}";
    let made = with(
        config,
        "{get: {url: /, capture: [{json: a.b, as: a}, {json: '$.l[*]', as: l}, {regexp: 'x(\\d)', as: r}, {regexp: '(x)(\\d)', group: 2, flags: i, as: s}, \
         {header: X-Id, as: h}, {selector: 'a[rel=next]', attr: href, index: 1, as: c}, {xpath: //b, as: x}, {json: '$..[?(', as: bad}], \
         match: [{json: $.ok, value: true}, {json: $.n, value: 1, strict: false}], \
         expect: [{statusCode: [200, 201]}, {contentType: json}, {hasHeader: x-a}, {headerEquals: [x-b, c]}, {hasProperty: 'a[0].b'}, {notHasProperty: e}, \
         {matchesRegexp: ok}, {equals: ['{{ a }}', 7]}, {cdnHit: true}, {notStatusCode: 500}]}}, {get: {url: /}}",
    );
    let text = made.text();
    for line in [
        "a: jsonpath \"$.a.b\"",
        "l: jsonpath \"$.l[*]\" first",
        "r: regex /(x(\\d))/",
        "s: regex /(?i)(?:x)(\\d)/",
        "h: header \"X-Id\"",
        "c: xpath \"string((//a[@rel='next'])[2]/@href)\"",
        "x: xpath \"string(//b)\"",
        "jsonpath \"$.ok\" == true",
        "status toString matches /^(200|201)$/",
        "header \"x-a\" exists",
        "header \"x-b\" == \"c\"",
        "jsonpath \"$['a'][0]['b']\" exists",
        "jsonpath \"$['e']\" not exists",
        "body matches /ok/",
        "variable \"a\" toString == \"7\"",
        "status != 500",
        "HTTP 200",
    ] {
        assert!(text.lines().any(|made| made == line), "{line}: {text}");
    }
    for said in ["# left out: capture bad: ", "# left out: expect cdnHit: true (no counterpart)", "# left out: match {"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    let off = flow("{get: {url: /, expect: {statusCode: 200}}}").text();
    assert!(
        off.contains("# left out: expect (the plugin is not in the script's list") && !off.contains("HTTP"),
        "{off}"
    );
}

#[test]
fn parts_of_captured_values_are_captured_too() {
    let made = flow(
        "{get: {url: /, capture: {json: $.user, as: user}}}, {post: {url: '/{{ user.names[0] }}', json: {all: '{{ user }}'}}}",
    );
    let text = made.text();
    assert!(text.contains("user_names_0_: jsonpath \"$.user['names'][0]\""), "{text}");
    assert!(text.contains("GET") && text.contains("POST {{target}}/{{user_names_0_}}\n"), "{text}");
    assert!(text.contains("{\"all\":{{user}}}"), "{text}");
}

#[test]
fn what_is_no_script_is_refused_in_one_line() {
    for (text, message) in [
        ("[", "not a valid Artillery script: "),
        ("a: b", "not an Artillery script: expected the list 'scenarios'"),
        ("scenarios: []", "the script has no scenario with an HTTP request"),
        (
            "scenarios: [{engine: playwright, flow: []}]",
            "the script has no scenario with an HTTP request (scenario '1': the engine playwright is not HTTP)",
        ),
        ("scenarios: [{weight: 0, flow: [{get: {url: 'http://a'}}]}]", "the script has no scenario"),
    ] {
        let error = tried(text, None).expect_err("it is refused").to_string();
        assert!(error.starts_with(message) && !error.contains('\n'), "{error}");
    }
}
