//! HttpArena's validation of each profile that the application under `examples/httparena` enters, and of its folder.

mod api;
mod application;
mod baseline;
mod crud;
mod curl;
mod data;
mod database;
mod files;
mod folder;
mod http2;
mod json;
mod start;
mod upload;
mod websocket;

/// Makes a test of each profile's check, and the list of all profiles that are checked.
macro_rules! profiles {
    ($($profile:literal: $name:ident = $check:path,)*) => {
        /// The profiles with a check.
        const CHECKED: &[&str] = &[$($profile),*];

        $(#[test]
        fn $name() {
            $check();
        })*
    };
}

profiles! {
    "baseline": baseline = baseline::check,
    "pipelined": pipelined = baseline::pipelined,
    "limited-conn": limited_conn = baseline::limited,
    "json": json = json::plain,
    "json-comp": json_comp = json::compressed,
    "json-tls": json_tls = json::over_tls,
    "upload": upload = upload::check,
    "static": static_files = files::check,
    "async-db": async_db = database::check,
    "crud": crud = crud::check,
    "api-4": api_4 = api::check,
    "api-16": api_16 = api::check,
    "baseline-h2": baseline_h2 = http2::baseline_tls,
    "static-h2": static_h2 = http2::files,
    "baseline-h2c": baseline_h2c = http2::baseline_clear,
    "json-h2c": json_h2c = http2::json,
    "echo-ws": echo_ws = websocket::check,
}
