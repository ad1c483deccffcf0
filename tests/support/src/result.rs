//! Reading a result, and what must hold for each.

use serde_json::Value;

/// A number in a result.
pub fn count(result: &Value, pointer: &str) -> u64 {
    result.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {pointer} in {result}"))
}

/// Checks that every request begun has one end, and that the histogram holds what it should.
pub fn adds_up(result: &Value) {
    let n = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("no number: {result}"));
    let errors = &result["errors"];
    let failed: u64 = ["connect", "tls", "timeout", "read", "write", "protocol", "ports", "abandoned"]
        .iter()
        .map(|kind| n(&errors[kind]))
        .sum();
    assert_eq!(n(&result["asked"]), n(&result["requests"]) + failed + n(&result["unfinished"]), "{result}");
    let causes: u64 = result["causes"].as_array().into_iter().flatten().map(|cause| count(cause, "/count")).sum();
    // Of a redirect that was not followed there is a response, and a cause.
    let failed = failed + count(result, "/errors/redirect");
    assert_eq!(causes, failed, "every failure has its cause: {result}");
    let by_status: u64 = result["status"].as_object().expect("it is a map").values().map(n).sum();
    assert_eq!(by_status, n(&result["requests"]), "{result}");
    if let Some(calls) = result.get("grpc") {
        let by_status: u64 = calls.as_object().expect("it is a map").values().map(n).sum();
        let with_200 = count(result, "/status/200");
        match result["plan"]["protocol"] == "grpc" {
            true => assert_eq!(by_status, with_200, "a status of gRPC comes with 200: {result}"),
            // Sessions have other requests too, and name the calls that failed.
            false => assert!(by_status <= with_200, "a status of gRPC comes with 200: {result}"),
        }
    }
    let in_series: u64 =
        result["series"].as_array().expect("it is a list").iter().map(|point| n(&point["requests"])).sum();
    let carried = result.pointer("/warmup/carried").map_or(0, n);
    assert_eq!(in_series, n(&result["requests"]) + carried, "{result}");
    let times = result["error_times"].as_array().into_iter().flatten();
    let timed: u64 = times.map(|span| count(span, "/count")).sum();
    assert_eq!(timed, failed + count(result, "/errors/status"), "every error has its time: {result}");
}

/// Takes from a result (`torr.run/1`) what was found of its validity, for tests in which a disturbed run does as well as any.
pub fn forget_validity(result: &mut Value) {
    result.as_object_mut().expect("a result is an object").remove("validity").expect("every result has its validity");
}
