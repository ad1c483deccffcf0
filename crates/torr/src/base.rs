//! The plan of what `torr doctor`, `torr limit` and `torr once` load: a URL, a hurl file, or a script. Of the plan only how hard to press
//! is left to say.

use crate::exit::{self, CliError};
use crate::k6::K6Sessions;
use crate::press::permission;
use crate::script::{self, Script, ScriptSettings};
use crate::session;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use torr_grpc::Method;
use torr_load::{Load, is_grpc};
use torr_plan::grpc::{self, Call};
use torr_plan::input::Input;
use torr_plan::permit::{self, Permit};
use torr_plan::session::files::Given;
use torr_plan::target::{TargetKind, plan_as_target};
use torr_plan::transport::finder;
use torr_plan::{request, url, variables};
use torr_press::Plan;
use torr_press::request::Options;
use torr_script::Printing;

/// A plan, with what its requests are made of.
pub struct Base {
    pub plan: Plan,
    /// The options of the requests of a URL; of files they are not known.
    pub options: Options,
    /// The method of a `grpc://` URL.
    pub method: Option<Arc<Method>>,
    /// The variables of sessions and scripts.
    pub given: Given,
    pub script: Option<Script>,
    /// The script of k6 whose iterations are the sessions.
    pub k6: Option<K6Sessions>,
}

impl Base {
    /// Returns the plan of a command line whose service may be loaded until it fails: `command` does that. Of a script of k6, `setup` and
    /// one iteration run, which tell where its requests go.
    ///
    /// # Errors
    /// The errors of [`Base::of`], and if a server is neither on this machine nor in a private network, unless the user has vouched for it.
    pub fn permitted(load: &Load, vouched_for: bool, command: &str) -> Result<Self, CliError> {
        let may_get = |plan: &Plan| permission::ask(plan, vouched_for, command);
        let base = match TargetKind::of(&load.targets)? {
            TargetKind::K6(path) => {
                let (k6, plan) = K6Sessions::begin(load, &path, vouched_for, command)?;
                Self {
                    plan,
                    options: Options::default(),
                    method: None,
                    given: Given::default(),
                    script: None,
                    k6: Some(k6),
                }
            }
            _ => Self::of_permitted(load, &may_get)?,
        };
        may_get(&base.plan)?;
        Ok(base)
    }

    /// Adds what a load awaits of responses that are streams of events, if its requests go to a URL.
    ///
    /// # Errors
    /// For a limit of streams where a method of gRPC returns one message.
    pub fn with_streams(self, load: &Load) -> Result<Self, CliError> {
        if self.plan.work.users().is_some() {
            return Ok(self);
        }
        Ok(Self { plan: url::with_streams(load, self.plan)?, ..self })
    }

    /// Returns the plan of a command line.
    ///
    /// # Errors
    /// If the target is none, or does not go with a flag; for a mistake in a file, with its position.
    pub fn of(load: &Load) -> Result<Self, CliError> {
        Self::of_permitted(load, &permit::any)
    }

    fn of_permitted(load: &Load, permit: Permit<'_>) -> Result<Self, CliError> {
        match (TargetKind::of(&load.targets)?, load.script.as_deref()) {
            (TargetKind::Url(Some(url)), None) if is_grpc(&url) => {
                let Call { plan, options, method } = grpc::call(load, &url, permit)?;
                Ok(Self { plan, options, method: Some(method), given: Given::default(), script: None, k6: None })
            }
            (TargetKind::Url(url), None) => {
                let (plan, options) = url::base_and_options(load, url.as_deref(), permit)?;
                Ok(Self { plan, options, method: None, given: Given::default(), script: None, k6: None })
            }
            (TargetKind::Url(url), Some(path)) => scripted(load, url.as_deref(), path, permit),
            (TargetKind::Script(path), None) => {
                let url = script::target(&path, &load.request.files, Printing::Stderr)?;
                scripted(load, Some(&url), &path, permit)
            }
            (TargetKind::Script(path), Some(_)) => Err(script::stands_alone(&path)),
            (TargetKind::Sessions(files), _) => {
                let [file] =
                    <[_; 1]>::try_from(files).map_err(|_| CliError::Usage("one hurl file at a time".into()))?;
                let given = Given::of(&load.session.variables)?;
                let plan = session::base(file, given.clone(), load)?;
                Ok(Self { plan, options: Options::default(), method: None, given, script: None, k6: None })
            }
            (TargetKind::K6(path), _) => Err(crate::k6::only_runs(&path)),
            (TargetKind::Plan(path), _) => Err(plan_as_target(&path).into()),
        }
    }

    /// Prints the error that ended a run, if the script had one, and returns the exit code.
    pub fn script_failed(script: Option<&Script>) -> Option<ExitCode> {
        exit::failed(&script.and_then(Script::error).into_iter().collect::<Vec<_>>())
    }

    /// Ends the scripts of a command after its last run: `teardown` of one of k6 runs. Returns the exit code if a script has failed.
    pub fn scripts_failed(script: Option<&Script>, k6: Option<K6Sessions>) -> Option<ExitCode> {
        let torn_down = k6.and_then(K6Sessions::finish);
        Self::script_failed(script).or(torn_down)
    }
}

fn scripted(load: &Load, url: Option<&str>, path: &Path, permit: Permit<'_>) -> Result<Base, CliError> {
    let (plan, _) = url::base_and_options(load, url, permit)?;
    // A state for each thread that an experiment can have.
    let plan = Plan { connections: plan.connections.max(plan.threads), ..plan };
    let texts = variables::values(&load.session.variables, &mut Input::default())?;
    let secrets: Vec<_> = variables::secrets(&load.session.variables).collect();
    let settings = ScriptSettings {
        path,
        files: &load.request.files,
        arguments: &load.arguments,
        variables: texts.clone().into_iter().collect(),
        secrets: secrets.clone(),
        feeder: request::records(&load.request)?,
        feeder_order: load.request.feeder_order(),
        // Standard output belongs to the report.
        printing: Printing::Stderr,
        stream: &load.stream,
        find: Box::new(finder(&load.transport)),
    };
    let script = Script::load(&plan, settings)?;
    // Also of a script that decides nothing during the load the requests are its own, and no other is tried instead.
    let plan = script.plan_of_users(plan);
    Ok(Base {
        plan,
        options: Options::default(),
        method: None,
        given: Given::of_texts(texts, secrets),
        script: Some(script),
        k6: None,
    })
}
