//! All thresholds of the rules, active and passive.
//!
//! A share is 0 to 1, CPU is in cores, a ratio is a factor of throughput unless a unit is in the name. Most were chosen with the services
//! of the clinic, whose faults are known, as the widest gap between those that have a fault and those that look alike.

// Witnesses.
/// The CPU in cores from which a thread was saturated: the scheduler and sampling take the rest.
pub const FULL_THREAD: f64 = 0.85;
/// The share of the target's service time up to which a request counts as cheap.
pub const CHEAP: f64 = 0.6;
/// The share of its periods from which a quota throttles a process.
pub const THROTTLED: f64 = 0.15;
/// The least number in use of a limited resource that requests hold: a thread, a lock or a connection.
pub const LEAST_HELD: f64 = 0.7;
/// The parallelism below which one request is worked on at a time.
pub const ONE: f64 = 1.7;
/// Messages to a database for each request from which an ORM loads rows one by one.
pub const MANY_TRIPS: f64 = 10.0;
/// Bytes from a database for each request from which they are compared with the bytes of the response.
pub const MUCH_FETCHED: f64 = 2048.0;
/// The time in microseconds after which a SYN was retransmitted: the kernel waits a second (RFC 6298, section 2).
pub const SYN_TIMEOUT_US: u64 = 950_000;
/// The least share of a request's time that counts as the service's own.
pub const LEAST_WORK: f64 = 0.15;
/// The share of the time spent ready but without a CPU below which a server gets the CPU that it needs.
pub const SERVED: f64 = 0.12;
/// CPU in cores from which a thread does a part of the work and is not just a helper.
pub const WORKING_THREAD: f64 = 0.15;
/// The share of the time without a CPU from which a thread is starved.
pub const STARVED_THREAD: f64 = 0.3;
/// CPU in cores from which a report names another program on the server's machine.
pub const WORTH_TELLING: f64 = 0.05;
/// The server's CPU as a share of the generator's from which it is the server's work that fills the machine they share.
pub const SERVERS_PART: f64 = 0.8;
/// The increase of a light load's response time, as a share of the target's service time, from which the target's load delays it.
pub const HELD_UP: f64 = 0.25;
/// The increase, as such a share, up to which the target's load does not delay a light load.
pub const NOT_HELD_UP: f64 = 0.12;
/// CPU in cores that a saturated thread uses at least, even if it waits for a CPU.
pub const FULL_THREAD_USES: f64 = 0.4;
/// The share of the time that a thread must spend in one kind of wait.
pub const MOSTLY_WAITS: f64 = 0.5;
/// The least waits of a thread that takes turns at a lock with others, as a share of those that each would have if all had as many.
pub const TAKES_ITS_TURN: f64 = 0.2;
/// The mean share of their time for which threads that seem to contend for a lock wait for events, from which they lack work.
pub const LACKS_WORK: f64 = 0.1;
/// The mean number of contending threads past a lock from which one of them is seen to hold it.
pub const SEEN_PAST_LOCK: f64 = 0.5;
/// The ratio of two response times, that of single requests with pauses between them to that of requests back to back, from which the
/// service was cold.
pub const COLD: f64 = 1.3;
/// The number of requests in which a thread that works on them waits at least once.
pub const REQUESTS_PER_WAIT: f64 = 200.0;
/// The ratio of the server's CPU to its database's from which it is the server that computes.
pub const SERVER_COMPUTES: f64 = 2.0;
/// The ratio of bytes from the database to bytes to the client from which too many rows are fetched.
pub const FETCHED_FOR_LITTLE: f64 = 4.0;
/// The mean length of a peer's accept queue from which requests wait there, as a share of the requests in service.
pub const QUEUED_BEHIND: f64 = 0.3;
/// Messages to a database for each request from which each request queries it.
pub const QUERIED_BY_EACH: f64 = 0.5;
/// The share of the CPUs below which a server idles.
pub const IDLE_SERVER: f64 = 0.3;

// What the user allows.
/// The share of the highest permitted rate from which that rate is the limit.
pub const MAX_RATE_REACHED: f64 = 0.85;

// Acknowledgements.
/// The ranges in seconds of response times that a delayed acknowledgement causes: Linux delays it by 40 ms, and by 200 at most.
pub const ACK_DELAYS_S: [(f64, f64); 2] = [(0.036, 0.052), (0.19, 0.215)];
/// The share of responses that must take as long as such a delay.
pub const ACK_DELAYED: f64 = 0.2;
/// Delayed acknowledgements for each response, where responses take longer than a delay.
pub const ACKS_HELD_BACK: f64 = 0.5;
/// The ratio of throughput that acknowledging at once must bring.
pub const ACKED_FASTER: f64 = 1.2;
/// The ratio by which the share of delayed responses must fall once acknowledgements are sent at once.
pub const DELAYS_GONE: f64 = 4.0;
/// The interval, as ratios of a delay's bounds, in which the fall of the median must lie.
pub const FELL_BY_DELAY: (f64, f64) = (0.8, 1.1);

// Experiments in turns.
/// The least number of pairs of runs.
pub const LEAST_PAIRS: usize = 5;
/// The largest number of pairs of runs.
pub const MOST_PAIRS: usize = 7;
/// The number of pairs of runs once little of the budget is left.
pub const FEW_PAIRS: usize = 3;
/// The number of pairs of runs that settle a question alone if they agree.
pub const AGREEING_PAIRS: usize = 2;
/// The ratio of throughput that two agreeing pairs must exceed, above the thresholds of all rules.
pub const CLEARLY_BETTER: f64 = 1.5;
/// The half width of the interval, as a factor, below which no more pairs are run.
pub const NARROW_PAIRS: f64 = 1.1;

/// The largest ratio of an interval's ends at which the interval is evidence.
pub const VAGUE: f64 = 1.5;

// Workers.
/// CPU in cores of a thread that does a worker's work.
pub const WORKED_BEFORE: f64 = 0.3;
/// The CPU in cores below which a thread has far less to do than a saturated one.
pub const IDLE_WORKER: f64 = 0.5;

// Keep-alive.
/// Connections per response below which they are kept alive.
pub const KEPT_ALIVE: f64 = 0.5;

// The ladder of connections.
/// The share of the highest throughput from which the service counts as saturated.
pub const SATURATED_FROM: f64 = 0.9;

/// The share of a step's connections that may be opened while it is measured.
pub const STILL_OPENING: f64 = 0.1;
/// The growth of throughput over two doublings up to which the ladder skips to the user's connections.
pub const FLAT_LADDER: f64 = 1.08;
/// The share of the machine's CPU that other programs may use before the decisive experiment is repeated.
pub const RUN_DISTURBED: f64 = 0.2;
/// The share of the connections that must be established for an experiment to be valid.
pub const MOST_CONNECTED: f64 = 0.9;

// Gains.
/// The spread of throughput from run to run, as a factor, by which a computed interval is widened on either side.
pub const GAIN_SPREAD: f64 = 1.1;
/// The ratio of an interval's ends from which it promises nothing: an order of magnitude.
pub const WIDEST_GAIN: f64 = 10.0;
/// The factor by which the next limit must cut the gain of a place, for it to be named.
pub const CUT_GAIN: f64 = 1.02;
/// The factor of throughput from which the lower end of such an interval is worth a promise of its own.
pub const WORTH_PROMISING: f64 = 1.5;
/// The factor by which a service may exceed one that does nothing: ours parses and checks what simpler ones do not, and is measured for
/// half a second only. In a round of the clinic it reached 81,000 to 112,000 requests per second in a machine where cured subjects
/// reached 141,000 in a run of 3 s.
pub const NULL_EXCEEDED: f64 = 1.5;
/// The factor by which a response written in one piece may bring more than acknowledgements sent at once, which cost a system call each
/// and leave the server its second write. The clinic measured 1.2 to 1.4.
pub const ACKNOWLEDGED_COSTS: f64 = 1.6;
/// The CPU time that a request may cost more under a light load than under a heavy one, in requests of a null service: for wake-ups, and
/// for system calls that serve one request instead of many.
pub const LIGHT_LOAD_COST: f64 = 9.0;
/// The factor by which CPU time for each request may fall under a full load, where no service that does nothing was measured.
pub const CHEAPER_UNDER_LOAD: f64 = 2.0;
/// The room for more CPU time, as a factor of what is used, from which the CPU time of a request is known as an upper end only: most of
/// it may be that of wake-ups, timers and a compiler.
pub const HARDLY_USED: f64 = 8.0;
/// The share of what adding CPU, threads or processes brings in proportion that is promised at least.
pub const SCALES_AT_LEAST: f64 = 0.8;
/// CPU in cores from which a report has the generator's share of the server's machine.
pub const GENERATOR_MATTERS: f64 = 0.05;
/// Workers for each CPU that are advised where they wait.
pub const WAITING_WORKERS: (f64, f64) = (4.0, 8.0);

// The hypervisor.
/// The share of the machine's CPU that the hypervisor may give to others before it is doubtful who was busy.
pub const STOLEN_DOUBTFUL: f64 = 0.1;

// Limiters that count addresses.
/// The ratio of requests accepted from two addresses from which a limiter counts each apart.
pub const SOURCES_APART: f64 = 1.6;
/// The ratio of requests accepted from two addresses up to which a limiter counts them together.
pub const SOURCES_TOGETHER: f64 = 1.25;

// Connecting.
/// Connections per response from which they are not kept alive.
pub const NOT_KEPT: f64 = 0.15;
/// The share of connections that the server must have closed.
pub const CLOSED_BY_SERVER: f64 = 0.5;
/// The share of a request's time from which connecting is the limit.
pub const CONNECTING_LIMITS: f64 = 0.1;
/// The share from which connecting is certainly the limit: a service that does nothing shows the least cost of a connection.
pub const CONNECTING_CERTAIN: f64 = 0.25;
/// The largest ratio between an estimate and a measurement that agree.
pub const ESTIMATE_AGREES: f64 = 2.0;
/// The share of a single request's time from which TLS handshakes, rather than connecting, are the limit.
pub const HANDSHAKES_LIMIT: f64 = 0.4;
/// The share from which TLS handshakes are certainly the limit.
pub const HANDSHAKES_CERTAIN: f64 = 0.6;
/// The ratio of throughput that keep-alive must bring where the user's load has a connection for each request.
pub const KEPT_BETTER: f64 = 1.2;
/// The ratio of throughput that a condition for keep-alive must bring.
pub const CONDITION_BETTER: f64 = 1.1;
/// The interval of the ratio of throughput within which keep-alive makes no difference.
pub const NO_DIFFERENCE: (f64, f64) = (0.7, 1.3);

// The ladder.
/// The share of the ladder's highest throughput that every rung must have for a limiter to be certain. Runs of one load differ by up to 6% in
/// the simulation, and a rise by a third over two rungs was taken for none below this.
pub const SAME_THROUGHPUT: f64 = 0.8;
/// The ratio of the last rung's connections to the first's that a limiter needs to be certain.
pub const WIDE_LADDER: usize = 4;

// CPU.
/// The share of a machine's CPU from which the machine is full, for every rule: below it CPU is free. It lies between the four
/// numbers (0.85, 0.9, 0.93, 0.95) that rules had each for itself, and was not measured anew.
pub const MACHINE_FULL: f64 = 0.9;
/// The share of the CPUs from which a server has all of them.
pub const ALL_CPU: f64 = 0.93;
/// The share of the CPUs from which a server with as many full threads has nearly all of them.
pub const NEARLY_ALL_CPU: f64 = 0.85;
/// The share of the CPUs from which the server has most of a machine that is [full](MACHINE_FULL). A runtime that shares few threads
/// between many tasks, as that of Go, has no thread that waits for a CPU, and leaves some of it idle.
pub const MOST_OF_FULL_MACHINE: f64 = 0.8;
/// CPU that counts as one, if it is that of several threads which share it: what was wanted is at least the one, what was got at most
/// the other.
pub const ONE_CORE: (f64, f64) = (0.85, 1.15);
/// The share of the server's CPU that a thread must use to be the one that does the work: others only help it.
pub const MOSTLY_ONE_THREAD: f64 = 0.65;
/// The factor by which a query that does the work of many may bring less than a query that does its own.
pub const QUERY_VARIES: f64 = 3.0;
/// CPU in cores of a server whose work one thread does: the least on a saturated machine, and the most.
pub const ONE_THREADS_SERVER: (f64, f64) = (0.9, 1.4);
/// The generator's share of the CPUs from which it takes CPU that the server could use.
pub const GENERATOR_TAKES: f64 = 0.15;
/// The share of the throughput of a service that does nothing from which the server's own work is negligible.
pub const NEAR_NULL: f64 = 0.6;
/// The share of the target's time below which another request shows that it is the handler's work.
pub const HANDLERS_WORK: f64 = 0.5;
/// The ratio of the last rung's throughput to that of the user's load within which throughput is flat.
pub const FLAT: (f64, f64) = (0.6, 1.15);
/// The share of its connections with a request in flight from which a database delays its clients.
pub const MOST_WAIT: f64 = 0.5;
/// The share of its quota that a throttled database uses.
pub const QUOTA_USED: f64 = 0.5;

// Acknowledgements under load.
/// The ratio of throughput that acknowledging at once must bring under the user's load for delayed acknowledgements to be the limit.
pub const ACKS_BIND: f64 = 1.1;
/// The ratio from which delayed acknowledgements matter most under the user's load.
pub const ACKS_MATTER: f64 = 1.3;

// Other programs.
/// The share of the machine's CPU that other programs may use before experiments are invalid.
pub const OTHERS_DISTURB: f64 = 0.25;
/// The share of the machine's CPU that the hypervisor may give to others before experiments are invalid.
pub const STOLEN_DISTURBS: f64 = 0.2;

/// The share of the machine's CPU by which the use of other programs may differ between experiments that are compared.
pub const WEATHER_CHANGED: f64 = 0.15;
/// The share of the machine's CPU from which other programs may take CPU from the server.
pub const OTHERS_COUNT: f64 = 0.08;
/// The share of the machine's CPU from which threads wait for each other now and then.
pub const CPU_IS_SHORT: f64 = 0.75;
/// The seconds of an experiment from which the CPU use of the machine is known to a few per cent.
pub const SHORTEST_SEEN_S: f64 = 0.3;
/// CPU in cores, with the time runnable without a CPU, from which a thread works and does not wait.
pub const WORKS: f64 = 0.7;
/// CPU in cores, with the time runnable without a CPU, up to which a thread mostly waits.
pub const MOSTLY_IDLE: f64 = 0.5;
/// The share of the server's CPU that a working thread must use for the server to work rather than wait.
pub const MOST_OF_THE_WORK: f64 = 0.5;

// Failures.
/// The size in bytes of a response, header section included, that fits one packet: a smaller one would load a link as much.
pub const ONE_PACKET_BYTES: f64 = 1500.0;
/// Overflows of the accept queue from which they are evidence.
pub const OVERFLOWS: u64 = 10;
/// The ratio of the least response time under load to that of single requests from which refusals come too late to be a limiter's.
pub const REFUSED_LATE: f64 = 2.0;
/// The share of failed requests from which failures are examined first.
pub const MANY_FAILED: f64 = 0.01;
/// The share of connections that are late, or fail, from which an accept queue may be the reason.
pub const LATE_CONNECTS: f64 = 0.01;
/// The share of the highest throughput below which failures reduce a load's throughput.
pub const KEPT_FROM: f64 = 0.7;
/// The ratio by which the share of late connections must fall for a change to have been the reason.
pub const FEWER_LATE: f64 = 4.0;
/// The share of failures with a status from which a service fails under any load.
pub const ALWAYS: f64 = 0.5;
/// The rate that is offered to a limiter, as a ratio to the accepted one.
pub const OFFERED: f64 = 1.5;
/// The share of refusals at an offered rate from which a limiter refuses.
pub const REFUSES: f64 = 0.1;
/// The ratio up to which twice the offered rate brings no more.
pub const ACCEPTS_NO_MORE: f64 = 1.25;
/// The share of the CPUs below which a server that refuses is not full.
pub const NOT_FULL: f64 = 0.8;
/// The ratio of failures under load to those of single requests up to which load is not their cause.
pub const FAILS_ALONE: f64 = 3.0;

// The generator.
/// The share of the time spent ready but without a CPU from which the generator was starved.
pub const GENERATOR_STARVED: f64 = 0.25;
/// CPU in cores that the generator must want, used or waited for, to be the limit: about that of one thread.
pub const GENERATOR_WORKS: f64 = 0.75;
/// CPU in cores, and the busy share of a thread, below which the generator has time left.
pub const GENERATOR_EASY: f64 = 0.7;
/// The ratio of a null service's throughput to the target's from which the generator, with the same threads and bodies as large, is not
/// the limit. Responses with many header fields, in chunks or compressed may cost it twice as much.
pub const NULL_FAR_BETTER: f64 = 2.5;
/// The ratio of a null service's throughput to the target's up to which the generator is the limit.
pub const NULL_NO_BETTER: f64 = 1.25;
/// The ratio of a null service's throughput to the target's below which the null service was its own limit: throughput varies by as
/// much from run to run.
pub const NULL_AS_GOOD: f64 = 0.9;

// Links.
/// The delay of connecting in seconds from which the link is saturated: connections are accepted by the kernel, not the service.
pub const LINK_DELAY_S: f64 = 0.001;
/// The delay of connecting from which the link is saturated, as a multiple of the time without load.
pub const LINK_DELAY: f64 = 9.0;
/// The most requests that are being transmitted at a time: a link transmits packets one by one.
pub const ON_A_LINK: f64 = 1.5;
/// The share of a light load's delay from which it is the connecting that the target's load delays, and not the server's work.
pub const MOSTLY_CONNECTING: f64 = 0.5;
/// The ratio of the usual round-trip time to the least one from which packets queue in the network.
pub const RTT_GREW: f64 = 4.0;
/// The round-trip time in seconds below which an acknowledgement that is sent with the response explains it.
pub const RTT_LONG_S: f64 = 0.06;
/// The ratio that responses without content must bring on a full link.
pub const SMALLER_BETTER: f64 = 1.3;
/// The offered rate at which a quota should not throttle, as a share of the user's throughput.
pub const GENTLE: f64 = 0.4;
/// The ratio by which throttling must fall at that rate.
pub const RELIEVED: f64 = 2.0;
/// The share of the ladder's most throughput that every rung must have for throughput to be the same with any number of connections.
pub const EVEN: f64 = 0.6;
/// The responses of the first tenth of a second after a pause that are a burst: a multiple of the usual ones, and a number beyond them.
pub const BURST: (f64, f64) = (2.0, 3.0);

// Stops within a period.
/// The length in seconds of samples that show stops within a period of 100 ms.
pub const SAMPLED_S: f64 = 0.01;
/// The least number of samples of a period without a response that are a stop.
pub const STOPPED_AT_LEAST: usize = 2;
/// The share of the usual number of responses up to which the samples at one point of all periods are silent.
pub const STOPS_SILENT: f64 = 0.1;
/// The mean deviation of the responses of a period, relative to their mean, up to which periods have equal shares.
pub const STOPS_EVEN: f64 = 0.25;
/// The difference of two stops, relative to the period, up to which they are alike: a sample and the kernel's slices of 5 ms each.
pub const STOPS_ALIKE: f64 = 0.25;
/// The ratio of cheap requests to those of the target from which it is not requests that are counted.
pub const CHEAPER_STOPS: f64 = 1.5;

// Proxies.
/// The share of a proxy's upstream connections that must be open in two successive samples for them to be kept alive.
pub const UPSTREAM_KEPT: f64 = 0.6;
/// The ratio of throughput without the proxy to that through it from which the proxy is the limit.
pub const DIRECT_BETTER: f64 = 1.25;
/// CPU in cores from which a process behind the server does the work, if the server uses less than half as much.
pub const WORKS_BEHIND: f64 = 0.5;
/// The ratio of CPU from which a process behind the server does the work rather than the server.
pub const WORKS_MORE: f64 = 2.0;
/// The ratio of a single request's time through a relay to its time directly up to which the relay itself costs little. A relay whose own
/// work is a third of the time or more is also worth making cheaper.
pub const RELAY_ADDS: f64 = 1.5;
/// The waits of a worker process as a share of those that one of as many workers as requests in service has at least: one for each request.
pub const WORKS_ON_REQUESTS: f64 = 0.5;

// Throughput that grows.
/// The share of connections that must be at work rather than in a queue.
pub const ALL_AT_WORK: f64 = 0.7;
/// The factor of throughput that a doubling of connections must bring to be evidence of growth.
pub const STILL_GROWS: f64 = 1.4;
/// The share of a request's time from which most of it is the network's.
pub const MOSTLY_NETWORK: f64 = 0.5;
/// The shares of a request's time between which it is uncertain whether most of it is the network's: the simulation's neighbours make a
/// single request take up to a fifth longer.
pub const UNSURE_NETWORK: (f64, f64) = (0.4, 0.6);
/// The share of a response's time between its first and its last byte from which its sending is paced.
pub const PACED: f64 = 0.7;
/// The least share of a response's time that remains without the network.
pub const LEAST_REST: f64 = 0.02;
/// The share of a response's time from which the remainder without the network is known.
pub const UNSURE_REST: f64 = 0.1;
/// The share of a single request's time that the network may take for a pace to be the server's.
pub const HARDLY_NETWORK: f64 = 0.1;

// Requests that wait.
/// The parallelism below which a lock that is held for a part of each request may be what several threads contend for.
pub const PARTLY_LOCKED: f64 = 3.0;
/// The distance to a whole number within which the parallelism is that of a pool.
pub const WHOLE_POOL: f64 = 0.12;
/// CPU in cores for each request in service from which requests compute rather than wait.
pub const COMPUTES: f64 = 0.5;
/// Workers for each CPU that are many for work that waits.
pub const MANY_WAITING_WORKERS: f64 = 8.0;
/// The share of a pool's connections that must have a request in flight for the pool to be exhausted.
pub const POOL_IN_USE: f64 = 0.8;
/// The bounds within which the threads that hold a request are as many as requests in service: the least and the greatest ratio, and
/// a number of threads beyond it.
pub const AS_MANY_THREADS: (f64, f64, f64) = (0.75, 1.35, 0.3);
/// The least requests in the server that are more than those in service: a ratio, and a number of requests beyond it.
pub const MORE_IN_HAND: (f64, f64) = (2.0, 2.0);
/// The most requests in the server that are no more than those in service: a ratio, and a number of requests beyond it.
pub const NO_MORE_IN_HAND: (f64, f64) = (1.4, 1.0);
/// The difference within which a pool has as many connections as there are requests in service: a ratio, and a number beyond it.
pub const AS_MANY_CONNECTIONS: (f64, f64) = (0.25, 0.3);
/// The threads that wait for one kind of thing as a share of the requests in service, from which the kind is named.
pub const NAMED_WAITS: f64 = 0.4;
/// The share of a pool's connections without a query from which requests hold them while they do something else.
pub const HELD_IDLE: f64 = 0.4;

/// The largest ratio between a count of requests in service and the number by Little's law that mean the same requests.
pub const LAW_OFF: f64 = 2.0;
/// The difference within which two counts of requests in service agree: a ratio, and a number of requests beyond it.
pub const COUNTS_AGREE: (f64, f64) = (0.1, 1.0);
/// The number of single requests below which their mean is one of a few, and one slow response changes it much.
pub const FEW_ALONE: u64 = 30;
/// The ratio between the quartiles of few response times up to which they are alike, so that a slow one is an exception.
pub const ALIKE: f64 = 1.25;
/// The ratio of the mean of few response times to their median from which a slow one spoiled the mean.
pub const SCATTERED: f64 = 1.25;
/// The ratio of throughput that neither of two pairs of runs exceeds, and neither falls below its reciprocal, for both ways to be alike.
pub const PAIRS_ALIKE: f64 = 1.05;

// A single run.
/// The share of the machine's CPU below which CPU did not limit server and generator.
pub const LITTLE_CPU: f64 = 0.5;
/// The share of connections that must be at work rather than wait.
pub const PASSIVE_AT_WORK: f64 = 0.5;
/// Connections per second from which opening them takes much of a CPU.
pub const MANY_CONNECTIONS_PER_S: f64 = 3000.0;
/// Connections that the server closes for each response from which opening new ones costs more than the responses.
pub const OFTEN_CLOSED: f64 = 0.3;
/// The factor of the least response time, plus the jitter of a wake-up, up to which the median shows that no requests queue.
pub const UNQUEUED: f64 = 2.0;
/// The jitter of a wake-up in microseconds.
pub const JITTER_US: f64 = 50.0;

/// The share of the connections that must have a request in flight on average for requests to wait for each other.
pub const MOST_IN_FLIGHT: f64 = 0.5;
/// The mean response time as a multiple of the least, from which requests wait.
pub const WAITED: f64 = 2.0;
/// The mean response time as a multiple of the least, from which a limiter may hold requests back.
pub const HELD_BACK: f64 = 10.0;
/// Connections per second from which they are the server's rather than those of other programs on its machine.
pub const MANY_OPENED_PER_S: f64 = 200.0;
/// The database's share of the machine's CPU from which it does much of the work.
pub const DATABASE_WORKS: f64 = 0.25;
/// The share of the machine's CPU below which CPU is spare.
pub const SPARE_CPU: f64 = 0.8;
/// The share of a pool's connections that must have a request in flight for the pool to be exhausted, in a single run.
pub const PASSIVE_POOL_IN_USE: f64 = 0.6;
/// The number of requests in service below which a limiter may delay them.
pub const HARDLY_ONE: f64 = 0.4;
/// The most threads that hold a request if they are no more than requests in service: a ratio, and a number of threads beyond it.
pub const PASSIVE_THREADS: (f64, f64) = (1.5, 0.5);
/// The share of the connections with a request in the server below which the others were not read.
pub const FEW_IN_HAND: f64 = 0.4;
/// The share of the generator's connections below which a pool is smaller than the demand.
pub const SMALL_POOL: f64 = 0.5;

// Streams of events in a single run.
/// The median time to the first event as a multiple of the least, and the microseconds beyond it, from which streams wait for each
/// other: twice or more is what an uneven load of a language model does to equal requests.
pub const FIRST_EVENT_WAITS: (f64, f64) = (3.0, 20_000.0);
/// The 99th percentile of the gaps between events as a multiple of the median, and microseconds beyond that, up to which events come
/// at an even pace.
pub const STEADY_GAPS: (f64, f64) = (2.0, 10_000.0);

// Streams of events in a closed loop.
/// The share of the wanted streams that may wait for a first event beyond what chance explains.
pub const STREAMS_WAIT: f64 = 0.03;
/// The standard deviations of a random count that are no queue of streams.
pub const STREAMS_DEVIATIONS: f64 = 4.0;

// The diagnosis of streams of events.
/// The length of a load in seconds, for a budget of a minute.
pub const STREAM_S: f64 = 2.0;
/// The events of one stream that a load lasts, if they are rare.
pub const STREAM_EVENTS: f64 = 12.0;
/// The lengths of a stream that a load lasts, if streams end.
pub const STREAM_LENGTHS: f64 = 3.0;
/// The length that a load should have, as a multiple of the usual length, from which one stream is measured again for as long.
pub const LONG_STREAM: f64 = 1.2;
/// The share of the events of one stream alone that each of several streams has at least, if nothing limits them.
pub const PACE_KEPT: f64 = 0.85;
/// As [`PACE_KEPT`], where twice the streams have no more events.
pub const WHOLE_PACE: f64 = 0.95;
/// As [`PACE_KEPT`], of the loads below the user's, which are a few streams in part.
pub const RUNGS_KEPT: f64 = 0.75;
/// The number of streams that prove by their own pace that streams do not slow each other.
pub const PROVED_FROM: usize = 8;
/// The median gap as a multiple of that of one stream alone, and the microseconds beyond that, up to which gaps are the same.
pub const GAPS_KEPT: (f64, f64) = (1.25, 2_000.0);
/// The growth of events per second with twice the streams below which they do not grow.
pub const FLAT_STREAMS: f64 = 1.25;
/// The number of streams that began in a load, as a multiple of those at a time, above which streams follow each other.
pub const TURNED_OVER: f64 = 1.5;

// Schedules that were kept.
/// The backlog at the end of a run as a multiple of the requests that were in flight on average. Little's law makes it 1 where the
/// backlog is steady, and 2 where it has grown from nothing throughout the run.
pub const BACKLOG_GREW: f64 = 1.6;
/// The backlog at the end of a run in stages as such a multiple. Stages may end at their highest rate, with more than the average in
/// flight.
pub const BACKLOG_GREW_IN_STAGES: f64 = 3.0;
/// Standard deviations of a random count that are no growth.
pub const BACKLOG_DEVIATIONS: f64 = 3.0;
/// Requests beyond that which may be in flight when a run ends, whatever its rate.
pub const FEW_IN_FLIGHT: f64 = 2.0;
/// The share of all requests that bounds a steady backlog, where response times show that it had grown for a while. A backlog that grows
/// throughout the run exceeds the bound of a steady one by a fifth of itself, so some 4% too many requests are noticed.
pub const BACKLOG_SHARE: f64 = 0.004;
/// The seconds whose requests bound a steady backlog in a run of any length.
pub const BACKLOG_S: f64 = 1.0;
/// The share of all requests above which a backlog shows that the service has stalled.
pub const STALLED: f64 = 0.05;
/// The seconds, or the share of a shorter run, whose requests are not a backlog but a pause of the machine, as when other programs
/// use its CPU.
pub const MACHINE_PAUSE: (f64, f64) = (0.2, 0.2);
/// The 90th percentile of response times as a share of the time by which responses are behind, from which a backlog has grown for a
/// while.
pub const BACKLOG_LATE: f64 = 0.25;
/// The 99th percentile of the send lag as a share of a time without responses, from which it was the generator that paused.
pub const OWN_PAUSE: f64 = 0.5;
/// The number of responses below which a run of so many requests shows no limit: not even its median is known.
pub const FEW_RESPONSES: u64 = 10;
/// The share of `--max-rate` from which a closed loop ran at it.
pub const AT_THE_CAP: f64 = 0.95;
/// The share of the slots with a request in flight from which the connections, and not the cap, may have held a closed loop back.
pub const ALL_IN_USE: f64 = 0.95;

/// The 99th percentile of the response times as a multiple of the median, and microseconds beyond it, from which a rate that was kept has
/// a tail worth a headline.
pub const TAIL: (f64, f64) = (20.0, 20_000.0);
/// The number of times without a response on any connection from which they are no chance of a single moment.
pub const STALLS: u64 = 3;
/// The number of responses that would have come in such a time, from which on it is no chance: one in e^20.
pub const STALLED_RESPONSES: f64 = 20.0;
/// The share of the samples in which a thread was stopped from which that is reported.
pub const STOPPED: f64 = 0.02;

// The network in a single run.
/// The range in microseconds of response times that a delayed acknowledgement of 40 ms causes.
pub const PASSIVE_ACK_DELAY_US: std::ops::RangeInclusive<u64> = 38_000..=50_000;
/// The share of retransmitted segments from which the network loses packets.
pub const LOSSY: f64 = 0.001;
/// The bytes that must queue on a saturated link: two packets of Ethernet.
pub const LINK_QUEUE_BYTES: f64 = 3000.0;
/// The share of the time that TLS handshakes must take to be the limit.
pub const MOSTLY_TLS: f64 = 0.3;
/// The round-trip time in microseconds above which the network may be the limit.
pub const LONG_WAY_US: u64 = 500;
/// The round-trip time in microseconds below which a delayed acknowledgement can be distinguished from the network's delay.
pub const SHORT_WAY_US: u64 = 10_000;
/// The time in milliseconds that an acknowledgement adds if it is sent with the response.
pub const LATE_ACK_MS: f64 = 50.0;

// The procedure.
/// The time-out of a request as a share of the budget.
pub const TIMEOUT_SHARE: f64 = 1.0 / 6.0;
/// The divisor of the budget that bounds the wait for a service to finish requests without a response.
pub const LONGEST_DRAIN: u32 = 30;
/// The share of the budget after which no further rule is applied.
pub const LAST_RULE: f64 = 0.9;
/// The share of the budget after which fewer pairs are run.
pub const LITTLE_BUDGET: f64 = 0.6;
/// The share of the budget after which the fewest pairs are run, even if they vary.
pub const NO_BUDGET: f64 = 0.8;
/// The share of its periods from which the generator's own quota throttles it.
pub const GENERATOR_THROTTLED: f64 = 0.2;
/// The ratio of throughput that another thread of the generator must bring.
pub const MORE_THREADS_BETTER: f64 = 1.05;
/// The ratio of throughput that twice as many agents must bring.
pub const MORE_AGENTS_BETTER: f64 = 1.1;
/// Connections that a proxy opens for each request from which it has no keep-alive.
pub const UPSTREAM_OPENS: f64 = 0.3;
/// The ratio of requests of two loads from which their difference is attributed to requests.
pub const LOADS_APART: f64 = 2.0;
/// The share of the local ports of the server's machine in TIME_WAIT from which hardly any is left: some ports are those of
/// listeners and of connections that are open.
pub const PORTS_TAKEN: f64 = 0.9;
