//! From a command line to the commands that a report prints. Secrets do not go into reports, which are kept and passed on: a shell's
//! variable stands for each of them.

use crate::flags::secret;
use torr_doctor::{Invocation, SecretVariables, quoted};
use torr_gauge::redact;
use torr_load::{Given, Load, Secret};
use torr_plan::target;
use torr_press::Target;

/// Returns the request and the way there of a load, for the commands that load its target again.
pub fn invocation(load: &Load) -> Invocation {
    let url = load.targets.first().map(|url| match target::is_file(url) {
        true => url.clone(),
        false => Target::parse_any(url).map_or_else(|_| url.clone(), |target| target.as_given()),
    });
    let mut again = Invocation::default();
    url.iter().for_each(|url| _ = again.variables.get_mut().url(url));
    again.url = url;
    for given in load.given_of_requests() {
        let words = words(&given, again.variables.get_mut());
        let into = if given.id == "streams" { &mut again.streams } else { &mut again.request };
        into.extend(words);
    }
    again
}

/// Returns a positional argument as a word of a shell.
pub fn word(id: &str, value: &str, variables: &mut SecretVariables) -> String {
    match Target::parse_any(value) {
        Ok(target) if ["target", "url"].contains(&id) && redact::url(value) != value => {
            variables.url(&target.as_given())
        }
        _ => hidden(id, id, value, variables).unwrap_or_else(|| quoted(value)),
    }
}

/// Returns a value as a word of a shell without its secrets; `None` if it has none.
fn hidden(id: &str, name: &str, value: &str, variables: &mut SecretVariables) -> Option<String> {
    secret::hides(id, value).then(|| variables.secret_value(name, value))
}

/// Returns a flag and its value, as words of a shell.
pub fn words(flag: &Given, variables: &mut SecretVariables) -> Vec<String> {
    let mut words = vec![flag.name.clone()];
    let Some(value) = &flag.value else { return words };
    let secret = flag.setting().map_or(Secret::Nothing, |setting| setting.secret);
    let hides = |name: &str| redact::is_secret_field(name) || secret::hides(&flag.id, value);
    let field = (secret == Secret::Field).then(|| value.split_once(':')).flatten();
    let field = field.filter(|(name, _)| is_plain(name) && hides(name));
    let word = match (secret, field) {
        (Secret::Whole(name), _) => format!("\"${}\"", variables.variable(name, &flag.name, value)),
        (_, Some((name, value))) => {
            let meaning = format!("the field {name}");
            format!("\"{name}: ${}\"", variables.variable(&format!("TORR_{name}"), &meaning, value.trim()))
        }
        (_, None) => match hidden(&flag.id, &flag.name, value, variables) {
            Some(word) => word,
            // A value that looks like a flag is taken for one, unless it is joined to its own.
            None if value.starts_with('-') => return vec![format!("{}={}", flag.name, quoted(value))],
            None => quoted(value),
        },
    };
    words.push(word);
    words
}

/// Returns whether a shell leaves a field's name as it is between quotation marks.
fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
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
        let filled = variables.iter().fold(command.to_owned(), |text, (name, value)| {
            let ends = ["\"", "@"];
            ends.iter().fold(text, |text, end| text.replace(&format!("${name}{end}"), &format!("{value}{end}")))
        });
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
        assert_eq!(again.variables.borrow().meanings(), []);
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
            "-H",
            "Referer: http://u:s3cret6@f/",
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
            ("TORR_URL_USER", "me:s3cret0"),
            ("TORR_AUTHORIZATION", "s3cret1"),
            ("TORR_X_API_KEY", "s3cret2"),
            ("TORR_REFERER", "http://u:s3cret6@f/"),
            ("TORR_COOKIE", "id=s3cret3"),
            ("TORR_COOKIE_2", "id=s3cret4"),
            ("TORR_PROXY_USER", "p:s3cret5"),
        ];
        let meanings = again.variables.borrow().meanings();
        assert_eq!(meanings.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), variables.map(|(name, _)| name));
        let words = shell(&command, &variables);
        let second = parsed(&words[1..].iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(second.request.headers, first.request.headers);
        assert_eq!(
            (second.request.cookies, second.transport.proxy_user),
            (first.request.cookies, first.transport.proxy_user)
        );
        assert_eq!(second.targets, first.targets);
        let token = parsed(&["http://h/", "--oauth2-bearer", "s3cret"]);
        assert!(invocation(&token).press(&[]).ends_with("--oauth2-bearer \"$TORR_TOKEN\""));
    }
}
