//! JMeter as an oracle: a plan, and what is imported of it, send the same requests.

use crate::compare::{assert_same, compared};
use crate::echo::Echo;
use crate::newman::ORACLES;
use crate::walk;
use std::process::Command;
use torr_test_support::program::Running;

/// Fields that Torr adds to every request, and JMeter does not.
const OWN: &[&str] = &["accept"];

/// What is XML in a plan.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;").replace('\r', "&#xd;")
}

fn property(kind: &str, name: &str, value: &str) -> String {
    format!("<{kind} name=\"{name}\">{}</{kind}>", escaped(value))
}

/// A request of the plan: method, path, and arguments, of which one without a name is the body.
fn sampler(method: &str, path: &str, arguments: &[(&str, &str, bool)], more: &str) -> String {
    let is_raw = arguments.iter().any(|(name, ..)| name.is_empty());
    let argument = |(name, value, encode): &(&str, &str, bool)| {
        let name_of = if name.is_empty() { String::new() } else { property("stringProp", "Argument.name", name) };
        format!(
            "<elementProp name=\"{name}\" elementType=\"HTTPArgument\">{}{name_of}{}{}<boolProp name=\"HTTPArgument.use_equals\">true</boolProp></elementProp>",
            property("boolProp", "HTTPArgument.always_encode", &encode.to_string()),
            property("stringProp", "Argument.value", value),
            property("stringProp", "Argument.metadata", "="),
        )
    };
    let arguments: String = arguments.iter().map(argument).collect();
    format!(
        "<HTTPSamplerProxy guiclass=\"HttpTestSampleGui\" testclass=\"HTTPSamplerProxy\" testname=\"a\" enabled=\"true\">{}\
         <elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\">{arguments}</collectionProp></elementProp>\
         {}{}{}{}{}</HTTPSamplerProxy><hashTree>{more}</hashTree>",
        property("boolProp", "HTTPSampler.postBodyRaw", &is_raw.to_string()),
        property("stringProp", "HTTPSampler.domain", "${HOST}"),
        property("stringProp", "HTTPSampler.port", "${PORT}"),
        property("stringProp", "HTTPSampler.path", path),
        property("stringProp", "HTTPSampler.method", method),
        property("boolProp", "HTTPSampler.use_keepalive", "true"),
    )
}

fn headers(name: &str, value: &str) -> String {
    format!(
        "<HeaderManager guiclass=\"HeaderPanel\" testclass=\"HeaderManager\" testname=\"h\" enabled=\"true\"><collectionProp name=\"HeaderManager.headers\">\
         <elementProp name=\"\" elementType=\"Header\">{}{}</elementProp></collectionProp></HeaderManager><hashTree/>",
        property("stringProp", "Header.name", name),
        property("stringProp", "Header.value", value),
    )
}

fn plan(samplers: &str, host: &str, port: &str) -> String {
    let variable = |name: &str, value: &str| {
        format!(
            "<elementProp name=\"{name}\" elementType=\"Argument\">{}{}{}</elementProp>",
            property("stringProp", "Argument.name", name),
            property("stringProp", "Argument.value", value),
            property("stringProp", "Argument.metadata", "="),
        )
    };
    let base = format!("http://{host}:{port}/whole");
    let variables: String = [("HOST", host), ("PORT", port), ("ROOT", "/shop"), ("NONE", ""), ("BASE", &base)]
        .iter()
        .map(|(name, value)| variable(name, value))
        .collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\"><hashTree>\
         <TestPlan guiclass=\"TestPlanGui\" testclass=\"TestPlan\" testname=\"p\" enabled=\"true\"><elementProp name=\"TestPlan.user_defined_variables\" \
         elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\">{variables}</collectionProp></elementProp></TestPlan><hashTree>\
         <ThreadGroup guiclass=\"ThreadGroupGui\" testclass=\"ThreadGroup\" testname=\"g\" enabled=\"true\"><elementProp name=\"ThreadGroup.main_controller\" \
         elementType=\"LoopController\" guiclass=\"LoopControlPanel\" testclass=\"LoopController\"><boolProp name=\"LoopController.continue_forever\">false</boolProp>\
         <stringProp name=\"LoopController.loops\">1</stringProp></elementProp><stringProp name=\"ThreadGroup.num_threads\">1</stringProp>\
         <stringProp name=\"ThreadGroup.ramp_time\">1</stringProp></ThreadGroup><hashTree>{samplers}</hashTree></hashTree></hashTree></jmeterTestPlan>"
    )
}

fn samplers() -> String {
    let json = headers("Content-Type", "application/json");
    [
        sampler("GET", "/a", &[], ""),
        sampler("GET", "${ROOT}/items", &[], ""),
        sampler("GET", "${NONE}/items", &[], ""),
        sampler("GET", "${NONE}items", &[], ""),
        sampler("GET", "${BASE}/x", &[], ""),
        sampler("GET", "${__P(none,/property)}/x", &[], ""),
        sampler("GET", "items", &[], ""),
        sampler("GET", "/q", &[("a b", "c d&e", true), ("f", "g%20h", false)], ""),
        sampler("GET", "/find", &[("", "words", false)], ""),
        sampler("GET", "/find", &[("", "{\"a\": 1}", false)], &json),
        sampler("POST", "/form", &[("a", "b c+d", true), ("e", "f%2Bg", false)], ""),
        sampler("POST", "/raw", &[("", "{\r\n \"a\": 1\r\n}", false)], &json),
        sampler("POST", "/raw", &[("", "{\"a\": 1}", false)], ""),
        sampler("POST", "/raw", &[("", "words", false)], ""),
        sampler("PUT", "/raw", &[("", "words", false)], ""),
        sampler("PUT", "/raw", &[("", "{\"a\": 1}", false)], ""),
        sampler("PATCH", "/form", &[("a", "b", true)], ""),
        sampler("DELETE", "/raw", &[("", "{\"a\": 1}", false)], &json),
        sampler("DELETE", "/form", &[("a", "b", true)], ""),
        sampler("HEAD", "/h", &[], ""),
        sampler("HEAD", "/h", &[("a", "b", true)], ""),
        sampler("OPTIONS", "/o", &[("a", "b", true)], ""),
    ]
    .concat()
}

#[test]
#[ignore = "JMeter is installed by ./test full"]
fn what_is_imported_sends_what_jmeter_sends() {
    let home = format!("{}/jmeter", std::env::var(ORACLES).expect("./test full sets it"));
    let echo = Echo::start();
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    let (host, port) = echo.origin.trim_start_matches("http://").split_once(':').expect("it has a port");
    let cookies = "<CookieManager guiclass=\"CookiePanel\" testclass=\"CookieManager\" testname=\"c\" enabled=\"true\"><collectionProp name=\"CookieManager.cookies\"/><boolProp name=\"CookieManager.clearEachIteration\">false</boolProp></CookieManager><hashTree/>";
    for (samplers, what) in [(samplers(), "without cookies"), (cookies.to_owned() + &samplers(), "with cookies")] {
        std::fs::write(folder.join("plan.jmx"), plan(&samplers, host, port)).expect("there is room");
        let mut java = Command::new("java");
        java.args([
            "-Djava.awt.headless=true",
            "-Djava.util.prefs.userRoot=.",
            &format!("-Djmeter.home={home}"),
            "-cp",
            &format!("{home}/lib/*:{home}/lib/ext/*"),
        ]);
        java.args(["org.apache.jmeter.NewDriver", "-n", "-t", "plan.jmx", "-j", "jmeter.log"]).current_dir(folder);
        let ended = Running::start(java).wait();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let expected = compared(echo.take(), OWN);
        assert!(!expected.is_empty(), "{ended:?}");
        let imported = walk::import(folder, &["jmeter", "plan.jmx"]);
        assert_eq!(imported.code, Some(0), "{imported:?}");
        let sent = walk::once(folder, &echo, &[], OWN);
        println!("{what}");
        assert_same(&sent, &expected);
    }
}
