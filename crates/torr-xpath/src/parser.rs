//! From tokens to an expression (XPath 1.0, sections 2 and 3).

use super::ast::{Axis, Comparison, Expr, Function, Kind, Operation, Predicate, Start, Step, Test};
use super::lexer::{self, Mistake, Token};

/// How deep brackets may be nested, and how many operators of one kind may follow each other: the evaluation of an expression
/// uses the stack.
const MAX_DEPTH: usize = 64;
/// How many bytes an expression may have.
const MAX_BYTES: usize = 64 << 10;

/// Compiles an expression.
///
/// # Errors
/// In words, with the place.
pub fn parse(text: &str) -> Result<Expr, String> {
    let mistake = |(what, at): Mistake| {
        let place = text[..at].chars().count() + 1;
        format!("invalid XPath expression '{text}': {what} (character {place})")
    };
    if text.len() > MAX_BYTES {
        return Err(format!("an XPath expression must have at most {MAX_BYTES} bytes"));
    }
    let tokens = lexer::tokens(text).map_err(mistake)?;
    let mut parser = Parser { tokens, next: 0, end: text.len(), depth: 0 };
    let expression = parser.or().map_err(mistake)?;
    if parser.next < parser.tokens.len() { Err(mistake(parser.unexpected())) } else { Ok(expression) }
}

struct Parser<'e> {
    tokens: Vec<(Token<'e>, usize)>,
    next: usize,
    end: usize,
    depth: usize,
}

type Parsed<T> = Result<T, Mistake>;

impl<'e> Parser<'e> {
    fn or(&mut self) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((format!("brackets must not be nested deeper than {MAX_DEPTH}"), self.at()));
        }
        let mut parts = vec![self.and()?];
        while self.takes(&Token::Operator("or")) {
            parts.push(self.and()?);
        }
        self.depth -= 1;
        Ok(one_or(parts, Expr::Or))
    }

    fn and(&mut self) -> Parsed<Expr> {
        let mut parts = vec![self.binary(0)?];
        while self.takes(&Token::Operator("and")) {
            parts.push(self.binary(0)?);
        }
        Ok(one_or(parts, Expr::And))
    }

    /// Reads operators that associate to the left, of a rank or above: equality, order, sums, products.
    fn binary(&mut self, rank: usize) -> Parsed<Expr> {
        if rank > 3 {
            return self.negation();
        }
        let mut left = self.binary(rank + 1)?;
        let mut count = 0;
        while let Some(operator) = self.operator(rank) {
            count += 1;
            if count > MAX_DEPTH {
                return Err((format!("more than {MAX_DEPTH} operators in a row"), self.at()));
            }
            self.next += 1;
            let sides = Box::new([left, self.binary(rank + 1)?]);
            left = match operator {
                Binary::Compare(comparison) => Expr::Compare(comparison, sides),
                Binary::Calculate(operation) => Expr::Calculate(operation, sides),
            };
        }
        Ok(left)
    }

    fn operator(&self, rank: usize) -> Option<Binary> {
        let Some((Token::Operator(operator), _)) = self.tokens.get(self.next) else { return None };
        Some(match (rank, *operator) {
            (0, "=") => Binary::Compare(Comparison::Equal),
            (0, "!=") => Binary::Compare(Comparison::NotEqual),
            (1, "<") => Binary::Compare(Comparison::Less),
            (1, "<=") => Binary::Compare(Comparison::LessOrEqual),
            (1, ">") => Binary::Compare(Comparison::Greater),
            (1, ">=") => Binary::Compare(Comparison::GreaterOrEqual),
            (2, "+") => Binary::Calculate(Operation::Add),
            (2, "-") => Binary::Calculate(Operation::Subtract),
            (3, "*") => Binary::Calculate(Operation::Multiply),
            (3, "div") => Binary::Calculate(Operation::Divide),
            (3, "mod") => Binary::Calculate(Operation::Remainder),
            _ => return None,
        })
    }

    fn negation(&mut self) -> Parsed<Expr> {
        let mut count = 0;
        while self.takes(&Token::Operator("-")) {
            count += 1;
        }
        let inner = self.union()?;
        // Two cancel each other, but leave a number.
        let negate = |inner| Expr::Negate(Box::new(inner));
        Ok(match count {
            0 => inner,
            odd if odd % 2 == 1 => negate(inner),
            _ => negate(negate(inner)),
        })
    }

    fn union(&mut self) -> Parsed<Expr> {
        let at = self.at();
        let mut parts = vec![self.path()?];
        while self.takes(&Token::Operator("|")) {
            parts.push(self.path()?);
        }
        if parts.len() > 1 && parts.iter().any(|part| part.kind() != Kind::Nodes) {
            return Err(("'|' needs node-sets".to_owned(), at));
        }
        Ok(one_or(parts, Expr::Union))
    }

    fn path(&mut self) -> Parsed<Expr> {
        let mut steps = Vec::new();
        let start = if self.takes(&Token::Sign("/")) {
            if self.begins_step() {
                self.steps(&mut steps)?;
            }
            Start::Root
        } else if self.takes(&Token::Sign("//")) {
            steps.push(descendant_or_self());
            self.steps(&mut steps)?;
            Start::Root
        } else if self.begins_step() {
            self.steps(&mut steps)?;
            Start::Context
        } else {
            let at = self.at();
            let inner = self.filter()?;
            let is_path = matches!(self.tokens.get(self.next), Some((Token::Sign("/" | "//"), _)));
            if !is_path {
                return Ok(inner);
            }
            if inner.kind() != Kind::Nodes {
                return Err(("a path must start from a node-set".to_owned(), at));
            }
            if self.takes(&Token::Sign("//")) {
                steps.push(descendant_or_self());
            } else {
                self.next += 1;
            }
            self.steps(&mut steps)?;
            Start::Nodes(Box::new(inner))
        };
        Ok(Expr::Path(start, steps))
    }

    fn begins_step(&self) -> bool {
        match self.tokens.get(self.next) {
            Some((Token::Sign(sign), _)) => matches!(*sign, "." | ".." | "@"),
            Some((Token::Axis(_) | Token::Wildcard(_), _)) => true,
            Some((Token::Name(prefix, name), _)) => {
                let is_call = matches!(self.tokens.get(self.next + 1), Some((Token::Sign("("), _)));
                !is_call || (prefix.is_none() && is_node_type(name))
            }
            _ => false,
        }
    }

    fn steps(&mut self, steps: &mut Vec<Step>) -> Parsed<()> {
        loop {
            let step = self.step()?;
            push(steps, step);
            if self.takes(&Token::Sign("//")) {
                steps.push(descendant_or_self());
            } else if !self.takes(&Token::Sign("/")) {
                return Ok(());
            }
        }
    }

    fn step(&mut self) -> Parsed<Step> {
        let abbreviated = |axis| Step { axis, test: Test::Node, predicates: Vec::new() };
        if self.takes(&Token::Sign(".")) {
            return Ok(abbreviated(Axis::SelfOnly));
        }
        if self.takes(&Token::Sign("..")) {
            return Ok(abbreviated(Axis::Parent));
        }
        let axis = if self.takes(&Token::Sign("@")) {
            Axis::Attribute
        } else if let Some((Token::Axis(name), at)) = self.tokens.get(self.next) {
            let axis = Axis::named(name).ok_or_else(|| (format!("unknown axis '{name}'"), *at))?;
            self.next += 1;
            self.expect("::")?;
            axis
        } else {
            Axis::Child
        };
        let test = self.test()?;
        Ok(Step { axis, test, predicates: self.predicates()? })
    }

    fn test(&mut self) -> Parsed<Test> {
        let boxed = |text: &str| Some(Box::from(text));
        let test = match self.tokens.get(self.next) {
            Some((Token::Wildcard(None), _)) => Test::Any,
            Some((Token::Wildcard(Some(prefix)), _)) => Test::Name(boxed(prefix), None),
            Some((Token::Name(prefix, name), at)) => {
                let (name, at) = (*name, *at);
                if !matches!(self.tokens.get(self.next + 1), Some((Token::Sign("("), _))) {
                    Test::Name(prefix.and_then(boxed), boxed(name))
                } else {
                    self.next += 2;
                    return self.node_type(name, at);
                }
            }
            _ => return Err(self.unexpected()),
        };
        self.next += 1;
        Ok(test)
    }

    fn node_type(&mut self, name: &str, at: usize) -> Parsed<Test> {
        let test = match name {
            "node" => Test::Node,
            "text" => Test::Text,
            "comment" => Test::Comment,
            "processing-instruction" => {
                let target = match self.tokens.get(self.next) {
                    Some((Token::Literal(target), _)) => Some(Box::from(*target)),
                    _ => None,
                };
                self.next += usize::from(target.is_some());
                Test::Instruction(target)
            }
            _ => return Err((format!("a step must not be the function '{name}'"), at)),
        };
        self.expect(")")?;
        Ok(test)
    }

    fn predicates(&mut self) -> Parsed<Vec<Predicate>> {
        let mut predicates = Vec::new();
        while self.takes(&Token::Sign("[")) {
            let condition = self.or()?;
            self.expect("]")?;
            let is_positional = condition.kind() == Kind::Number || condition.asks_position();
            predicates.push(Predicate { condition, is_positional });
        }
        Ok(predicates)
    }

    fn filter(&mut self) -> Parsed<Expr> {
        let at = self.at();
        let inner = self.primary()?;
        let predicates = self.predicates()?;
        if predicates.is_empty() {
            return Ok(inner);
        }
        if inner.kind() != Kind::Nodes {
            return Err(("a predicate needs a node-set".to_owned(), at));
        }
        Ok(Expr::Filter(Box::new(inner), predicates))
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let unexpected = self.unexpected();
        let Some((token, at)) = self.tokens.get(self.next).cloned() else { return Err(unexpected) };
        self.next += 1;
        match token {
            Token::Sign("(") => {
                let inner = self.or()?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Literal(text) => Ok(Expr::Literal(text.into())),
            Token::Number(number) => Ok(Expr::Number(number)),
            // `begins_step` has left only calls.
            Token::Name(prefix, name) => self.call(prefix, name, at),
            _ => Err(unexpected),
        }
    }

    fn call(&mut self, prefix: Option<&str>, name: &str, at: usize) -> Parsed<Expr> {
        let known = Function::named(name).filter(|_| prefix.is_none());
        let qualified = || prefix.map_or(name.to_owned(), |prefix| format!("{prefix}:{name}"));
        let (function, fewest, most) = known.ok_or_else(|| (format!("unknown function '{}'", qualified()), at))?;
        self.expect("(")?;
        let mut arguments = Vec::new();
        if !self.takes(&Token::Sign(")")) {
            loop {
                arguments.push(self.or()?);
                if !self.takes(&Token::Sign(",")) {
                    break;
                }
            }
            self.expect(")")?;
        }
        if !(fewest..=most).contains(&arguments.len()) {
            let takes = match (fewest, most) {
                (0, 0) => "no argument".to_owned(),
                (1, 1) => "one argument".to_owned(),
                (_, usize::MAX) => format!("at least {fewest} arguments"),
                (fewest, most) if fewest == most => format!("{fewest} arguments"),
                (fewest, most) => format!("{fewest} or {most} arguments"),
            };
            return Err((format!("{name}() needs {takes}, found {}", arguments.len()), at));
        }
        if function.takes_nodes() && arguments.first().is_some_and(|argument| argument.kind() != Kind::Nodes) {
            return Err((format!("{name}() needs a node-set"), at));
        }
        Ok(Expr::Call(function, arguments))
    }

    fn takes(&mut self, token: &Token<'e>) -> bool {
        let is_next = self.tokens.get(self.next).is_some_and(|(next, _)| next == token);
        self.next += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, sign: &'static str) -> Parsed<()> {
        if self.takes(&Token::Sign(sign)) { Ok(()) } else { Err((format!("expected '{sign}'"), self.at())) }
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(_, at)| *at)
    }

    fn unexpected(&self) -> Mistake {
        let what = match self.tokens.get(self.next) {
            None => "unexpected end".to_owned(),
            Some((Token::Sign(sign) | Token::Operator(sign), _)) => format!("unexpected '{sign}'"),
            Some((Token::Literal(text), _)) => format!("unexpected string '{text}'"),
            Some((Token::Number(number), _)) => format!("unexpected number {number}"),
            Some((Token::Name(_, name) | Token::Axis(name), _)) => format!("unexpected '{name}'"),
            Some((Token::Wildcard(_), _)) => "unexpected '*'".to_owned(),
        };
        (what, self.at())
    }
}

enum Binary {
    Compare(Comparison),
    Calculate(Operation),
}

fn one_or(mut parts: Vec<Expr>, several: fn(Vec<Expr>) -> Expr) -> Expr {
    if parts.len() == 1 { parts.remove(0) } else { several(parts) }
}

fn is_node_type(name: &str) -> bool {
    matches!(name, "node" | "text" | "comment" | "processing-instruction")
}

/// Returns what `//` stands for.
fn descendant_or_self() -> Step {
    Step { axis: Axis::DescendantOrSelf, test: Test::Node, predicates: Vec::new() }
}

/// Adds a step. Children of all descendants are descendants, which one step finds without a list of all nodes between; only
/// positions are counted differently.
fn push(steps: &mut Vec<Step>, mut step: Step) {
    let is_free = step.predicates.iter().all(|predicate| !predicate.is_positional);
    if step.axis == Axis::Child && is_free && steps.last() == Some(&descendant_or_self()) {
        steps.pop();
        step.axis = Axis::Descendant;
    }
    steps.push(step);
}
