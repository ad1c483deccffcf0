//! Properties that the elements of some tags have beside those of all elements.

use rquickjs::{Ctx, IntoJs, Object, Result, Value};
use torr_xpath::Node;
use url::{Url, quirks};

use super::document::Document;
use super::form::{Control, control, option_value};
use super::node::{Element, TagMethods, list, method, optional};

/// What a property is.
#[derive(Clone, Copy)]
enum Property {
    /// The text of an attribute, or else this text.
    Text(&'static str, &'static str),
    /// The address in an attribute, absolute where that of the page is known.
    Address(&'static str),
    /// Whether an attribute is present.
    Flag(&'static str),
    /// The whole number in an attribute, or else this number.
    Number(&'static str, i32),
    /// The words of an attribute.
    Words(&'static str),
    /// The number in an attribute, which may have a fraction, or else this one.
    Real(&'static str, f64),
    /// One text for all elements.
    Always(&'static str),
    /// A text that is computed.
    Made(fn(&Document, Node) -> String),
    /// A number that is computed.
    Counted(fn(&Document, Node) -> f64),
    /// A truth value that is computed.
    Known(fn(&Document, Node) -> bool),
    /// Another element.
    Other(fn(&Document, Node) -> Option<Node>),
    /// Other elements.
    Others(fn(&Document, Node) -> Vec<Node>),
}

use Property::{Address, Always, Counted, Flag, Known, Made, Number, Other, Others, Real, Text, Words};

type Table = &'static [(&'static str, Property)];

const LINK: Table = &[
    ("accessKey", Text("accesskey", "")),
    ("download", Text("download", "")),
    ("hash", Made(|document, node| part(document, node, quirks::hash, Part::Hash))),
    ("host", Made(|document, node| part(document, node, quirks::host, Part::None))),
    ("hostname", Made(|document, node| part(document, node, quirks::hostname, Part::None))),
    ("href", Address("href")),
    ("hrefLang", Text("hreflang", "")),
    ("origin", Made(|document, node| absolute(document, node).map(|url| quirks::origin(&url)).unwrap_or_default())),
    ("password", Made(|document, node| part(document, node, quirks::password, Part::None))),
    ("pathname", Made(|document, node| part(document, node, quirks::pathname, Part::Path))),
    ("port", Made(|document, node| part(document, node, quirks::port, Part::None))),
    ("protocol", Made(|document, node| part(document, node, quirks::protocol, Part::Protocol))),
    ("referrerPolicy", Text("referrerpolicy", "")),
    ("rel", Text("rel", "")),
    ("relList", Words("rel")),
    ("search", Made(|document, node| part(document, node, quirks::search, Part::Search))),
    ("target", Text("target", "")),
    ("text", Made(content)),
    ("type", Text("type", "")),
    ("username", Made(|document, node| part(document, node, quirks::username, Part::None))),
];

const CONTROL: Table = &[
    ("accessKey", Text("accesskey", "")),
    ("autofocus", Flag("autofocus")),
    ("disabled", Flag("disabled")),
    ("form", Other(form_of)),
    ("labels", Others(labels)),
    ("name", Text("name", "")),
    ("tabIndex", Number("tabindex", 0)),
];

const SENDING: Table = &[
    ("formAction", Made(|document, node| of_form(document, node, "formaction", "action", ""))),
    ("formEnctype", Made(|document, node| of_form(document, node, "formenctype", "enctype", URL_ENCODED))),
    ("formMethod", Made(|document, node| of_form(document, node, "formmethod", "method", "get"))),
    (
        "formNoValidate",
        Known(|document, node| {
            let form = form_of(document, node);
            document.attribute(node, "formnovalidate").is_some()
                || form.is_some_and(|form| document.attribute(form, "novalidate").is_some())
        }),
    ),
    ("formTarget", Made(|document, node| of_form(document, node, "formtarget", "target", ""))),
    ("value", Text("value", "")),
];

const INPUT: Table = &[
    ("accept", Text("accept", "")),
    ("alt", Text("alt", "")),
    ("autocomplete", Text("autocomplete", "on")),
    ("checked", Flag("checked")),
    ("defaultChecked", Flag("checked")),
    ("defaultValue", Text("value", "")),
    ("dirName", Text("dirname", "")),
    ("height", Text("height", "")),
    (
        "list",
        Other(|document, node| {
            let id = document.attribute(node, "list")?;
            let all = document.descendants(document.tree.root(), &["datalist"]);
            all.into_iter().find(|list| document.attribute(*list, "id") == Some(id))
        }),
    ),
    ("max", Text("max", "")),
    ("maxLength", Number("maxlength", -1)),
    ("min", Text("min", "")),
    ("multiple", Flag("multiple")),
    ("pattern", Text("pattern", "")),
    ("placeholder", Text("placeholder", "")),
    ("readonly", Flag("readonly")),
    ("required", Flag("required")),
    ("size", Number("size", 0)),
    ("src", Address("src")),
    ("step", Text("step", "")),
    ("type", Text("type", "text")),
    ("width", Text("width", "")),
];

const SELECT: Table = &[
    ("length", Counted(|document, node| options(document, node).len() as f64)),
    ("multiple", Flag("multiple")),
    ("options", Others(options)),
    ("required", Flag("required")),
    (
        "selectedIndex",
        Counted(|document, node| {
            let selected = |option: &Node| document.attribute(*option, "selected").is_some();
            options(document, node).iter().position(selected).map_or(-1.0, |at| at as f64)
        }),
    ),
    (
        "selectedOptions",
        Others(|document, node| {
            let all = options(document, node).into_iter();
            all.filter(|option| document.attribute(*option, "selected").is_some()).collect()
        }),
    ),
    ("size", Number("size", 4)),
    (
        "type",
        Made(|document, node| {
            let kind = if document.attribute(node, "multiple").is_some() { "select-multiple" } else { "select" };
            kind.to_owned()
        }),
    ),
    (
        "value",
        Made(|document, node| match control(document, node) {
            Some(Control::One(value)) => value,
            Some(Control::Several(values)) => values.into_iter().next().unwrap_or_default(),
            None => String::new(),
        }),
    ),
];

const OPTION: Table = &[
    ("defaultSelected", Flag("selected")),
    ("disabled", Flag("disabled")),
    ("form", Other(form_of)),
    (
        "index",
        Counted(|document, node| {
            let select = document.ancestors(node).find(|outer| matches!(document.tag(*outer), "select" | "datalist"));
            let all = select.map(|select| options(document, select)).unwrap_or_default();
            all.iter().position(|option| *option == node).unwrap_or_default() as f64
        }),
    ),
    (
        "label",
        Made(|document, node| document.attribute(node, "label").map_or_else(|| content(document, node), str::to_owned)),
    ),
    ("selected", Flag("selected")),
    ("text", Made(content)),
    ("value", Made(option_value)),
];

const TEXTAREA: Table = &[
    ("autocapitalize", Text("autocapitalize", "sentences")),
    ("autocomplete", Text("autocomplete", "on")),
    ("cols", Number("cols", 0)),
    ("defaultValue", Made(content)),
    ("length", Counted(|document, node| content(document, node).chars().count() as f64)),
    ("maxLength", Number("maxlength", 0)),
    ("placeholder", Text("placeholder", "")),
    ("readOnly", Flag("readonly")),
    ("required", Flag("required")),
    ("rows", Number("rows", 0)),
    ("type", Always("textarea")),
    ("value", Made(content)),
    ("wrap", Text("wrap", "soft")),
];

const FORM: Table = &[
    ("acceptCharset", Text("accept-charset", "")),
    ("action", Address("action")),
    ("autocomplete", Text("autocomplete", "on")),
    ("elements", Others(controls)),
    ("encoding", Text("enctype", URL_ENCODED)),
    ("enctype", Text("enctype", URL_ENCODED)),
    ("length", Counted(|document, node| controls(document, node).len() as f64)),
    ("method", Text("method", "get")),
    ("name", Text("name", "")),
    ("noValidate", Flag("novalidate")),
    ("target", Text("target", "")),
];

const IMAGE: Table = &[
    ("alt", Text("alt", "")),
    ("currentSrc", Address("src")),
    ("height", Number("height", 0)),
    ("isMap", Flag("ismap")),
    ("name", Text("name", "")),
    ("referrerPolicy", Text("referrerpolicy", "")),
    ("sizes", Text("sizes", "")),
    ("src", Address("src")),
    ("srcset", Text("srcset", "")),
    ("useMap", Text("usemap", "")),
    ("width", Number("width", 0)),
];

const CELL: Table = &[
    ("abbr", Text("abbr", "")),
    ("cellIndex", Counted(|document, node| document.elements_before(node).count() as f64)),
    ("colSpan", Number("colspan", 1)),
    ("headers", Text("headers", "")),
    ("rowSpan", Number("rowspan", 1)),
    ("scope", Text("scope", "")),
];

const TABLE: Table = &[
    ("caption", Other(|document, node| document.first_descendant(node, &["caption"]))),
    ("rows", Others(|document, node| document.descendants(node, &["tr"]))),
    ("tBodies", Others(|document, node| document.descendants(node, &["tbody"]))),
    ("tFoot", Other(|document, node| document.first_descendant(node, &["tfoot"]))),
    ("tHead", Other(|document, node| document.first_descendant(node, &["thead"]))),
];

const ROW: Table = &[
    ("cells", Others(|document, node| document.descendants(node, &["td", "th"]))),
    (
        "rowIndex",
        Counted(|document, node| {
            let table = document.ancestors(node).find(|outer| document.tag(*outer) == "table");
            let rows = table.map(|table| document.descendants(table, &["tr"])).unwrap_or_default();
            rows.iter().position(|row| *row == node).unwrap_or_default() as f64
        }),
    ),
    ("sectionRowIndex", Counted(|document, node| document.elements_before(node).count() as f64)),
];

const MEDIA: Table = &[
    ("autoplay", Flag("autoplay")),
    ("controls", Flag("controls")),
    ("currentSrc", Address("src")),
    ("defaultMuted", Flag("muted")),
    ("loop", Flag("loop")),
    ("muted", Flag("muted")),
    ("preload", Text("preload", "auto")),
    ("src", Address("src")),
];

const SCRIPT: Table = &[
    ("async", Flag("async")),
    ("charset", Text("charset", "")),
    ("crossOrigin", Text("crossorigin", "")),
    ("defer", Flag("defer")),
    ("noModule", Flag("nomodule")),
    ("src", Address("src")),
    ("text", Made(content)),
    ("type", Text("type", "")),
];

/// The properties of the elements of a tag.
fn tables(tag: &str) -> &'static [Table] {
    const BUTTON: Table = &[("type", Text("type", "submit"))];
    const FIELDSET: Table = &[("elements", Others(controls)), ("type", Always("fieldset"))];
    const LABEL: Table = &[
        ("control", Other(labelled)),
        ("form", Other(|document, node| labelled(document, node).and_then(|control| form_of(document, control)))),
        ("htmlFor", Text("for", "")),
    ];
    const LEGEND: Table = &[("accessKey", Text("accesskey", "")), ("form", Other(form_of))];
    const GROUP: Table = &[("disabled", Flag("disabled")), ("label", Text("label", ""))];
    const SECTION: Table = &[("rows", Others(|document, node| document.descendants(node, &["tr"])))];
    const COLUMN: Table = &[("span", Number("span", 1))];
    const ORDERED: Table =
        &[("reversed", Flag("reversed")), ("start", Number("start", 1)), ("type", Text("type", "1"))];
    const ITEM: Table = &[("type", Text("type", "")), ("value", Number("value", 0))];
    const METER: Table = &[
        ("high", Real("high", 0.0)),
        ("labels", Others(labels)),
        ("low", Real("low", 0.0)),
        ("max", Real("max", 1.0)),
        ("min", Real("min", 0.0)),
        ("optimum", Real("optimum", 0.0)),
        ("value", Real("value", 0.0)),
    ];
    const PROGRESS: Table = &[
        ("labels", Others(labels)),
        ("max", Real("max", 1.0)),
        ("position", Counted(progress)),
        ("value", Counted(progress)),
    ];
    const FRAME: Table = &[
        ("allowfullscreen", Flag("allowfullscreen")),
        ("height", Text("height", "")),
        ("name", Text("name", "")),
        ("referrerPolicy", Text("referrerpolicy", "")),
        ("src", Address("src")),
        ("width", Text("width", "")),
    ];
    const TITLE: Table = &[("text", Made(content))];
    const BASE: Table = &[("href", Address("href")), ("target", Text("target", ""))];
    const META: Table =
        &[("content", Text("content", "")), ("httpEquiv", Text("http-equiv", "")), ("name", Text("name", ""))];
    const STYLESHEET: Table = &[
        ("href", Address("href")),
        ("hreflang", Text("hreflang", "")),
        ("media", Text("media", "")),
        ("rel", Text("rel", "")),
        ("relList", Words("rel")),
        ("target", Text("target", "")),
        ("type", Text("type", "")),
    ];
    const TIME: Table = &[("datetime", Text("datetime", ""))];
    const QUOTE: Table = &[("cite", Text("cite", ""))];
    const CANVAS: Table = &[("height", Number("height", 150)), ("width", Number("width", 150))];
    const SIZED: Table = &[("height", Text("height", "")), ("width", Text("width", "")), ("src", Address("src"))];
    const DATA: Table = &[("value", Text("value", ""))];
    const LIST: Table = &[("options", Others(options))];
    const MAP: Table =
        &[("areas", Others(|document, node| document.descendants(node, &["area"]))), ("name", Text("name", ""))];
    match tag {
        "a" | "area" => &[LINK],
        "input" => &[CONTROL, SENDING, INPUT],
        "button" => &[CONTROL, SENDING, BUTTON],
        "select" => &[CONTROL, SELECT],
        "textarea" => &[CONTROL, TEXTAREA],
        "option" => &[OPTION],
        "optgroup" => &[GROUP],
        "form" => &[FORM],
        "fieldset" => &[CONTROL, FIELDSET],
        "label" => &[LABEL],
        "legend" => &[LEGEND],
        "datalist" => &[LIST],
        "img" => &[IMAGE],
        "table" => &[TABLE],
        "thead" | "tbody" | "tfoot" => &[SECTION],
        "tr" => &[ROW],
        "td" | "th" => &[CELL],
        "col" | "colgroup" => &[COLUMN],
        "ol" => &[ORDERED],
        "li" => &[ITEM],
        "meter" => &[METER],
        "progress" => &[PROGRESS],
        "iframe" => &[FRAME],
        "audio" | "video" => &[MEDIA],
        "script" => &[SCRIPT],
        "title" => &[TITLE],
        "base" => &[BASE],
        "meta" => &[META],
        "link" => &[STYLESHEET],
        "time" => &[TIME],
        "blockquote" | "q" | "del" | "ins" => &[QUOTE],
        "canvas" => &[CANVAS],
        "embed" | "source" | "track" => &[SIZED],
        "data" => &[DATA],
        "map" => &[MAP],
        _ => &[],
    }
}

const URL_ENCODED: &str = "application/x-www-form-urlencoded";

impl TagMethods for Element {
    fn has(tag: &str) -> bool {
        !tables(tag).is_empty()
    }

    fn define<'js>(ctx: &Ctx<'js>, prototype: &Object<'js>, tag: &str) -> Result<()> {
        for (name, property) in tables(tag).iter().copied().flatten() {
            method(ctx, prototype, name, move |ctx, own| read(ctx, own, *property))?;
        }
        Ok(())
    }
}

fn read<'js>(ctx: &Ctx<'js>, own: &Element, property: Property) -> Result<Value<'js>> {
    let (document, node) = (&own.document, own.node);
    match property {
        Text(name, default) => document.attribute(node, name).unwrap_or(default).into_js(ctx),
        Address(name) => {
            let written = document.attribute(node, name).unwrap_or_default();
            match document.page.as_ref().filter(|_| document.attribute(node, name).is_some()) {
                Some(page) => page.join(written).map_or(String::new(), String::from).into_js(ctx),
                None => written.into_js(ctx),
            }
        }
        Flag(name) => document.attribute(node, name).is_some().into_js(ctx),
        Number(name, default) => {
            let number = document.attribute(node, name).and_then(|text| text.trim().parse::<i32>().ok());
            number.unwrap_or(default).into_js(ctx)
        }
        Words(name) => {
            let text = document.attribute(node, name).unwrap_or_default();
            text.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>().into_js(ctx)
        }
        Real(name, default) => real(document, node, name, default).into_js(ctx),
        Always(text) => text.into_js(ctx),
        Made(make) => make(document, node).into_js(ctx),
        Counted(count) => count(document, node).into_js(ctx),
        Known(tell) => tell(document, node).into_js(ctx),
        Other(find) => optional(ctx, document, find(document, node)),
        Others(find) => list(ctx, document, find(document, node)),
    }
}

fn real(document: &Document, node: Node, name: &str, default: f64) -> f64 {
    let number = document.attribute(node, name).and_then(|text| text.trim().parse::<f64>().ok());
    number.filter(|number| number.is_finite()).unwrap_or(default)
}

/// Returns the part of a progress bar that is done.
fn progress(document: &Document, node: Node) -> f64 {
    let most = real(document, node, "max", 1.0);
    if most <= 0.0 { -1.0 } else { (real(document, node, "value", 0.0) / most).clamp(0.0, 1.0) }
}

fn content(document: &Document, node: Node) -> String {
    document.tree.string(node).to_owned()
}

fn options(document: &Document, node: Node) -> Vec<Node> {
    document.descendants(node, &["option"])
}

fn controls(document: &Document, node: Node) -> Vec<Node> {
    document.descendants(node, &["button", "fieldset", "input", "object", "output", "select", "textarea"])
}

/// Returns the form of a control: the one that its attribute names, or the one around it.
fn form_of(document: &Document, node: Node) -> Option<Node> {
    if let Some(id) = document.attribute(node, "form") {
        let forms = document.descendants(document.tree.root(), &["form"]);
        return forms.into_iter().find(|form| document.attribute(*form, "id") == Some(id));
    }
    document.ancestors(node).find(|outer| document.tag(*outer) == "form")
}

/// Returns an attribute of a control, or else that of its form.
fn of_form(document: &Document, node: Node, own: &str, forms: &str, default: &str) -> String {
    let of_form = || form_of(document, node).and_then(|form| document.attribute(form, forms));
    document.attribute(node, own).or_else(of_form).unwrap_or(default).to_owned()
}

fn labels(document: &Document, node: Node) -> Vec<Node> {
    let id = document.attribute(node, "id");
    let all = document.descendants(document.tree.root(), &["label"]);
    let is_meant = |label: &Node| match document.attribute(*label, "for") {
        Some(name) => id == Some(name),
        None => document.contains(*label, node),
    };
    all.into_iter().filter(is_meant).collect()
}

/// Returns the control that a label is for.
fn labelled(document: &Document, label: Node) -> Option<Node> {
    const CONTROLS: [&str; 7] = ["button", "input", "meter", "output", "progress", "select", "textarea"];
    match document.attribute(label, "for") {
        Some(id) => {
            let all = document.descendants(document.tree.root(), &CONTROLS);
            all.into_iter().find(|control| document.attribute(*control, "id") == Some(id))
        }
        None => document.first_descendant(label, &CONTROLS),
    }
}

/// Which part of an address without a host a property shows.
#[derive(Clone, Copy)]
enum Part {
    Hash,
    Path,
    Protocol,
    Search,
    None,
}

fn absolute(document: &Document, node: Node) -> Option<Url> {
    let href = document.attribute(node, "href")?;
    match &document.page {
        Some(page) => page.join(href).ok(),
        None => Url::parse(href).ok(),
    }
}

fn part(document: &Document, node: Node, of_url: fn(&Url) -> &str, relative: Part) -> String {
    if let Some(url) = absolute(document, node) {
        return of_url(&url).to_owned();
    }
    let href = document.attribute(node, "href").unwrap_or_default();
    let (address, hash) = href.split_at(href.find('#').unwrap_or(href.len()));
    let (path, search) = address.split_at(address.find('?').unwrap_or(address.len()));
    match relative {
        Part::Hash => hash,
        Part::Path => path,
        Part::Search => search,
        Part::Protocol => ":",
        Part::None => "",
    }
    .to_owned()
}
