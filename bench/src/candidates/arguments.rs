//! The load generators' command lines.

use std::fs;
use std::io;

use super::load_settings::LoadSettings;
use crate::scenario::{PIPELINE_DEPTH, STREAMS, Style};

/// The words of a command line's tail; none of them may hold a space.
pub fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

impl LoadSettings<'_> {
    fn url(&self) -> String {
        let scheme = if self.style.tls() { "https" } else { "http" };
        format!("{scheme}://127.0.0.1:{}{}", self.port, self.path)
    }

    /// The option, where each request has a connection of its own.
    fn if_close(&self, option: &'static str) -> &'static str {
        if self.style.close() { option } else { "" }
    }
}

/// The floor's client.
pub fn floor_client(load: &LoadSettings<'_>) -> io::Result<Vec<String>> {
    let close = load.if_close("close");
    Ok(words(&format!("floor-client {} {} {} {close} --path {}", load.port, load.connections, load.seconds, load.path)))
}

/// `torr`, one thread.
pub fn torr(load: &LoadSettings<'_>) -> io::Result<Vec<String>> {
    let how = match load.style {
        Style::TlsHandshakes => "--tls-resumption full".into(),
        Style::Http2 => format!("--http2 --streams {STREAMS}"),
        Style::H2c => format!("--http2-prior-knowledge --streams {STREAMS}"),
        Style::Pipelined => format!("--pipeline {PIPELINE_DEPTH}"),
        style if style.open_loop() => format!("--rate {}", load.rate),
        _ => String::new(),
    };
    let insecure = if load.style.tls() { "--insecure" } else { "" }; // as the others, of which none checks the certificate
    let close = load.if_close("--no-keepalive");
    Ok(words(&format!(
        "-t 1 -c {} -d {}s {close} {insecure} {how} --json - {}",
        load.connections,
        load.seconds,
        load.url()
    )))
}

/// `torr` with a single request, whose response must have status 200 and this page: it fails otherwise.
pub fn torr_probe(load: &LoadSettings<'_>, page: &str) -> io::Result<Vec<String>> {
    let mut arguments = torr(&LoadSettings { connections: 1, ..*load })?;
    let length = arguments.iter().position(|word| word == "-d").expect("it has a duration");
    arguments
        .splice(length..length + 2, ["-n", "1", "--expect-status", "200", "--expect-body", page].map(str::to_owned));
    Ok(arguments)
}

/// `torr` as it is in a closed loop, for the open one to be compared with.
pub fn torr_closed_loop(load: &LoadSettings<'_>) -> io::Result<Vec<String>> {
    torr(&LoadSettings { style: Style::KeepAlive, ..*load })
}

/// `torr`'s open loop without the kernel's time stamps and with each request at its own moment.
pub fn torr_user_clock(load: &LoadSettings<'_>) -> io::Result<Vec<String>> {
    let mut arguments = torr(load)?;
    arguments.splice(0..0, ["--timestamps", "user", "--coalesce", "0s"].map(str::to_owned));
    Ok(arguments)
}

/// wrk. It reads one script, which pipelines.
pub fn wrk(load: &LoadSettings<'_>) -> io::Result<Vec<String>> {
    let mut arguments = words(&format!("-t1 -c{} -d{}s {}", load.connections, load.seconds, load.url()));
    if load.style.close() {
        arguments.extend(["-H".into(), "Connection: close".into()]);
    }
    if load.style == Style::Pipelined {
        let script = load.folder.join("pipeline.lua");
        fs::write(&script, pipeline_script())?;
        arguments.extend(["-s".into(), script.to_string_lossy().into_owned()]);
    }
    Ok(arguments)
}

/// Makes wrk send its request many times at once.
fn pipeline_script() -> String {
    format!(
        "local batch\n\
         function init(args)\n  batch = string.rep(wrk.format(), {PIPELINE_DEPTH})\nend\n\
         function request()\n  return batch\nend\n"
    )
}

/// ab.
pub fn ab(load: &LoadSettings<'_>) -> io::Result<Vec<String>> {
    // -t alone would also stop at 50,000 requests, so -n comes after it; ab sets memory aside for as many.
    let (keep, most) = (if load.style.close() { "" } else { "-k" }, 500_000.0 * load.seconds);
    Ok(words(&format!("-q -r {keep} -c {} -t {} -n {most} {}", load.connections, load.seconds, load.url())))
}

/// oha.
pub fn oha(load: &LoadSettings<'_>) -> io::Result<Vec<String>> {
    let close = load.if_close("--disable-keepalive");
    let insecure = if load.style.tls() { "--insecure" } else { "" };
    let http2 = if load.style.http2() { format!("--http2 -p {STREAMS}") } else { String::new() };
    let rate = if load.style.open_loop() { format!("-q {} --latency-correction", load.rate) } else { String::new() };
    Ok(words(&format!(
        "--no-tui --output-format json {close} {insecure} {http2} {rate} -c {} -z {}s {}",
        load.connections,
        load.seconds,
        load.url()
    )))
}

/// h2load, one thread. Without TLS it begins with HTTP/2 at once.
pub fn h2load(load: &LoadSettings<'_>) -> io::Result<Vec<String>> {
    let how = match load.style {
        Style::Http2 | Style::H2c => format!("-m {STREAMS}"),
        Style::Pipelined => format!("--h1 -m {PIPELINE_DEPTH}"),
        _ => "--h1".into(),
    };
    // It would rather have AES-128, as the only one of all; a server that takes what its client likes would then give that.
    let cipher = if load.style.tls() { "--tls13-ciphers=TLS_AES_256_GCM_SHA384" } else { "" };
    Ok(words(&format!("{how} {cipher} -t1 -c {} -D {} {}", load.connections, load.seconds, load.url())))
}

/// hey.
pub fn hey(load: &LoadSettings<'_>) -> io::Result<Vec<String>> {
    let close = load.if_close("-disable-keepalive");
    Ok(words(&format!("-cpus 1 {close} -c {} -z {}s {}", load.connections, load.seconds, load.url())))
}

/// gcannon, one thread. It knows whole seconds only.
pub fn gcannon(load: &LoadSettings<'_>) -> io::Result<Vec<String>> {
    let close = load.if_close("-r 1");
    let depth = if load.style == Style::Pipelined { PIPELINE_DEPTH } else { 1 };
    Ok(words(&format!(
        "{} -t 1 -c {} -d {}s -p {depth} {close} --json",
        load.url(),
        load.connections,
        load.seconds.ceil()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::loads::load;
    use crate::candidates::{CLOSED_LOOP, GCANNON, H2LOAD, OHA, TORR, USER_CLOCK, WRK};

    /// The tail of a command line, in front of which every tool has its connections and seconds.
    fn command_line(name: &str, style: Style) -> String {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let settings = LoadSettings {
            port: 9,
            path: "/",
            connections: 100,
            seconds: 2.0,
            style,
            rate: 5000,
            folder: folder.path(),
        };
        let arguments = (load(name).arguments)(&settings).expect("files can be written there");
        let folder = folder.path().to_string_lossy().into_owned();
        arguments.join(" ").replace(&folder, "FOLDER")
    }

    #[test]
    fn each_has_the_same_load_in_its_own_arguments() {
        assert_eq!(command_line(TORR, Style::Tls), "-t 1 -c 100 -d 2s --insecure --json - https://127.0.0.1:9/");
        assert_eq!(
            command_line(TORR, Style::TlsHandshakes),
            "-t 1 -c 100 -d 2s --no-keepalive --insecure --tls-resumption full --json - https://127.0.0.1:9/"
        );
        assert_eq!(
            command_line(TORR, Style::H2c),
            "-t 1 -c 100 -d 2s --http2-prior-knowledge --streams 10 --json - http://127.0.0.1:9/"
        );
        assert_eq!(command_line(TORR, Style::OpenLoop), "-t 1 -c 100 -d 2s --rate 5000 --json - http://127.0.0.1:9/");
        assert_eq!(
            command_line(USER_CLOCK, Style::OpenLoop20k),
            "--timestamps user --coalesce 0s -t 1 -c 100 -d 2s --rate 5000 --json - http://127.0.0.1:9/"
        );
        assert_eq!(
            command_line(OHA, Style::OpenLoop20k),
            "--no-tui --output-format json -q 5000 --latency-correction -c 100 -z 2s http://127.0.0.1:9/"
        );
        assert_eq!(command_line(GCANNON, Style::Close), "http://127.0.0.1:9/ -t 1 -c 100 -d 2s -p 1 -r 1 --json");
        assert_eq!(command_line(CLOSED_LOOP, Style::OpenLoop), "-t 1 -c 100 -d 2s --json - http://127.0.0.1:9/");
        assert_eq!(command_line(WRK, Style::TlsHandshakes), "-t1 -c100 -d2s https://127.0.0.1:9/ -H Connection: close");
        assert_eq!(command_line(WRK, Style::Pipelined), "-t1 -c100 -d2s http://127.0.0.1:9/ -s FOLDER/pipeline.lua");
        assert_eq!(
            command_line(H2LOAD, Style::Http2),
            "-m 10 --tls13-ciphers=TLS_AES_256_GCM_SHA384 -t1 -c 100 -D 2 https://127.0.0.1:9/"
        );
        assert_eq!(command_line(H2LOAD, Style::Pipelined), "--h1 -m 16 -t1 -c 100 -D 2 http://127.0.0.1:9/");
        assert_eq!(
            command_line(OHA, Style::Http2),
            "--no-tui --output-format json --insecure --http2 -p 10 -c 100 -z 2s https://127.0.0.1:9/"
        );
    }

    #[test]
    fn a_probe_is_one_request_as_those_that_follow() {
        let (port, path, connections, seconds, rate) = (9, "/", 100, 2.0, 0);
        let load =
            LoadSettings { port, path, connections, seconds, style: Style::TlsHandshakes, rate, folder: "".as_ref() };
        assert_eq!(
            torr_probe(&load, "hello").expect("no file is needed").join(" "),
            "-t 1 -c 1 -n 1 --expect-status 200 --expect-body hello --no-keepalive --insecure --tls-resumption full \
             --json - https://127.0.0.1:9/"
        );
    }
}
