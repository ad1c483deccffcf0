//! Requests of an access log: what they have in common with those of a URL, and their mix as a load (`--log`).

use crate::error::PlanError;
use std::sync::Arc;
use torr_gauge::numbers::count;
use torr_gauge::secrets::Haystack;
use torr_load::Load;
use torr_logs::{Format, LogCounts, LogError, LogReader, Pattern, Selection};
use torr_press::users::Users;
use torr_press::{Arrivals, Plan, Work};
use torr_replay::{Mix, RequestTemplate, shown};

/// The number of hosts that an error names.
const NAMED: usize = 3;

/// The error of a log whose arrivals are to be kept, and whose requests all came at once.
pub const SAME_TIME: &str = "--arrivals logged: all requests of the log have the same time";

/// Returns what all requests of a log have in common: the fields and the server of the requests of a plan; and the secrets in it.
pub fn template(load: &Load, base: &Plan) -> (RequestTemplate, Vec<String>) {
    let (mut request, mut secrets) = (Vec::new(), Vec::new());
    if let Some(requests) = base.work.requests() {
        requests.cursor(0, 1).write(&mut request);
        secrets = requests.secrets(&Haystack::default());
    }
    let headers = load.request.headers.iter().filter_map(|line| line.split_once([':', ';']));
    let headers = headers.map(|(name, _)| name.trim().to_owned());
    let given = headers.chain(load.request.user_agent.as_ref().map(|_| "user-agent".to_owned()));
    let origin = base.origins().into_iter().next().unwrap_or_default();
    (RequestTemplate::new(&request, &origin, &base.target.host, given), secrets)
}

/// Returns the plan with the requests of `--log`, if it is given, instead of that of the URL.
pub(crate) fn with_requests(load: &Load, base: Plan) -> Result<Plan, PlanError> {
    let part = &load.request;
    let Some(path) = &part.log else { return Ok(base) };
    if base.target.path() != "/" || base.target.is_websocket() {
        let shown = base.target.shown();
        let hint = "the paths are those of the log";
        return Err(PlanError::Usage(format!(
            "with --log, the URL must be http(s):// without a path, found '{shown}' ({hint})"
        )));
    }
    let of = |flag: &'static str| move |why: String| PlanError::Usage(format!("--{flag}: {why}"));
    let format = part.log_format.as_deref().map(Pattern::parse).transpose();
    let format = format.map_err(|error| of("log-format")(error.to_string()))?.map(Format::given);
    let methods = part.log_methods.as_deref().unwrap_or(Selection::SAFE).split(',').map(Selection::method);
    let hosts = part.log_hosts.iter().map(|host| Selection::host(host));
    let target = std::iter::once(Ok(base.target.host.to_ascii_lowercase()));
    let selection = Selection {
        methods: methods.collect::<Result<_, _>>().map_err(of("log-methods"))?,
        hosts: target.chain(hosts).collect::<Result<_, _>>().map_err(of("log-host"))?,
        ..Selection::default()
    };
    let (template, secrets) = template(load, &base);
    let reader = LogReader::open(std::slice::from_ref(path), format.as_ref(), selection);
    let mix = reader.and_then(|reader| Mix::read(reader, template, secrets));
    let mix = mix.map_err(|error| PlanError::Usage(unreadable(&error, "--log-format")))?;
    if mix.is_empty() {
        return Err(PlanError::Usage(nothing(mix.counts(), "--log-methods", "--log-host")));
    }
    if load.pace.arrivals.as_deref() == Some(&Arrivals::Logged) && mix.logged().is_none() {
        return Err(PlanError::Usage(SAME_TIME.into()));
    }
    Ok(Plan { work: Work::Users(Arc::new(mix)), depth: 1, ..base })
}

/// Returns the error of logs none of whose requests are taken, with the flags that take more.
pub fn nothing(counts: &LogCounts, of_methods: &str, of_hosts: &str) -> String {
    let mut why = Vec::new();
    if counts.unreadable > 0 {
        let line = counts.first_unreadable.as_deref().map(shown).unwrap_or_default();
        why.push(format!("{} unreadable, the first one '{line}'", count(counts.unreadable)));
    }
    if counts.outside > 0 {
        why.push(format!("{} outside --from and --to", count(counts.outside)));
    }
    let methods: u64 = counts.methods.values().sum();
    if methods > 0 {
        let names: Vec<_> = counts.methods.keys().take(NAMED).map(String::as_str).collect();
        why.push(format!("{} of other methods: add {of_methods} {}", count(methods), names.join(",")));
    }
    let hosts: u64 = counts.hosts.values().sum();
    if hosts > 0 {
        let mut names: Vec<_> = counts.hosts.iter().collect();
        names.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let names: Vec<_> = names.into_iter().take(NAMED).map(|(name, _)| format!("{of_hosts} {name}")).collect();
        why.push(format!("{} of other hosts: add {}", count(hosts), names.join(" ")));
    }
    format!("no request of the log can be sent: {}", why.join("; "))
}

/// Returns the error of a log that cannot be read, with the flag that gives a format.
pub fn unreadable(error: &LogError, of_format: &str) -> String {
    let hint = match error {
        LogError::Unknown { line, .. } => {
            format!(": its first line is '{}'; give the log_format with {of_format}", shown(line))
        }
        LogError::Read(..) | LogError::Empty(_) => String::new(),
    };
    format!("{error}{hint}")
}
