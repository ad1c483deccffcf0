//! The help text.

/// The help text.
pub const USAGE: &str = "\
k6 run [flags] FILE      (k6's command line, run by torr)
k6 run [flags] -         read the script from standard input
k6 inspect FILE          print the options of a script as JSON
k6 version               print the version

Load:
  -u, --vus N                    virtual users [1]
  -d, --duration T               duration of the load
  -i, --iterations N             iterations of all virtual users together
  -s, --stage T:N                add a stage of time T to N virtual users
      --rps N                    limit the request rate
      --min-iteration-duration T  pause after shorter iterations
      --no-setup                 do not call setup()
      --no-teardown              do not call teardown()
      --execution-segment S      not supported
      --execution-segment-sequence S   not supported
      --paused                   not supported

Requests:
      --user-agent S             User-Agent of all requests
      --max-redirects N          redirects to follow [10]
      --batch N                  parallel requests of http.batch() [20]
      --batch-per-host N         the same for each host [6]
      --http-debug[=full]        log requests and responses
      --insecure-skip-tls-verify  accept any certificate
      --no-connection-reuse      open a connection for each request
      --no-vu-connection-reuse   close connections after each iteration
  -w, --throw                    throw an exception if a request fails
      --blacklist-ip RANGE       refuse to connect to these addresses
      --block-hostnames PATTERN  refuse to connect to these hosts
      --discard-response-bodies  do not keep the contents of responses
      --local-ips RANGES         connect from these addresses
      --dns FIELDS               ttl=5m,select=random,policy=preferIPv4

Script:
  -e, --env NAME=VALUE           set a variable of __ENV; repeatable
      --include-system-env-vars  pass the environment to __ENV [true]
      --compatibility-mode MODE  without effect
  -t, --type js                  the kind of FILE; archives are not supported
      --offline                  take imported URLs from the cache only

Results:
      --tag NAME=VALUE           add a tag to all samples; repeatable
      --system-tags NAMES        tags that samples get by themselves
      --no-thresholds            leave thresholds out
      --summary-mode MODE        compact, full, legacy or disabled [compact]
      --no-summary               the same as --summary-mode disabled
      --summary-trend-stats STATS  columns of trends, such as avg,p(95)
      --summary-time-unit UNIT   s, ms or us
      --summary-export FILE      write the summary as JSON
  -o, --out json=FILE|csv=FILE   write all samples to a file; repeatable

Messages:
  -q, --quiet                    print no banner and no progress
  -v, --verbose                  show lines for debugging
      --no-color                 print without colours
      --log-format FORMAT        text, json or raw
      --log-output OUTPUT        stderr, stdout, none or file=PATH
      --console-output FILE      file for lines of the script's console
  -c, --config FILE              options as JSON [~/.config/k6/config.json]
  -h, --help                     print this help

Without effect: -a, --address, -l, --linger, --no-usage-report,
--profiling-enabled, --new-machine-readable-summary, --secret-source,
--traces-output. An option is taken from the first of these that sets it: flags,
variables such as K6_VUS, the script, the configuration file. T is a time such
as 1m30s.
";
