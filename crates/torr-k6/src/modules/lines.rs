//! Where a place in generated code stands in the source it was made from.

use oxc_codegen::CodegenReturn;

/// A place in a source: line and column, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// Places in generated code and their places in the source, in the order of the generated code.
pub(super) struct Lines(Vec<(Position, Position)>);

impl Lines {
    /// Returns the table of what a code generator wrote; `None` if it recorded no places.
    pub(super) fn of(generated: &CodegenReturn) -> Option<Self> {
        let map = generated.map.as_ref()?;
        let mut places: Vec<_> = map
            .get_tokens()
            .map(|token| {
                let at = |line: u32, column: u32| Position {
                    line: line.saturating_add(1),
                    column: column.saturating_add(1),
                };
                (at(token.get_dst_line(), token.get_dst_col()), at(token.get_src_line(), token.get_src_col()))
            })
            .collect();
        places.sort_unstable();
        Some(Lines(places))
    }

    /// Returns the place in the source of a place in the generated code: that of the last token at or before it.
    pub(super) fn source(&self, place: Position) -> Option<Position> {
        let after = self.0.partition_point(|(generated, _)| *generated <= place);
        Some(self.0.get(after.checked_sub(1)?)?.1)
    }
}
