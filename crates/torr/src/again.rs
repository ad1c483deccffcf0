//! From a command line to the commands that a report prints. Secrets do not go into reports, which are kept and passed on: a shell's
//! variable stands for each of them.

use crate::flags::secret;
use crate::target;
use torr_doctor::{Invocation, UrlWord, quoted};
use torr_gauge::redact;
use torr_load::{Given, Load, Secret};
use torr_press::Target;

/// Returns the request and the way there of a load, for the commands that load its target again.
pub fn invocation(load: &Load) -> Invocation {
    let url = load.targets.first().map(String::as_str);
    let file = url.filter(|url| target::is_file(url));
    let target = url.filter(|_| file.is_none()).and_then(|url| Target::parse(url).ok());
    let given_url = url;
    let url = file.map(str::to_owned).or(target.as_ref().map(|target| target.url.clone()));
    let variables = url.as_deref().or(given_url).map_or_else(Vec::new, |url| UrlWord::of(url).variables);
    let mut again = Invocation { url, variables, ..Invocation::default() };
    for given in load.given_of_requests() {
        let words = words(&given, &mut again.variables);
        let into = if given.id == "streams" { &mut again.streams } else { &mut again.request };
        into.extend(words);
    }
    // What stands in a URL counts only where no flag says otherwise.
    let has_user = load.request.user.is_some() || load.request.oauth2_bearer.is_some();
    if !has_user && target.is_some_and(|target| target.has_userinfo()) {
        let variable = variable("TORR_USER", "user and password of the URL", &mut again.variables);
        again.request.extend(["--user".to_owned(), format!("\"${variable}\"")]);
    }
    again
}

/// Returns a positional argument as a word of a shell, or as two: the URL without user and password, and the flag that gives these.
pub fn word(id: &str, value: &str, variables: &mut Vec<(String, String)>) -> String {
    let target = ["target", "url"].contains(&id).then(|| Target::parse(value).ok()).flatten();
    if let Some(target) = target.filter(|target| target.has_userinfo() || target.shown() != target.url) {
        let url = UrlWord::of(&target.url);
        variables.extend(url.variables);
        if !target.has_userinfo() {
            return url.word;
        }
        let variable = variable("TORR_USER", "user and password of the URL", variables);
        return format!("{} --user \"${variable}\"", url.word);
    }
    let name = if id == "target" { "url" } else { id };
    hidden(id, name, value, variables).unwrap_or_else(|| quoted(value))
}

/// Returns the variable that stands for a whole value, if there is a secret in the value.
fn hidden(id: &str, name: &str, value: &str, variables: &mut Vec<(String, String)>) -> Option<String> {
    let name = name.trim_start_matches('-');
    let upper = name.to_ascii_uppercase().replace('-', "_");
    secret::hides(id, value).then(|| format!("\"${}\"", variable(&format!("TORR_{upper}"), name, variables)))
}

/// Returns a flag and its value, as words of a shell.
pub fn words(flag: &Given, variables: &mut Vec<(String, String)>) -> Vec<String> {
    let mut words = vec![flag.name.clone()];
    let Some(value) = &flag.value else { return words };
    let secret = flag.setting().map_or(Secret::Nothing, |setting| setting.secret);
    let field = (secret == Secret::Field).then(|| value.split_once(':')).flatten().filter(|(name, _)| is_secret(name));
    let word = match (secret, field) {
        (Secret::Whole(name), _) => format!("\"${}\"", variable(name, &flag.name, variables)),
        (_, Some((name, _))) => {
            let upper: String =
                name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
            let variable = variable(&format!("TORR_{upper}"), &format!("the field {name}"), variables);
            format!("\"{name}: ${variable}\"")
        }
        (_, None) => match hidden(&flag.id, &flag.name, value, variables) {
            Some(variable) => variable,
            // A value that looks like a flag is taken for one, unless it is joined to its own.
            None if value.starts_with('-') => return vec![format!("{}={}", flag.name, quoted(value))],
            None => quoted(value),
        },
    };
    words.push(word);
    words
}

/// Whether a field of this name carries a secret. The name has to be one that a shell leaves as it is between quotation marks.
fn is_secret(name: &str) -> bool {
    redact::is_secret_field(name) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// Notes a variable, with a number where there is one of this name already.
fn variable(name: &str, what: &str, variables: &mut Vec<(String, String)>) -> String {
    let same =
        variables.iter().filter(|(known, _)| known.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_') == name);
    let name = match same.count() {
        0 => name.to_owned(),
        n => format!("{name}_{}", n + 1),
    };
    variables.push((name.clone(), what.to_owned()));
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use torr_load::Sent;

    #[derive(Debug, Parser)]
    struct Only {
        url: String,
        #[command(flatten)]
        load: Sent,
    }

    fn parsed(words: &[&str]) -> Load {
        let only = Only::try_parse_from([&["torr"], words].concat());
        let Only { url, load } = only.unwrap_or_else(|error| panic!("{words:?}: {error}"));
        load.to(Some(&url), true)
    }

    /// The words of the printed command, as a shell would make them with these variables.
    fn shell(command: &str, variables: &[(&str, &str)]) -> Vec<String> {
        let filled = variables
            .iter()
            .fold(command.to_owned(), |text, (name, value)| text.replace(&format!("${name}\""), &format!("{value}\"")));
        shlex::split(&filled).expect("its quotes are closed")
    }

    #[test]
    fn a_field_whose_name_a_shell_could_change_is_hidden_as_a_whole() {
        let again = invocation(&parsed(&["http://h/", "-H", "X.Api.Key: s3cret"]));
        let command = again.press(&[]);
        assert!(command.ends_with("--header \"$TORR_HEADER\""), "{command}");
    }

    #[test]
    fn a_file_and_its_variables_are_given_again_but_for_secrets() {
        let only = parsed(&["shop cart.hurl", "--variable", "host=a b", "--secret", "token=geheim"]);
        let again = invocation(&only);
        let command = again.press(&[("-c", &1)]);
        assert_eq!(command, "torr 'shop cart.hurl' --variable 'host=a b' --secret \"$TORR_SECRET\" -c 1");
    }

    #[test]
    fn what_is_printed_is_what_was_given() {
        let line = [
            "https://h:1/a?b=$c&d='e'",
            "--cacert",
            "ca file.pem",
            "-X",
            "PUT",
            "-H",
            "X-Odd: it's \"$HOME\"",
            "--data",
            "first=1",
            "--data-urlencode",
            "b=c d",
            "--data-raw",
            "-@x",
            "--url-query",
            "q=1",
            "-A",
            "",
            "-e",
            "http://from/",
            "--compressed",
            "--feeder=records.csv",
            "--feeder-order",
            "random",
            "--bind",
            "127.0.0.2,127.0.0.3",
            "--resolve",
            "h:1:127.0.0.1",
            "--resolve",
            "[::2]:1:[::1]",
            "--http2",
            "--streams",
            "4",
            "--sni=other",
            "--tlsv1.3",
            "--cert",
            "c.pem",
            "--key",
            "k.pem",
            "--tls-resumption",
            "full",
        ];
        let first = parsed(&line);
        let again = invocation(&first);
        assert_eq!(again.variables, []);
        let words = shell(&again.press(&[]), &[]);
        let second = parsed(&words[1..].iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(first, second);
        // The order of pieces of data is that of the body.
        let order: Vec<_> =
            second.given().into_iter().map(|given| given.id).filter(|id| id.starts_with("data")).collect();
        assert_eq!(order, ["data", "data-urlencode", "data-raw"]);
    }

    #[test]
    fn secrets_are_variables() {
        let line = [
            "http://me:s3cret0@h/",
            "-H",
            "Authorization: s3cret1",
            "-H",
            "X-Api-Key: s3cret2",
            "-H",
            "Accept: text/plain",
            "-b",
            "id=s3cret3",
            "-b",
            "id=s3cret4",
            "-x",
            "http://p:1",
            "--proxy-user",
            "p:s3cret5",
        ];
        let first = parsed(&line);
        let again = invocation(&first);
        let command = again.press(&[]);
        assert!(!command.contains("s3cret"), "{command}");
        let variables = [
            ("TORR_AUTHORIZATION", "s3cret1"),
            ("TORR_X_API_KEY", "s3cret2"),
            ("TORR_COOKIE", "id=s3cret3"),
            ("TORR_COOKIE_2", "id=s3cret4"),
            ("TORR_PROXY_USER", "p:s3cret5"),
            ("TORR_USER", "me:s3cret0"),
        ];
        let names: Vec<_> = again.variables.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, variables.map(|(name, _)| name));
        let words = shell(&command, &variables);
        let second = parsed(&words[1..].iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(second.request.headers, first.request.headers);
        assert_eq!(
            (second.request.cookies, second.transport.proxy_user),
            (first.request.cookies, first.transport.proxy_user)
        );
        assert_eq!((second.request.user.as_deref(), second.targets[0].as_str()), (Some("me:s3cret0"), "http://h/"));
        let token = parsed(&["http://h/", "--oauth2-bearer", "s3cret"]);
        assert!(invocation(&token).press(&[]).ends_with("--oauth2-bearer \"$TORR_TOKEN\""));
    }
}
