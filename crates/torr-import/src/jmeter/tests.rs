//! Plans as JMeter 5.6 writes them, and the hurl files that become of them.

use super::import;
use torr_session::hurl::parse;

const SHOP: &str = include_str!("../../samples/shop.jmx");

fn imported(text: &str) -> Vec<(String, String)> {
    let groups = import(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let text = |group: super::ThreadGroup| {
        let file = group.draft.text();
        parse(&file).unwrap_or_else(|error| panic!("{error}\n{file}"));
        (file, group.draft.summary())
    };
    groups.into_iter().map(text).collect()
}

/// Returns the hurl file of a plan whose thread group has these elements.
fn plan(elements: &str) -> (String, String) {
    let plan = format!(
        "<jmeterTestPlan><hashTree><TestPlan/><hashTree><ThreadGroup testname=\"g\"/><hashTree>{elements}</hashTree></hashTree></hashTree></jmeterTestPlan>"
    );
    imported(&plan).remove(0)
}

/// Returns an HTTP request to a URL, with elements below.
fn get(url: &str, below: &str) -> String {
    format!(
        "<HTTPSamplerProxy testname=\"r\"><stringProp name=\"HTTPSampler.path\">{url}</stringProp></HTTPSamplerProxy><hashTree>{below}</hashTree>"
    )
}

#[test]
fn each_thread_group_becomes_a_file() {
    let files = imported(SHOP);
    assert_eq!(files.len(), 2);
    let expected = "# left out: com.example.CustomConfig 'odd' (no counterpart)\n\
                    # left out: CSVDataSet 'Users': users.csv provides user,mail (use --feeder: one record per \
                    session)\n# left out: BeanShellAssertion 'odd check' (no counterpart)\n\
                    # left out: RegexExtractor 'all' (only the first match is supported)\n# name: POST login\n\
                    POST https://{{host}}/login\nAccept: application/json\nX-Api-Key: {{x_api_key}}\n\
                    Content-Type: text/plain; charset=UTF-8\n[Options]\nvariable: host=\"shop.example\"\n\
                    location: true\nmax-time: 5s\ndelay: 300ms\n{\r\n  \"user\": \"{{user}}\",\r\n  \
                    \"password\": \"{{password}}\", \"id\": \"{{newUuid}}\"\r\n}\nHTTP 201\n[Captures]\n\
                    token: jsonpath \"$.token\"\ncart: jsonpath \"$.cart.id\"\n\
                    csrf: regex /name=\"csrf\" value=\"(.+?)\"/\n[Asserts]\njsonpath \"$.name\" == \"{{user}}\"\n\n\
                    # left out: function __Random (no counterpart: replaced by a constant)\n\
                    # left out: UniformRandomTimer 'Look' (replaced by its mean pause)\n# name: GET item\n\
                    GET https://{{host}}:8443/items/1\nAccept: application/json\nX-Api-Key: {{x_api_key}}\n[Options]\n\
                    max-time: 5s\ndelay: 500ms\nrepeat: 5\n[Query]\nq: a b\nHTTP *\n[Asserts]\nduration <= 800\n\
                    bytes count > 10\n\n\
                    # left out: IfController 'Member': ${__jexl3(\"${role}\" == \"member\")} (its requests always \
                    run)\n# left out: embedded resources (requests for a page's parts: import a HAR file for them)\n\
                    # name: POST order\nPOST https://{{host}}/orders/{{cart}}\nAccept: application/json\n\
                    X-Api-Key: {{x_api_key}}\nContent-Type: application/x-www-form-urlencoded; charset=UTF-8\n\
                    [Options]\nmax-time: 5s\ndelay: 300ms\n```csrf={{csrf urlEncode}}&note=50%25+off```\n\n\
                    # left out: disabled elements off (disabled in the plan)\n\
                    # left out: JSR223Sampler 'compute' (no counterpart)\n";
    assert_eq!(files[0].0, expected);
    for line in [
        "3 requests",
        "secret: variable password is the variable 'password', read from HURL_VARIABLE_password",
        "thread group 'Buyers', 50 threads (-c), 10 s ramp-up, 3 loops",
        "records: 'users.csv' provides user,mail: use --feeder",
        "left out: com.example.CustomConfig, 1 time (no counterpart)",
        "left out: disabled thread groups, 1 time",
        "left out: listeners, 1 time (Torr has its own reports)",
    ] {
        assert!(files[0].1.lines().any(|said| said.starts_with(line)), "{line}: {}", files[0].1);
    }
    assert!(!files[0].0.contains("geheim") && !files[0].1.contains("geheim"));
    assert!(files[1].0.contains("# name: GET all\nGET https://{{host}}/all\n"), "{}", files[1].0);
}

#[test]
fn settings_of_a_connection_are_said() {
    let sampler = "<HTTPSamplerProxy testname=\"r\"><stringProp name=\"HTTPSampler.path\">http://a/</stringProp>\
        <boolProp name=\"HTTPSampler.use_keepalive\">false</boolProp>\
        <stringProp name=\"HTTPSampler.contentEncoding\">iso-8859-1</stringProp>\
        <stringProp name=\"HTTPSampler.ipSource\">10.0.0.7</stringProp></HTTPSamplerProxy><hashTree/>";
    let (file, _) = plan(sampler);
    for said in [
        "# left out: keep-alive false (connections are kept open: use --no-keepalive)",
        "# left out: content encoding iso-8859-1 (content is sent as UTF-8)",
        "# left out: source address 10.0.0.7 (use --bind instead)",
    ] {
        assert!(file.lines().any(|line| line == said), "{said}: {file}");
    }
    assert!(!plan(&get("http://a/", "")).0.contains("left out"));
}

#[test]
fn credentials_in_a_url_become_variables() {
    let (file, summary) =
        plan(&format!("{}{}", get("http://ann:pa55@a/?q='x'&amp;token=s3cret", ""), get("${path}?token=s3cret", "")));
    let expected = "# left out: characters of the URL ' (the target is sent as /?q=%27x%27&token=x)\n# name: r\n\
                    GET http://ann:{{password}}@a/?q='x'&token={{token}}\n[Options]\nno-cookie-store: true\n\n\
                    # left out: path ${path} (the beginning has no value: a slash was added, remove it if the value \
                    has one)\n# name: r\nGET http://{{host}}/{{path}}?token={{token}}\n[Options]\n\
                    no-cookie-store: true\n";
    assert_eq!(file, expected);
    assert!(!summary.contains("pa55") && !summary.contains("s3cret"), "{summary}");
}

#[test]
fn loops_of_several_requests_are_written_out_within_bounds() {
    let two = format!("{}{}", get("http://a/1", ""), get("http://a/2", ""));
    let looped = |count: &str| {
        plan(&format!(
            "<LoopController testname=\"l\"><stringProp name=\"LoopController.loops\">{count}</stringProp></LoopController><hashTree>{two}</hashTree>"
        ))
    };
    assert_eq!(looped("3").0.matches("GET http").count(), 6);
    for count in ["51", "-1", "${n}"] {
        let (file, _) = looped(count);
        assert_eq!(file.matches("GET http").count(), 2, "{file}");
        assert!(
            file.contains(&format!("# left out: LoopController 'l' ({count} times: its requests run once")),
            "{file}"
        );
    }
}

#[test]
fn an_unknown_element_is_said_and_what_is_below_it_is_read() {
    let below = get("http://a/", "<FooPostProcessor testname=\"f\"/><hashTree/>");
    let (file, summary) = plan(&format!("<kg.apc.Odd testname=\"o\"/><hashTree>{below}</hashTree>"));
    let said = "# left out: kg.apc.Odd 'o' (no counterpart)\n# left out: FooPostProcessor 'f' (no counterpart)\n";
    assert!(file.starts_with(said), "{file}");
    assert!(summary.contains("left out: kg.apc.Odd, 1 time (no counterpart)"), "{summary}");
}

#[test]
fn functions_have_their_counterparts() {
    for (text, expected) in [
        ("${__P(h,x)}", "{{h}}"),
        ("${__UUID}", "{{newUuid}}"),
        ("${__time(yyyy-MM-dd'T'HH:mm:ss,)}", "{{newDate dateFormat \"%Y-%m-%dT%H:%M:%S\"}}"),
        ("${__time()}", "{{newDate dateFormat \"%s%3f\"}}"),
        ("${__V(a)}", "{{a}}"),
        ("${__urlencode(${a})}", "{{a}}"),
        ("${a${b}", "${a${b}"),
        ("$a{b}", "$a{b}"),
    ] {
        let (file, _) = plan(&get(&format!("http://a/{text}"), ""));
        assert!(file.contains(&format!("GET http://a/{expected}\n")), "{text}: {file}");
    }
}

#[test]
fn what_stands_around_thread_groups_is_said_in_each_file() {
    let group =
        |name: &str| format!("<ThreadGroup testname=\"{name}\"/><hashTree>{}</hashTree>", get("http://a/${user}", ""));
    let around = "<CSVDataSet testname=\"Users\"><stringProp name=\"filename\">u.csv</stringProp><stringProp name=\"variableNames\">user</stringProp></CSVDataSet><hashTree/>\
        <JSR223PreProcessor testname=\"j\"/><hashTree/><ResultCollector testname=\"r\"/><hashTree/>\
        <ThreadGroup testname=\"off\" enabled=\"false\"/><hashTree/><TestFragmentController testname=\"f\"/><hashTree/>";
    let plan = format!(
        "<jmeterTestPlan><hashTree><TestPlan/><hashTree>{}{around}{}</hashTree></hashTree></jmeterTestPlan>",
        group("a"),
        group("b")
    );
    for (file, summary) in imported(&plan) {
        let said = "# left out: JSR223PreProcessor 'j' (no counterpart)\n\
                    # left out: TestFragmentController 'f' (it runs only where other elements refer to it)\n\
                    # left out: CSVDataSet 'Users': u.csv provides user (use --feeder: one record per session)\n";
        assert!(file.starts_with(said), "{file}");
        for line in [
            "left out: JSR223PreProcessor, 1 time (no counterpart)",
            "left out: disabled thread groups, 1 time (disabled in the plan)",
            "left out: listeners, 1 time (Torr has its own reports)",
            "records: 'u.csv' provides user: use --feeder, with these names in its first line",
        ] {
            assert!(summary.lines().any(|said| said == line), "{line}: {summary}");
        }
        assert!(!summary.contains("has no value"), "{summary}");
    }
}

/// Returns the file of a request with an extractor that has these properties.
fn extracted(tag: &str, prefix: &str, properties: &[(&str, &str)]) -> String {
    let properties: String = properties
        .iter()
        .map(|(name, value)| format!("<stringProp name=\"{prefix}.{name}\">{value}</stringProp>"))
        .collect();
    plan(&get("http://a/", &format!("<{tag} testname=\"x\">{properties}</{tag}><hashTree/>"))).0
}

#[test]
fn extractors_become_captures() {
    let regex = |properties: &[(&str, &str)]| {
        extracted("RegexExtractor", "RegexExtractor", &[&[("refname", "v")], properties].concat())
    };
    let x_path = |number: &str, query: &str| {
        let properties = [("refname", "v"), ("matchNumber", number), ("xpathQuery", query)];
        extracted("XPathExtractor", "XPathExtractor", &properties)
    };
    let html = |number: &str, selector: &str, attribute: &str| {
        let properties = [("refname", "v"), ("match_number", number), ("expr", selector), ("attribute", attribute)];
        extracted("HtmlExtractor", "HtmlExtractor", &properties)
    };
    let json = |path: &str| {
        let properties = [("referenceNames", "v"), ("jsonPathExprs", path)];
        extracted("JSONPostProcessor", "JSONPostProcessor", &properties)
    };
    for (file, expected) in [
        (regex(&[("regex", "a(.)"), ("template", "$1$")]), "v: regex /a(.)/"),
        (regex(&[("regex", "a(.)[(](b)"), ("template", "$2$")]), "v: regex /a(?:.)[(](b)/"),
        (regex(&[("regex", "a."), ("template", "$0$")]), "v: regex /(a.)/"),
        (
            regex(&[("regex", "Location: .*id=(\\d+)"), ("template", "$1$"), ("useHeaders", "true")]),
            "v: header \"Location\" regex /.*id=(\\d+)/",
        ),
        (
            regex(&[("regex", "Set-Cookie: SID=(.+?);"), ("template", "$1$"), ("useHeaders", "true")]),
            "v: cookie \"SID\"",
        ),
        (regex(&[("regex", "id=(.)"), ("template", "$1$"), ("useHeaders", "URL")]), "v: url regex /id=(.)/"),
        (x_path("0", "//a/@href"), "v: xpath \"string(//a/@href)\""),
        (x_path("2", "//a"), "v: xpath \"string((//a)[2])\""),
        (x_path("", "count(//a)"), "v: xpath \"count(//a)\""),
        (x_path("1", "//p:a"), "v: xpath \"string(//p:a)\""),
        (
            extracted("XPath2Extractor", "XPathExtractor2", &[("refname", "v"), ("xpathQuery", "/a/b/text()")]),
            "v: xpath \"string(/a/b/text())\"",
        ),
        (html("1", "input[name=csrf]", "value"), "v: xpath \"string(//input[@name='csrf']/@value)\""),
        (html("3", "li > a", ""), "v: xpath \"normalize-space((//li/a)[3])\""),
        (html("", "b, i", "id"), "v: xpath \"string((//b | //i)[1]/@id)\""),
        (json("$.a-b"), "v: jsonpath \"$.a-b\""),
        (json("a.b"), "v: jsonpath \"$.a.b\""),
        (
            extracted("JMESPathExtractor", "JMESExtractor", &[("refName", "v"), ("jmesPathExpr", "a.b[0]")]),
            "v: jsonpath \"$.a.b[0]\"",
        ),
    ] {
        assert!(file.lines().any(|line| line == expected), "{expected}: {file}");
    }
    for (file, reason) in [
        (x_path("1", "for $a in //b return $a"), "this expression syntax is not supported"),
        (x_path("-1", "//a"), "only one match is supported"),
        (x_path("1", "//${a}"), "an expression with a variable is not supported"),
        (html("1", "a:has(b)", ""), "this CSS selector is not supported"),
        (html("1", "a", "abs:href"), "unknown attribute"),
        (regex(&[("regex", "a(.)"), ("template", "$2$")]), "no such group in its pattern"),
        (regex(&[("regex", "(a)(b)"), ("template", "$1$$2$")]), "only one group of a pattern is supported"),
        (extracted("RegexExtractor", "Sample", &[("scope", "variable")]), "only the main response is supported"),
    ] {
        assert!(file.contains(&format!("'x' ({reason})\n")), "{reason}: {file}");
    }
}

#[test]
fn assertions_by_xpath_become_asserts() {
    let assertion = |negate: bool, expression: &str| {
        let below = format!(
            "<XPathAssertion testname=\"x\"><boolProp name=\"XPath.negate\">{negate}</boolProp><stringProp name=\"XPath.xpath\">{expression}</stringProp></XPathAssertion><hashTree/>"
        );
        plan(&get("http://a/", &below)).0
    };
    for (file, expected) in [
        (assertion(false, "//a"), "xpath \"//a\" exists"),
        (assertion(true, "//a"), "xpath \"//a\" not exists"),
        (assertion(false, "count(//a)=1"), "xpath \"count(//a)=1\" == true"),
        (assertion(true, "string(//a)"), "xpath \"boolean(string(//a))\" == false"),
    ] {
        assert!(file.lines().any(|line| line == expected), "{expected}: {file}");
    }
    assert!(assertion(false, "a[").contains("(this expression syntax is not supported)"));
}

#[test]
fn assertions_in_all_their_bits() {
    let assertion = |field: &str, kind: u32, texts: &[&str]| {
        let texts: String = texts.iter().map(|text| format!("<stringProp name=\"1\">{text}</stringProp>")).collect();
        let below = format!(
            "<ResponseAssertion testname=\"x\"><collectionProp name=\"Asserion.test_strings\">{texts}</collectionProp><stringProp name=\"Assertion.test_field\">Assertion.{field}</stringProp><intProp name=\"Assertion.test_type\">{kind}</intProp></ResponseAssertion><hashTree/>"
        );
        plan(&get("http://a/", &below)).0
    };
    for (file, expected) in [
        (assertion("response_data", 2, &["a+"]), "body matches /a+/\n"),
        (assertion("response_data", 2, &["a\\/b\n/"]), "body matches /a\\/b\\n\\//\n"),
        (assertion("response_data", 1, &["a+"]), "body matches /^(?s:a+)$/\n"),
        (assertion("response_data", 6, &["a/b"]), "body not matches /a\\/b/\n"),
        (assertion("response_data", 8, &["a"]), "body == \"a\"\n"),
        (assertion("response_data", 16, &["${v}", "b"]), "body contains \"{{v}}\"\nbody contains \"b\"\n"),
        (assertion("response_data", 48, &["a.", "b"]), "body matches /a\\.|b/\n"),
        (assertion("response_code", 8, &["204"]), "HTTP 204\n"),
        (assertion("response_code", 12, &["500"]), "status not == 500\n"),
        (assertion("response_code", 1, &["2.."]), "status toString matches /^(?s:2..)$/\n"),
        (
            assertion("response_headers", 2, &["a"]),
            "# left out: ResponseAssertion 'x' (only content and status code are supported)\n",
        ),
        (assertion("response_data", 2, &["(?&lt;=a)b"]), "(this regular expression syntax is not supported)\n"),
    ] {
        assert!(file.contains(expected), "{expected}: {file}");
    }
}

#[test]
fn what_is_no_plan_or_grows_without_bound_is_refused_in_one_line() {
    let deep =
        format!("<jmeterTestPlan>{}{}</jmeterTestPlan>", "<hashTree>".repeat(100_000), "</hashTree>".repeat(100_000));
    let laughs = "<!DOCTYPE a [<!ENTITY b \"ha\"><!ENTITY c \"&b;&b;&b;&b;\">]><jmeterTestPlan>&c;</jmeterTestPlan>";
    for (text, message) in [
        ("", "not a JMeter plan: "),
        ("<html/>", "the root element is 'html'"),
        ("<jmeterTestPlan><a></b></jmeterTestPlan>", "not a JMeter plan: "),
        ("<jmeterTestPlan/>", "no enabled thread group with an HTTP request"),
        (
            "<jmeterTestPlan><FTPSampler/><LDAPSampler/><FTPSampler/></jmeterTestPlan>",
            "request, only FTPSampler, LDAPSampler",
        ),
        (&deep, "nested deeper than 256 levels"),
        (laughs, "not a JMeter plan: "),
    ] {
        let error = import(text).expect_err(message).to_string();
        assert!(error.contains(message) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn a_path_begins_as_its_variables_say() {
    let variables = "<elementProp name=\"TestPlan.user_defined_variables\"><collectionProp name=\"Arguments.arguments\">\
        <elementProp><stringProp name=\"Argument.name\">ROOT</stringProp><stringProp name=\"Argument.value\">/shop</stringProp></elementProp>\
        <elementProp><stringProp name=\"Argument.name\">NONE</stringProp><stringProp name=\"Argument.value\"></stringProp></elementProp>\
        <elementProp><stringProp name=\"Argument.name\">BASE</stringProp><stringProp name=\"Argument.value\">http://b:1</stringProp></elementProp>\
        </collectionProp></elementProp>";
    let sampler = |path: &str| {
        let domain = "<stringProp name=\"HTTPSampler.domain\">a</stringProp>";
        format!(
            "<HTTPSamplerProxy testname=\"r\">{domain}<stringProp name=\"HTTPSampler.path\">{path}</stringProp></HTTPSamplerProxy><hashTree/>"
        )
    };
    for (path, target) in [
        ("${ROOT}/items", "http://a{{ROOT}}/items"),
        ("${NONE}/items", "http://a{{NONE}}/items"),
        ("${NONE}items", "http://a/{{NONE}}items"),
        ("${BASE}/x", "{{BASE}}/x"),
        ("${__P(p,/x)}/y", "http://a{{p}}/y"),
        ("items", "http://a/items"),
        ("${unknown}/x", "http://a/{{unknown}}/x"),
    ] {
        let plan = format!(
            "<jmeterTestPlan><hashTree><TestPlan>{variables}</TestPlan><hashTree><ThreadGroup testname=\"g\"/><hashTree>{}</hashTree></hashTree></hashTree></jmeterTestPlan>",
            sampler(path)
        );
        let (file, _) = imported(&plan).remove(0);
        assert!(file.contains(&format!("GET {target}\n")), "{path}: {file}");
        assert_eq!(file.contains("# left out: path"), path.contains("unknown"), "{file}");
    }
}

#[test]
fn cookies_are_kept_only_by_a_manager() {
    let manager = "<CookieManager testname=\"c\"/><hashTree/>";
    let both = format!("{}{}", get("http://a/1", ""), get("http://a/2", ""));
    assert_eq!(plan(&both).0.matches("no-cookie-store: true\n").count(), 2);
    assert!(!plan(&format!("{manager}{both}")).0.contains("no-cookie-store"));
}

#[test]
fn an_authorization_manager_gives_credentials_to_the_urls_that_begin_with_its_own() {
    let manager = |mechanism: &str| {
        let property =
            |name: &str, value: &str| format!("<stringProp name=\"Authorization.{name}\">{value}</stringProp>");
        let properties = [
            property("url", "http://a:8080/shop"),
            property("username", "ann"),
            property("password", "pa55"),
            property("mechanism", mechanism),
        ];
        format!(
            "<AuthManager testname=\"m\"><collectionProp name=\"AuthManager.auth_list\"><elementProp name=\"\" elementType=\"Authorization\">{}</elementProp></collectionProp></AuthManager><hashTree/>",
            properties.concat()
        )
    };
    let requests = ["http://a:8080/shop/1", "http://a:8080/other", "http://b/shop"].map(|url| get(url, "")).concat();
    for mechanism in ["", "BASIC", "BASIC_DIGEST"] {
        let (file, summary) = plan(&(manager(mechanism) + &requests));
        let (first, others) = file.split_once("GET http://a:8080/other").expect("the requests keep their order");
        assert!(first.ends_with("[BasicAuth]\nann: {{password}}\n\n# name: r\n"), "{file}");
        assert!(!others.contains("[BasicAuth]"), "{file}");
        assert!(!file.contains("pa55") && !summary.contains("pa55"), "{file}{summary}");
    }
    let (file, summary) = plan(&(manager("KERBEROS") + &requests));
    assert!(!file.contains("[BasicAuth]"), "{file}");
    assert!(file.contains("# left out: authorization KERBEROS (") && !file.contains("pa55"), "{file}");
    assert!(summary.contains("left out: authorization, 3 times ("), "{summary}");
}
