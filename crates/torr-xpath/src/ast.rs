//! Expressions, compiled.

/// An expression.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Expr {
    Or(Vec<Expr>),
    And(Vec<Expr>),
    Compare(Comparison, Box<[Expr; 2]>),
    Calculate(Operation, Box<[Expr; 2]>),
    Negate(Box<Expr>),
    Union(Vec<Expr>),
    Path(Start, Vec<Step>),
    /// A node-set by another expression, with predicates: `(//a)[1]`.
    Filter(Box<Expr>, Vec<Predicate>),
    Literal(Box<str>),
    Number(f64),
    Call(Function, Vec<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Where a path begins.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Start {
    Root,
    Context,
    Nodes(Box<Expr>),
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub struct Step {
    pub axis: Axis,
    pub test: Test,
    pub predicates: Vec<Predicate>,
}

/// A predicate.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    /// What must be true, or the position.
    pub condition: Expr,
    /// Whether the place of a node among the others matters.
    pub is_positional: bool,
}

/// A direction in the tree (section 2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Namespace,
    Parent,
    Preceding,
    PrecedingSibling,
    SelfOnly,
}

impl Axis {
    /// Returns the axis of a name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "ancestor" => Self::Ancestor,
            "ancestor-or-self" => Self::AncestorOrSelf,
            "attribute" => Self::Attribute,
            "child" => Self::Child,
            "descendant" => Self::Descendant,
            "descendant-or-self" => Self::DescendantOrSelf,
            "following" => Self::Following,
            "following-sibling" => Self::FollowingSibling,
            "namespace" => Self::Namespace,
            "parent" => Self::Parent,
            "preceding" => Self::Preceding,
            "preceding-sibling" => Self::PrecedingSibling,
            "self" => Self::SelfOnly,
            _ => return None,
        })
    }

    /// Whether positions are counted backwards in the document.
    pub fn is_reverse(self) -> bool {
        matches!(self, Self::Ancestor | Self::AncestorOrSelf | Self::Preceding | Self::PrecedingSibling)
    }
}

/// What a node must be (section 2.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// `*`
    Any,
    /// `local`, `prefix:local`; without a local name `prefix:*`.
    Name(Option<Box<str>>, Option<Box<str>>),
    /// `node()`
    Node,
    /// `text()`
    Text,
    /// `comment()`
    Comment,
    /// `processing-instruction()`, of any or one target.
    Instruction(Option<Box<str>>),
}

/// A function of the core library (section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Function {
    Last,
    Position,
    Count,
    Id,
    LocalName,
    NamespaceUri,
    Name,
    Text,
    Concat,
    StartsWith,
    Contains,
    SubstringBefore,
    SubstringAfter,
    Substring,
    StringLength,
    NormalizeSpace,
    Translate,
    Boolean,
    Not,
    True,
    False,
    Lang,
    Number,
    Sum,
    Floor,
    Ceiling,
    Round,
}

impl Function {
    /// Returns the function of a name, and how many arguments it takes: the fewest and the most.
    pub fn named(name: &str) -> Option<(Self, usize, usize)> {
        Some(match name {
            "last" => (Self::Last, 0, 0),
            "position" => (Self::Position, 0, 0),
            "count" => (Self::Count, 1, 1),
            "id" => (Self::Id, 1, 1),
            "local-name" => (Self::LocalName, 0, 1),
            "namespace-uri" => (Self::NamespaceUri, 0, 1),
            "name" => (Self::Name, 0, 1),
            "string" => (Self::Text, 0, 1),
            "concat" => (Self::Concat, 2, usize::MAX),
            "starts-with" => (Self::StartsWith, 2, 2),
            "contains" => (Self::Contains, 2, 2),
            "substring-before" => (Self::SubstringBefore, 2, 2),
            "substring-after" => (Self::SubstringAfter, 2, 2),
            "substring" => (Self::Substring, 2, 3),
            "string-length" => (Self::StringLength, 0, 1),
            "normalize-space" => (Self::NormalizeSpace, 0, 1),
            "translate" => (Self::Translate, 3, 3),
            "boolean" => (Self::Boolean, 1, 1),
            "not" => (Self::Not, 1, 1),
            "true" => (Self::True, 0, 0),
            "false" => (Self::False, 0, 0),
            "lang" => (Self::Lang, 1, 1),
            "number" => (Self::Number, 0, 1),
            "sum" => (Self::Sum, 1, 1),
            "floor" => (Self::Floor, 1, 1),
            "ceiling" => (Self::Ceiling, 1, 1),
            "round" => (Self::Round, 1, 1),
            _ => return None,
        })
    }

    /// Whether the first argument, if there is one, must be a node-set.
    pub fn takes_nodes(self) -> bool {
        matches!(self, Self::Count | Self::Sum | Self::LocalName | Self::NamespaceUri | Self::Name)
    }
}

/// The kind of an expression's value, which its form decides: there are no variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Nodes,
    Text,
    Number,
    Boolean,
}

impl Expr {
    /// Returns the kind of the value.
    pub fn kind(&self) -> Kind {
        use Function as F;
        match self {
            Self::Or(_) | Self::And(_) | Self::Compare(..) => Kind::Boolean,
            Self::Calculate(..) | Self::Negate(_) | Self::Number(_) => Kind::Number,
            Self::Union(_) | Self::Path(..) | Self::Filter(..) => Kind::Nodes,
            Self::Literal(_) => Kind::Text,
            Self::Call(function, _) => match function {
                F::Last | F::Position | F::Count | F::StringLength | F::Number | F::Sum => Kind::Number,
                F::Floor | F::Ceiling | F::Round => Kind::Number,
                F::Id => Kind::Nodes,
                F::LocalName | F::NamespaceUri | F::Name | F::Text | F::Concat => Kind::Text,
                F::SubstringBefore | F::SubstringAfter | F::Substring | F::NormalizeSpace | F::Translate => Kind::Text,
                F::StartsWith | F::Contains | F::Boolean | F::Not | F::True | F::False | F::Lang => Kind::Boolean,
            },
        }
    }

    /// Whether the value depends on the place of the context node among the others. Predicates inside have places of their own.
    pub fn asks_position(&self) -> bool {
        match self {
            Self::Or(parts) | Self::And(parts) | Self::Union(parts) => parts.iter().any(Self::asks_position),
            Self::Compare(_, sides) | Self::Calculate(_, sides) => sides.iter().any(Self::asks_position),
            Self::Negate(inner) | Self::Path(Start::Nodes(inner), _) | Self::Filter(inner, _) => inner.asks_position(),
            Self::Call(Function::Last | Function::Position, _) => true,
            Self::Call(_, arguments) => arguments.iter().any(Self::asks_position),
            Self::Path(..) | Self::Literal(_) | Self::Number(_) => false,
        }
    }
}
