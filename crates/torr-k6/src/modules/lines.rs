//! Where a position in generated code stands in the source it was made from.

use oxc_codegen::CodegenReturn;

/// A position in a source: line and column, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// Positions in generated code and their positions in the source, in the order of the generated code.
pub(super) struct Lines(Vec<(Position, Position)>);

impl Lines {
    /// Returns the table of what a code generator wrote; `None` if it recorded no positions.
    pub(super) fn of(generated: &CodegenReturn) -> Option<Self> {
        let map = generated.map.as_ref()?;
        let mut positions: Vec<_> = map
            .get_tokens()
            .map(|token| {
                let at = |line: u32, column: u32| Position {
                    line: line.saturating_add(1),
                    column: column.saturating_add(1),
                };
                (at(token.get_dst_line(), token.get_dst_col()), at(token.get_src_line(), token.get_src_col()))
            })
            .collect();
        positions.sort_unstable();
        Some(Lines(positions))
    }

    /// Returns the position in the source of a position in the generated code: that of the last token at or before it.
    pub(super) fn source(&self, position: Position) -> Option<Position> {
        let after = self.0.partition_point(|(generated, _)| *generated <= position);
        Some(self.0.get(after.checked_sub(1)?)?.1)
    }
}
