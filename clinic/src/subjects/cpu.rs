//! CPUs that are busy: one of them, all of them, or as much of them as a quota allows.

use super::node::node;
use crate::environment::Environment;
use crate::subject::Subject;
use torr_gauge::Factor::{CpuQuota, ServerCpu, SingleCore};
use torr_gauge::machine::cpus;
use torr_test_support::error::Error;

/// Starts the clinic's own service, whose handler computes.
fn burning(env: &mut Environment, server: &str, handler: &str) -> Result<String, Error> {
    env.service(&["--server", server, "--handler", handler])
}

/// Starts a gunicorn that computes.
fn gunicorn(env: &mut Environment, application: &str) -> Result<String, Error> {
    env.gunicorn(application, &["--workers", "4", "--threads", "4", "--keep-alive", "30"])
}

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("single-core-loop", SingleCore, |env| burning(env, "loop", "burn=1ms"))
            .cured(|env| burning(env, &format!("loops={}", cpus()), "burn=1ms")),
        Subject::fault("single-core-uvicorn", SingleCore, |env| env.uvicorn("compute", &[]))
            .cured(|env| env.uvicorn("compute", &["--workers", &cpus().to_string()]))
            .needs(&["uvicorn"]),
        Subject::fault("single-core-node", SingleCore, |env| node(env, "300", 1))
            .cured(|env| node(env, "300", cpus()))
            .needs(&["node"]),
        Subject::fault("single-core-torr", SingleCore, |env| Ok(env.torr_serve(&["--workers", "1"])? + "/cpu/500"))
            .cured(|env| Ok(env.torr_serve(&[])? + "/cpu/500")),
        Subject::fault("server-cpu-torr", ServerCpu, |env| Ok(env.torr_serve(&[])? + "/cpu/2000"))
            .cured(|env| Ok(env.torr_serve(&[])? + "/cpu/1000")),
        Subject::fault("server-cpu-pool", ServerCpu, |env| burning(env, "pool=8", "burn=2ms"))
            .cured(|env| burning(env, "pool=8", "burn=1ms")),
        Subject::fault("server-cpu-gunicorn", ServerCpu, |env| gunicorn(env, "compute"))
            .cured(|env| gunicorn(env, "compute_half"))
            .needs(&["gunicorn"]),
        Subject::fault("cpu-quota-torr", CpuQuota, |env| {
            env.placement = env.quota(25)?;
            Ok(env.torr_serve(&[])? + "/cpu/500")
        })
        .cured(|env| Ok(env.torr_serve(&[])? + "/cpu/500"))
        .for_root(),
        Subject::fault("cpu-quota-pool", CpuQuota, |env| {
            env.placement = env.quota(30)?;
            burning(env, "pool=8", "burn=200us")
        })
        .cured(|env| burning(env, "pool=8", "burn=200us"))
        .for_root(),
        Subject::fault("cpu-quota-node", CpuQuota, |env| {
            env.placement = env.quota(40)?;
            node(env, "100", 1)
        })
        .cured(|env| node(env, "100", 1))
        .for_root()
        .needs(&["node"]),
    ]
}
