//! What every setting has in common.

use super::*;

#[test]
fn names_of_files_are_one_line() {
    for key in ["pid_file", "tls_cert", "tls_key", "tls_client_ca", "access_log"] {
        let setting = SETTINGS.iter().find(|setting| setting.key == key).expect("it is there");
        let take = |text: &str| (setting.take)(&mut ServeConfig::default(), text);
        assert_eq!((take("/a b/c.pem"), take("")), (Some(()), Some(())), "{key}");
        for bad in ["a\nb", "a\0", "a\u{1b}[2J"] {
            assert_eq!(take(bad), None, "{key}: {bad:?}");
        }
    }
}

#[test]
fn what_is_shown_is_taken_again_and_is_the_same() {
    for setting in SETTINGS {
        let mut chosen = ServeConfig::default();
        let text = (setting.text)(&chosen);
        assert_eq!((setting.take)(&mut chosen, &text), Some(()), "{}: {text}", setting.key);
        assert_eq!((setting.text)(&chosen), text, "{}", setting.key);
    }
}

#[test]
fn a_file_can_hold_the_largest_numbers() {
    for setting in SETTINGS.iter().filter(|setting| setting.kind == Kind::Number) {
        let take = |text: &str| (setting.take)(&mut ServeConfig::default(), text);
        assert_eq!(take("9223372036854775808"), None, "{}", setting.key);
        assert_eq!(take("-1"), None, "{}", setting.key);
    }
}
