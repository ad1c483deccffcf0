//! Descriptions of versions 3.0 and 3.1, and the hurl files that become of them.

use super::{Options, import, import_with};
use crate::made::checked;
use torr_session::hurl::parse;

const ORDERS: &str = include_str!("../../samples/orders-3.0.yaml");
const NOTES: &str = include_str!("../../samples/notes-3.1.json");

fn imported(text: &str, options: &Options) -> (String, String) {
    checked(&import(text, options).expect("it is a description"))
}

/// Returns the text of the entry that begins with a line.
fn entry<'t>(file: &'t str, first: &str) -> &'t str {
    let start = file.find(first).unwrap_or_else(|| panic!("no {first} in {file}"));
    file[start..].split("\n\n").next().unwrap_or_default()
}

#[test]
fn each_operation_of_3_0_is_an_entry_in_the_order_of_the_file() {
    let (file, summary) = imported(ORDERS, &Options::default());
    let names: Vec<_> = file.lines().filter_map(|line| line.strip_prefix("# name: ")).collect();
    let expected = ["createOrder", "All orders", "getOrder", "deleteOrder", "putNote", "login", "upload", "raw"];
    assert_eq!(names, expected);
    assert!(file.contains("[Options]\nvariable: base_url=\"https://eu.shop.example/v1\"\n"), "{file}");
    let create = entry(&file, "POST {{base_url}}/orders\n");
    let fields = "X-Tenant: acme\nAuthorization: Bearer {{bearer}}\nAccept: application/json\n";
    assert!(create.contains(fields) && create.ends_with("HTTP 201"), "{create}");
    // Two lines of merged parts, the card by its discriminator, no circle of customers, nothing that only the service writes.
    assert_eq!(create.matches("\"sku\": \"textxx\",\n      \"count\": 1").count(), 2, "{create}");
    assert!(
        create.contains("\"kind\": \"card\"") && !create.contains("referrer") && !create.contains("\"id\""),
        "{create}"
    );
    for line in [
        "8 requests",
        "left out: callbacks, 1 time (requests that the service sends)",
        "left out: links, 1 time",
        "left out: content type, 1 time",
        "left out: content of type application/octet-stream, 1 time",
        "left out: optional query parameter, 1 time",
        "left out: servers, 1 time",
        "left out: file of a form, 1 time",
    ] {
        assert!(summary.lines().any(|said| said.starts_with(line)), "{line}: {summary}");
    }
}

#[test]
fn parameters_are_written_in_their_styles() {
    let (file, _) = imported(ORDERS, &Options::default());
    let list = entry(&file, "GET {{base_url}}/orders?fields=id,total\n");
    let query = "[Query]\nstate: open\nids: 3\nids: 4\nfilter[year]: 2026\nfilter[kind]: a b\nlimit: 20\n";
    assert!(list.contains(query), "{list}");
    assert!(
        file.contains("# left out: optional query parameter cursor (no example and no default)\n# name: All orders")
    );
    let note = entry(&file, "PUT {{base_url}}/orders/a%2Fb/notes/7\n");
    assert!(note.contains("Content-Type: text/plain\n") && note.contains("[Cookies]\ntheme: dark\n"), "{note}");
    // Braces of an example are no placeholder.
    assert!(note.contains("hello \\u{7b}\\u{7b}world}}"), "{note}");
}

#[test]
fn credentials_are_variables_and_stand_nowhere() {
    let (file, summary) = imported(ORDERS, &Options::default());
    assert!(!file.contains("geheim") && !summary.contains("geheim"), "{file}{summary}");
    assert!(
        entry(&file, "GET {{base_url}}/orders/6")
            .contains("[Query]\napi_key: {{key}}\nHTTP *\n[Asserts]\nstatus >= 200\n")
    );
    assert!(entry(&file, "DELETE ").contains("[BasicAuth]\n{{basic_user}}: {{basic_password}}\nHTTP 204"));
    let login = entry(&file, "POST {{base_url}}/login");
    assert!(!login.contains("Authorization") && login.contains("password: {{password_2}}"), "{login}");
    assert!(
        summary.contains("secret: security scheme bearer is the variable 'bearer', read from HURL_VARIABLE_bearer")
    );
}

#[test]
fn credentials_in_a_url_become_variables() {
    let description = "openapi: 3.0.3\nservers: [{url: 'https://ann:pa55@a/v1'}]\npaths:\n  /x:\n    \
        get: {parameters: [{name: token, in: query, required: true, allowReserved: true, schema: {}, example: s3cret}], responses: {}}\n    \
        put: {servers: [{url: 'https://bob:0ther@b'}], responses: {}}\n";
    let (file, summary) = imported(description, &Options::default());
    let expected = "GET {{base_url}}/x?token={{token}}\n[Options]\nvariable: base_url=\"https://ann:{{password}}@a/v1\"\n\n\
        PUT https://bob:{{password_2}}@b/x\n";
    assert_eq!(file, expected);
    for secret in ["pa55", "s3cret", "0ther"] {
        assert!(!summary.contains(secret), "{secret}: {summary}");
    }
}

#[test]
fn version_3_1_has_types_in_lists_examples_in_lists_and_webhooks() {
    let (file, summary) = imported(NOTES, &Options::default());
    let add = entry(&file, "POST {{base_url}}/notes\n");
    let body = "{\n  \"text\": \"buy \\u007b\\u007bmilk}}\",\n  \"weight\": 2.5,\n  \"tags\": {\n    \"key\": -3\n  }\n}\nHTTP 201";
    assert!(add.contains("Content-Type: application/vnd.notes+json\n") && add.ends_with(body), "{add}");
    assert!(
        file.contains("variable: base_url=\"http://localhost/api\"\n") && summary.contains("set another with --server")
    );
    assert!(entry(&file, "GET {{base_url}}/notes\n").contains("since: 2026-01-31\nflags: a\nflags: true\n"), "{file}");
    assert!(entry(&file, "POST https://login.example/token").contains("Authorization: Bearer {{oauth}}"), "{file}");
    assert!(file.contains("# left out: security scheme mtls (use the option 'cert' for the certificate)\n"), "{file}");
    assert!(
        summary.contains("left out: webhooks, 1 time") && summary.contains("left out: content, 1 time"),
        "{summary}"
    );
}

#[test]
fn path_parameters_without_a_value_have_one_that_fits_and_is_named() {
    let parameters = [
        ("petId", "type: integer", "/1"),
        ("order_id", "type: string", "/1"),
        ("key", "type: string, format: uuid", "/6f1b2c9a-4f6d-4c55-9a2e-3d1f7b8c0e12"),
        ("day", "type: string, format: date", "/2026-01-31"),
        ("userName", "type: string", "/userName"),
        ("code", "type: string, minLength: 6, maxLength: 6", "/codexx"),
        ("state", "type: string, enum: [open, closed]", "/open"),
        ("page", "type: integer, minimum: 5, default: 7", "/7"),
    ];
    for (name, schema, segment) in parameters {
        let text = format!(
            "openapi: 3.1.0\nservers: [{{url: http://a}}]\npaths:\n  /x/{{{name}}}:\n    get: {{parameters: [{{name: {name}, in: \
             path, required: true, schema: {{{schema}}}}}], responses: {{}}}}\n"
        );
        let (file, summary) = imported(&text, &Options::default());
        assert!(file.contains(&format!("GET {{{{base_url}}}}/x{segment}\n")), "{name}: {file}");
        let said = format!("path parameter '{name}' has no example: replace the invented value '{}'", &segment[1..]);
        let is_given = ["state", "page"].contains(&name);
        assert_eq!(summary.contains(&said), !is_given, "{name}: {summary}");
    }
}

#[test]
fn operations_are_chosen_by_tag_path_and_method() {
    let names = |options: Options| {
        let (file, _) = imported(ORDERS, &options);
        file.lines().filter_map(|line| line.strip_prefix("# name: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(names(Options { tags: vec!["files".to_owned()], ..Options::default() }), ["upload", "raw"]);
    let below = Options { paths: vec!["/orders/{id}".to_owned()], ..Options::default() };
    assert_eq!(names(below), ["getOrder", "deleteOrder", "putNote"]);
    let posts = Options { methods: vec!["POST".to_owned()], paths: vec!["/login".to_owned()], ..Options::default() };
    assert_eq!(names(posts.clone()), ["login"]);
    let (file, summary) = imported(ORDERS, &Options { server: Some("http://127.0.0.1:1/x/".to_owned()), ..posts });
    assert!(file.contains("base_url=\"http://127.0.0.1:1/x\""), "{file}");
    assert!(summary.contains("left out: operations, 7 times (not chosen by --tag, --path or --method)"), "{summary}");
}

#[test]
fn schemas_without_an_end_are_bounded() {
    let wide = format!(
        "openapi: 3.0.0\npaths: {{/a: {{post: {{requestBody: {{content: {{application/json: {{schema: {{$ref: '#/s/x0'}}}}}}}}}}}}}}\ns:\n{}",
        (0..100).map(|n| format!("  x{n}: {{properties: {{a: {{$ref: '#/s/x{m}'}}, b: {{$ref: '#/s/x{m}'}}, c: {{type: array, minItems: 1e9, items: {{$ref: '#/s/x{m}'}}}}}}}}\n", m = n + 1)).collect::<String>()
    );
    let (file, _) = imported(&wide, &Options::default());
    assert!(file.len() < 4_000_000, "{}", file.len());
}

#[test]
fn what_is_no_description_is_refused_in_one_line() {
    for (text, message) in [
        ("", "'openapi' is missing"),
        ("swagger: '1.2'\npaths: {}", "OpenAPI 1.2 is not supported: use 2.0, 3.0, 3.1 or 3.2"),
        (
            "openapi: 3.1.0\npaths: {/a: {$ref: a.yaml}}",
            "no operation in the description: 'a.yaml#': other files are not available here",
        ),
        ("swagger: '2.0'\npaths: {}", "'paths' is empty"),
        ("openapi: 4.0.0", "OpenAPI 4.0.0 is not supported: use 2.0, 3.0, 3.1 or 3.2"),
        ("openapi: 3.0.0\npaths: {}", "no operation"),
        ("{\"openapi\": ", "not a valid OpenAPI description: EOF"),
        ("a: b: c", "not a valid OpenAPI description: "),
    ] {
        let error = import(text, &Options::default()).expect_err(text).to_string();
        assert!(error.contains(message) && !error.contains('\n'), "{text}: {error}");
    }
    let options = Options { tags: vec!["none".to_owned()], ..Options::default() };
    assert!(import(ORDERS, &options).expect_err("nothing is chosen").to_string().contains("--tag"));
    let options = Options { server: Some("shop".to_owned()), ..Options::default() };
    assert!(
        import(ORDERS, &options).expect_err("it is no URL").to_string().contains("--server 'shop' must begin with")
    );
}

const SWAGGER: &str = r##"
swagger: 2.0
host: api.shop.example
basePath: /v1
schemes: [http, https]
consumes: [application/json]
produces: [application/json]
securityDefinitions: {login: {type: basic}, key: {type: apiKey, in: header, name: X-Key}}
security: [{login: []}]
parameters:
  Limit: {name: limit, in: query, type: integer, default: 20}
responses: {None: {description: none}}
definitions:
  Order: {type: object, properties: {id: {type: integer, readOnly: true}, sku: {type: string, example: S-1}}}
paths:
  /orders:
    parameters: [{$ref: "#/parameters/Limit"}]
    get:
      operationId: list
      parameters: [{name: ids, in: query, type: array, items: {type: integer}, x-example: [3, 4], collectionFormat: pipes}]
      responses: {200: {description: ok, schema: {type: array, items: {$ref: "#/definitions/Order"}}}}
    post:
      operationId: create
      security: [{key: []}]
      parameters: [{name: limit, in: query, type: integer, default: 5}, {name: order, in: body, schema: {$ref: "#/definitions/Order"}}]
      responses: {201: {$ref: "#/responses/None"}}
  /login:
    post:
      operationId: login
      consumes: [application/x-www-form-urlencoded]
      parameters: [{name: user, in: formData, type: string, x-example: ann}, {name: password, in: formData, type: string, default: x}]
      responses: {204: {description: none}}
  /files/{name}:
    put:
      operationId: upload
      parameters: [{name: name, in: path, required: true, type: string}, {name: file, in: formData, type: file}]
      responses: {default: {description: all}}
"##;

#[test]
fn version_2_is_read_as_well() {
    let (file, summary) = imported(SWAGGER, &Options::default());
    let expected = "# name: list\nGET {{base_url}}/orders\nAccept: application/json\n[Options]\n\
        variable: base_url=\"https://api.shop.example/v1\"\n[Query]\nlimit: 20\nids: 3|4\n[BasicAuth]\n\
        {{login_user}}: {{login_password}}\nHTTP 200\n\n\
        # name: create\nPOST {{base_url}}/orders\nX-Key: {{key}}\n[Query]\nlimit: 5\n{\n  \"sku\": \"S-1\"\n}\nHTTP 201\n\n\
        # name: login\nPOST {{base_url}}/login\n[Form]\nuser: ann\npassword: {{password}}\n[BasicAuth]\n\
        {{login_user}}: {{login_password}}\nHTTP 204\n\n";
    assert!(file.starts_with(expected), "{file}");
    let upload = entry(&file, "PUT {{base_url}}/files/name\n");
    assert!(upload.contains("[Multipart]\nfile: text"), "{upload}");
    assert!(summary.contains("left out: file of a form, 1 time"), "{summary}");
}

#[test]
fn references_to_other_files_are_followed() {
    let root = "openapi: 3.2.0\nservers: [{url: http://a}]\npaths:\n  /pets: {$ref: 'paths/pets.yaml'}\n  \
        /own: {get: {parameters: [{$ref: 'nowhere.yaml#/X'}, {$ref: 'https://b/c.yaml'}, {$ref: '#/x'}, {$ref: '/etc/passwd'}], responses: {}}}\n";
    let read = |name: &str| {
        match name {
        "paths/pets.yaml" => Ok("post: {operationId: add, requestBody: {$ref: '../schemas.json#/Body'}, responses: {}}\n\
            additionalOperations: {COPY: {operationId: copy, responses: {}}}"
            .to_owned()),
        "schemas.json" => Ok(r##"{"Body": {"content": {"application/json": {"schema": {"$ref": "#/Pet"}}}},
            "Pet": {"type": "object", "properties": {"name": {"example": "Rex"}, "friend": {"$ref": "schemas.json#/Pet"}}}}"##
            .to_owned()),
        other => Err(format!("cannot read '{other}'")),
    }
    };
    let draft = import_with(root, &Options::default(), &read).expect("it is a description");
    let file = draft.text();
    parse(&file).unwrap_or_else(|error| panic!("{error}\n{file}"));
    let add = entry(&file, "POST {{base_url}}/pets\n");
    assert!(add.contains("{\n  \"name\": \"Rex\"\n}"), "{add}");
    assert!(file.contains("# name: copy\nCOPY {{base_url}}/pets\n"), "{file}");
    for said in [
        "# left out: reference nowhere.yaml#/X (cannot read 'nowhere.yaml')",
        "# left out: reference https://b/c.yaml (other servers are not contacted)",
        "# left out: reference #/x (no such target)",
        "# left out: reference /etc/passwd# (the path must be relative)",
    ] {
        assert!(file.lines().any(|line| line == said), "{said}: {file}");
    }
}

#[test]
fn parameters_keep_their_styles_and_their_reserved_characters() {
    let parameter = |name: &str, more: &str, value: &str| {
        let location = if name == "pt" { "path" } else { "query" };
        format!("{{name: {name}, in: {location}, required: true, {more}schema: {{}}, example: {value}}}")
    };
    for (path, more, value, target) in [
        ("/m/{pt}", "style: matrix, explode: true, ", "{x: 1, y: 2}", "/m/;x=1;y=2"),
        ("/m/{pt}", "style: matrix, ", "{x: 1, y: 2}", "/m/;pt=x,1,y,2"),
        ("/m/{pt}", "style: matrix, explode: true, ", "[a, 'b/c']", "/m/;pt=a;pt=b%2Fc"),
        ("/m/{pt}", "style: matrix, ", "[a, b]", "/m/;pt=a,b"),
        ("/m/{pt}", "style: matrix, ", "blue", "/m/;pt=blue"),
        ("/m/{pt}", "style: matrix, ", "''", "/m/;pt"),
        ("/l/{pt}", "style: label, explode: true, ", "[a, b]", "/l/.a.b"),
        ("/l/{pt}", "style: label, ", "[a, b]", "/l/.a,b"),
        ("/l/{pt}", "style: label, explode: true, ", "{x: 1, y: 2}", "/l/.x=1.y=2"),
        ("/l/{pt}", "style: label, ", "{x: 1, y: 2}", "/l/.x,1,y,2"),
        ("/s/{pt}", "", "{x: 1, y: 2}", "/s/x,1,y,2"),
        ("/s/{pt}", "explode: true, ", "{x: 1, y: 'a,b'}", "/s/x=1,y=a%2Cb"),
        ("/s/{pt}", "", "['a b', c]", "/s/a%20b,c"),
        ("/q", "allowReserved: true, ", "'a/b:c#d e'", "/q?r=a/b:c%23d%20e"),
        ("/q", "explode: false, ", "[a, 'b,c']", "/q?r=a,b%2Cc"),
        ("/q", "explode: false, ", "{x: 1, y: 2}", "/q?r=x,1,y,2"),
    ] {
        let of = parameter(if path == "/q" { "r" } else { "pt" }, more, value);
        let root =
            format!("openapi: 3.0.3\npaths:\n  {path}:\n    get:\n      parameters: [{of}]\n      responses: {{}}\n");
        let (file, _) = imported(&root, &Options::default());
        assert!(file.contains(&format!("GET {{{{base_url}}}}{target}\n")), "{target}: {file}");
    }
}

#[test]
fn an_operation_may_stand_in_another_file_and_files_are_limited_by_their_bytes() {
    let read = |name: &str| {
        match name {
        "put.yaml" => Ok("parameters: [{name: shelf, in: path, required: true, schema: {type: integer}}]\nrequestBody: {content: \
             {application/json: {schema: {type: object, properties: {width: {type: integer, example: 80}}}}}}\nresponses: {'204': {description: d}}"
            .to_owned()),
        "large.yaml" => Ok(" ".repeat(65 * 1024 * 1024)),
        name if name.starts_with('p') => Ok("name: k\nin: path\nrequired: true\nschema: {type: integer}\n".to_owned()),
        other => Err(format!("cannot read '{other}'")),
    }
    };
    let mut root =
        "openapi: 3.0.3\npaths:\n  /shelves/{shelf}:\n    put: {$ref: put.yaml}\n    get: {$ref: gone.yaml}\n"
            .to_owned();
    for at in 0..600 {
        root.push_str(&format!("  /t{at}/{{k}}:\n    get: {{parameters: [{{$ref: p{at}.yaml}}], responses: {{}}}}\n"));
    }
    let draft = import_with(&root, &Options::default(), &read).expect("it is a description");
    let (file, summary) = (draft.text(), draft.summary());
    let put = entry(&file, "PUT {{base_url}}/shelves/1\n");
    assert!(put.contains("\"width\": 80") && put.contains("HTTP 204"), "{put}");
    assert!(!file.contains("GET {{base_url}}/shelves"), "{file}");
    let line = "left out: reference, 1 time (cannot read 'gone.yaml')";
    assert!(summary.lines().any(|said| said == line), "{summary}");
    assert_eq!(file.matches("/{k}").count(), 0, "every parameter has a value");
    let large = "openapi: 3.0.3\npaths:\n  /a: {get: {responses: {}}, put: {$ref: large.yaml}}\n";
    let draft = import_with(large, &Options::default(), &read).expect("it is a description");
    assert!(draft.summary().contains("the files are larger than 64 MiB in total"), "{}", draft.summary());
}
