//! The formats of access logs, and how one is recognised.

use crate::json;
use crate::logged::Line;
use crate::pattern::Pattern;
use std::sync::LazyLock;

/// The format of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    /// JSON of Caddy.
    Caddy,
    /// JSON of Traefik.
    Traefik,
    /// A recording of GoReplay, which has no lines.
    GoReplay,
    /// Text with variables, by its name.
    Text(&'static str, Pattern),
}

/// The formats of text, those first that others would take for theirs. With each, whether its times are those at which requests
/// began: of nginx' and Apache's, which look alike, most are times of the end, and without response times it makes no difference.
const TEXTS: [(&str, &str, bool); 7] = [
    (
        "AWS ALB",
        r#"$type $time_iso8601 $elb $client $target $part_seconds $part_seconds $part_seconds $status $target_status $received $sent "$request" "$http_user_agent""#,
        false,
    ),
    (
        "Istio",
        r#"[$time_iso8601] "$request_method $request_uri $protocol" $status $flags $details $termination "$failure" $received $sent $duration_ms $upstream_time "$forwarded_for" "$http_user_agent" "$request_id" "$http_host" "#,
        true,
    ),
    (
        "Envoy",
        r#"[$time_iso8601] "$request_method $request_uri $protocol" $status $flags $received $sent $duration_ms $upstream_time "$forwarded_for" "$http_user_agent" "$request_id" "$http_host" "#,
        true,
    ),
    (
        "Traefik's common",
        r#"$addr $ident $user [$time_local] "$request" $status $sent "$http_referer" "$http_user_agent" $number "$router" "$server" ${duration_ms}ms"#,
        true,
    ),
    (
        "combined with hosts",
        r#"$host $addr $ident $user [$time_local] "$request" $status $sent "$http_referer" "$http_user_agent""#,
        false,
    ),
    (
        "combined",
        r#"$addr $ident $user [$time_local] "$request" $status $sent "$http_referer" "$http_user_agent""#,
        false,
    ),
    ("common", r#"$addr $ident $user [$time_local] "$request" $status $sent"#, false),
];

static KNOWN: LazyLock<Vec<Format>> = LazyLock::new(|| {
    let texts = TEXTS.iter().map(|(name, format, is_start)| Format::Text(name, Pattern::known(format, *is_start)));
    [Format::Caddy, Format::Traefik].into_iter().chain(texts).collect()
});

impl Format {
    /// Returns the format of the user's pattern.
    pub const fn given(pattern: Pattern) -> Self {
        Self::Text("as given", pattern)
    }

    /// Returns the format that most of these lines have, if at least half of them have it; of several the most special one.
    pub(crate) fn recognise<'l>(lines: impl Iterator<Item = &'l str> + Clone) -> Option<Self> {
        let all = lines.clone().count();
        let read = |format: &&Self| lines.clone().filter(|line| format.line(line).is_some()).count();
        // Of equals `max_by_key` returns the last.
        let (most, best) = KNOWN.iter().map(|format| (read(&format), format)).rev().max_by_key(|(read, _)| *read)?;
        (most > 0 && most * 2 >= all).then(|| best.clone())
    }

    /// Returns the name of the format.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Caddy => "Caddy",
            Self::Traefik => "Traefik",
            Self::GoReplay => "GoReplay",
            Self::Text(name, _) => name,
        }
    }

    /// Returns what a line holds, `None` if it is not of this format.
    pub(crate) fn line(&self, text: &str) -> Option<Line> {
        match self {
            Self::Caddy => json::caddy(text),
            Self::Traefik => json::traefik(text),
            Self::GoReplay => None,
            Self::Text(_, pattern) => pattern.line(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of a format, a line, and the line's target, response time in nanoseconds and host.
    type Example = (&'static str, &'static str, &'static str, Option<u64>, Option<&'static str>);

    /// Lines from the documentation of each program.
    const LINES: [Example; 9] = [
        (
            "combined",
            r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326 "http://www.example.com/start.html" "Mozilla/4.08 [en] (Win98; I ;Nav)""#,
            "/apache_pb.gif",
            None,
            None,
        ),
        (
            "common",
            r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326"#,
            "/apache_pb.gif",
            None,
            None,
        ),
        (
            "combined with hosts",
            r#"shop.example:80 127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /x HTTP/1.0" 200 2326 "-" "curl""#,
            "/x",
            None,
            Some("shop.example"),
        ),
        (
            "Traefik's common",
            r#"192.168.33.1 - - [10/Oct/2016:14:32:50 +0000] "GET /test HTTP/1.1" 200 32 "-" "Mozilla" 1 "router" "http://127.0.0.1:8080" 25ms"#,
            "/test",
            Some(25_000_000),
            None,
        ),
        (
            "AWS ALB",
            r#"http 2018-07-02T22:23:00.186641Z app/my-loadbalancer/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.000 0.001 0.002 200 200 34 366 "GET http://www.example.com:80/ HTTP/1.1" "curl/7.46.0" - - arn:aws:x "Root=1-58337262" "-" "-" 0 2018-07-02T22:22:48.364000Z "forward" "-" "-""#,
            "/",
            Some(3_000_000),
            Some("www.example.com"),
        ),
        (
            "Envoy",
            r#"[2016-04-15T20:17:00.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "locations" "tcp://10.0.2.1:80""#,
            "/api/v1/locations",
            Some(226_000_000),
            Some("locations"),
        ),
        (
            "Istio",
            r#"[2020-11-25T21:26:18.409Z] "GET /status/418 HTTP/1.1" 418 - via_upstream - "-" 0 135 4 4 "-" "curl/7.73.0-DEV" "84961386-6d84-929d-98bd-c5aee93b5c88" "httpbin:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 10.44.1.23:37652 outbound_.8000_._.httpbin.foo.svc.cluster.local default"#,
            "/status/418",
            Some(4_000_000),
            Some("httpbin"),
        ),
        (
            "Caddy",
            r#"{"level":"info","ts":1646861401.5241024,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"127.0.0.1","remote_port":"41342","proto":"HTTP/2.0","method":"GET","host":"localhost:443","uri":"/a?b","headers":{"User-Agent":["curl/7.82.0"],"Accept":["*/*"]}},"bytes_read":0,"user_id":"","duration":0.000929675,"size":10900,"status":200,"resp_headers":{"Server":["Caddy"]}}"#,
            "/a?b",
            Some(929_675),
            Some("localhost"),
        ),
        (
            "Traefik",
            r#"{"ClientAddr":"10.0.0.1:5","DownstreamStatus":200,"Duration":1500000,"RequestHost":"whoami.example","RequestMethod":"GET","RequestPath":"/api","StartUTC":"2026-11-29T10:00:00.123456789Z","level":"info","msg":"","time":"2026-11-29T10:00:00Z"}"#,
            "/api",
            Some(1_500_000),
            Some("whoami.example"),
        ),
    ];

    #[test]
    fn each_format_is_recognised_and_read() {
        for (name, text, target, took, host) in LINES {
            let format = Format::recognise([text].into_iter()).unwrap_or_else(|| panic!("{name} is unknown"));
            assert_eq!(format.name(), name);
            let line = format.line(text).expect("it was recognised");
            assert_eq!((&*line.target, line.took, line.host.as_deref()), (target, took, host), "{name}");
            assert!(line.status.is_some() && line.stamp.is_some(), "{name}");
        }
        assert_eq!(Format::recognise(["Nov 29 10:00:00 host kernel: boot"].into_iter()), None);
        assert_eq!(Format::recognise([].into_iter()), None);
    }
}
