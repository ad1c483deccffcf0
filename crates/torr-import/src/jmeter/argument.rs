//! Arguments: variables of the plan, and parameters of requests.

use super::element::Element;
use roxmltree::Node;

/// A parameter of a request.
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) value: String,
    /// Whether the value is to be percent-encoded; otherwise it is already.
    pub(super) encode: bool,
}

/// Returns the parameters of a request, or of its defaults.
pub(super) fn of_request(element: &Element<'_, '_>) -> Vec<Argument> {
    let list = element.inner("HTTPsampler.Arguments").map(|arguments| arguments.list("Arguments.arguments"));
    let argument = |item: &Element<'_, '_>| Argument {
        name: item.text("Argument.name"),
        value: item.text("Argument.value"),
        encode: item.is_true("HTTPArgument.always_encode"),
    };
    list.unwrap_or_default().iter().map(argument).collect()
}

/// Returns all user-defined variables of a plan, names and values: JMeter defines them before the run, wherever they stand.
pub(super) fn definitions(root: Node<'_, '_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for node in root.descendants().filter(Node::is_element) {
        let element = Element::from(node);
        if !element.is_enabled() {
            continue;
        }
        let list = match element.tag() {
            "TestPlan" => {
                element.inner("TestPlan.user_defined_variables").map(|inner| inner.list("Arguments.arguments"))
            }
            "Arguments" => Some(element.list("Arguments.arguments")),
            _ => None,
        };
        for item in list.unwrap_or_default() {
            found.extend(item.value("Argument.name").map(|name| (name, item.text("Argument.value"))));
        }
    }
    found
}
