//! The cross product: values of every kind, under every filter and every predicate, negated too.

/// A query for a value of each kind.
const VALUES: &[&str] = &[
    "status",
    "version",
    "redirects",
    "bytes",
    "header \"X-Twice\"",
    "header \"X-None\"",
    "cookie \"id[Secure]\"",
    "cookie \"id[Expires]\"",
    "xpath \"string(//a)\"",
    "jsonpath \"$.name\"",
    "jsonpath \"$.number\"",
    "jsonpath \"$.negative\"",
    "jsonpath \"$.whole\"",
    "jsonpath \"$.big\"",
    "jsonpath \"$.yes\"",
    "jsonpath \"$.null\"",
    "jsonpath \"$.list\"",
    "jsonpath \"$.words\"",
    "jsonpath \"$.empty\"",
    "jsonpath \"$.object\"",
    "jsonpath \"$.nobody\"",
    "jsonpath \"$.digits\"",
    "jsonpath \"$.blank\"",
    "jsonpath \"$.json\"",
    "jsonpath \"$.markup\"",
    "jsonpath \"$.encoded\"",
    "jsonpath \"$.link\"",
    "jsonpath \"$.when\"",
    "jsonpath \"$.uuid\"",
    "jsonpath \"$.ipv4\"",
    "jsonpath \"$.ipv6\"",
    "jsonpath \"$.missing\"",
    "jsonpath \"$.markup\" xpath \"//a\"",
    "jsonpath \"$.markup\" xpath \"//h1\"",
    "variable \"seven\"",
    "variable \"name\"",
    "variable \"truth\"",
    "variable \"unset\"",
];

const FILTERS: &[&str] = &[
    "base64Decode",
    "base64Encode",
    "base64UrlSafeDecode",
    "base64UrlSafeEncode",
    "count",
    "dateFormat \"%Y\"",
    "daysAfterNow",
    "daysBeforeNow",
    "decode \"utf-8\"",
    "first",
    "format \"%Y\"",
    "htmlEscape",
    "htmlUnescape",
    "jsonpath \"$.a\"",
    "last",
    "location",
    "nth 0",
    "nth -2",
    "regex \"(.)\"",
    "regex /nothing like it(.)/",
    "replace \"n\" \"m\"",
    "replaceRegex \"n+\" \"m\"",
    "split \",\"",
    "toDate \"%+\"",
    "toFloat",
    "toHex",
    "toInt",
    "toString",
    "urlDecode",
    "urlEncode",
    "urlQueryParam \"q\"",
    "urlQueryParam \"none\"",
    "utf8Decode",
    "utf8Encode",
    "xpath \"string(//a)\"",
    "xpath \"//a\"",
];

const PREDICATES: &[&str] = &[
    "== \"Ann\"",
    "== 7",
    "== 7.0",
    "== 18446744073709551615",
    "== true",
    "== null",
    "== hex,7b;",
    "== {{seven}}",
    "!= \"Ann\"",
    "!= 7",
    "> 6",
    "> \"A\"",
    ">= 7",
    ">= {{seven}}",
    "< 8.5",
    "< \"z\"",
    "<= 18446744073709551615",
    "<= \"Ann\"",
    "startsWith \"A\"",
    "startsWith hex,7b;",
    "endsWith \"n\"",
    "endsWith hex,7d0a;",
    "contains \"n\"",
    "contains 1",
    "contains hex,22;",
    "includes \"a\"",
    "includes 2",
    "matches /n/",
    "matches \"^[0-9]\"",
    "exists",
    "isBoolean",
    "isCollection",
    "isDate",
    "isEmpty",
    "isFloat",
    "isInteger",
    "isIpv4",
    "isIpv6",
    "isIsoDate",
    "isList",
    "isNumber",
    "isObject",
    "isString",
    "isUuid",
];

/// Asserts in which hurl compares numbers as text, from the left, since one of them is beyond 64 bits.
const OF_LARGE: &[(&str, &[&str])] = &[
    ("jsonpath \"$.big\"", &["> 6", ">= 7", ">= {{seven}}", "< 8.5"]),
    ("status", &["<= 18446744073709551615"]),
    ("jsonpath \"$.number\"", &["<= 18446744073709551615"]),
    ("jsonpath \"$.whole\"", &["<= 18446744073709551615"]),
    ("variable \"seven\"", &["<= 18446744073709551615"]),
];

/// Returns a file for each value, with an assert for each predicate and for each filter.
pub fn files() -> impl Iterator<Item = (String, String)> {
    VALUES.iter().enumerate().map(|(number, value)| (format!("cross{number:02}.hurl"), file(value)))
}

fn file(value: &str) -> String {
    let mut asserts = Vec::new();
    for predicate in PREDICATES {
        let differs = OF_LARGE.iter().any(|(of, these)| *of == value && these.contains(predicate));
        let comment = if differs { " # differs: hurl compares large numbers as text" } else { "" };
        asserts.push(format!("{value} {predicate}{comment}"));
        asserts.push(format!("{value} not {predicate}{comment}"));
    }
    for filter in FILTERS {
        for predicate in ["exists", "not exists", "isString", "isEmpty", "== \"Ann\"", "> 6"] {
            asserts.push(format!("{value} {filter} {predicate}"));
        }
    }
    format!("GET http://{{{{host}}}}/doc\nHTTP 200\n[Asserts]\n{}\n", asserts.join("\n"))
}
