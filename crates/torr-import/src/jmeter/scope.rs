//! What holds for all requests of a level and below: defaults, header managers, timers, assertions, extractors.

use super::element::Element;

/// Listeners: Torr reports by itself.
pub(super) const LISTENERS: &[&str] =
    &["ResultCollector", "Summariser", "BackendListener", "ResultSaver", "ResultAction"];

/// Elements of JMeter that take values from responses.
const EXTRACTORS: &[&str] = &[
    "RegexExtractor",
    "JSONPostProcessor",
    "JMESPathExtractor",
    "BoundaryExtractor",
    "XPathExtractor",
    "XPath2Extractor",
    "HtmlExtractor",
];

/// Why listeners are left out.
pub(super) const OWN_REPORT: &str = "Torr has its own reports";

/// The elements that hold for requests.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope<'d, 'x> {
    /// Defaults of requests, the innermost first.
    pub(super) defaults: Vec<Element<'d, 'x>>,
    /// Header managers, the outermost first.
    pub(super) headers: Vec<Element<'d, 'x>>,
    pub(super) cookies: Vec<Element<'d, 'x>>,
    pub(super) credentials: Vec<Element<'d, 'x>>,
    pub(super) timers: Vec<Element<'d, 'x>>,
    pub(super) assertions: Vec<Element<'d, 'x>>,
    pub(super) extractors: Vec<Element<'d, 'x>>,
}

/// What an element is for the requests around it.
enum Role {
    Defaults,
    Headers,
    Cookies,
    Credentials,
    Timer,
    Assertion,
    Extractor,
    /// Something that is read elsewhere or that means nothing here.
    Passed,
}

fn role(element: &Element<'_, '_>) -> Option<Role> {
    let tag = element.tag();
    Some(match tag {
        "ConfigTestElement" if element.gui() == "HttpDefaultsGui" => Role::Defaults,
        "HeaderManager" => Role::Headers,
        "CookieManager" => Role::Cookies,
        "AuthManager" => Role::Credentials,
        "ConstantTimer" | "UniformRandomTimer" | "GaussianRandomTimer" | "PoissonRandomTimer" => Role::Timer,
        tag if EXTRACTORS.contains(&tag) => Role::Extractor,
        "Arguments" => Role::Passed,
        tag if LISTENERS.contains(&tag) => Role::Passed,
        tag if tag.ends_with("Assertion") => Role::Assertion,
        _ => return None,
    })
}

impl<'d, 'x> Scope<'d, 'x> {
    /// Whether an element is part of scopes, so that it is no element of the walk.
    pub(super) fn takes(element: &Element<'d, 'x>) -> bool {
        role(element).is_some()
    }

    /// Returns the scope within elements: what is enabled among them holds there too.
    pub(super) fn within(&self, elements: &[Element<'d, 'x>]) -> Self {
        let mut scope = self.clone();
        for element in elements.iter().filter(|element| element.is_enabled()) {
            let to = match role(element) {
                Some(Role::Defaults) => {
                    scope.defaults.insert(0, *element);
                    continue;
                }
                Some(Role::Headers) => &mut scope.headers,
                Some(Role::Cookies) => &mut scope.cookies,
                Some(Role::Credentials) => &mut scope.credentials,
                Some(Role::Timer) => &mut scope.timers,
                Some(Role::Assertion) => &mut scope.assertions,
                Some(Role::Extractor) => &mut scope.extractors,
                Some(Role::Passed) | None => continue,
            };
            to.push(*element);
        }
        scope
    }
}
