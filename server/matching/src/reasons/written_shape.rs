//! The shape of an array as an instruction has it written.

/// `bf16[8,1024]{1,0}`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrittenShape<'t> {
    pub element: &'t str,
    /// `8,1024`
    pub dimensions: &'t str,
    /// `1,0`; empty where none is written.
    pub order: &'t str,
}

impl<'t> WrittenShape<'t> {
    /// `None` for a tuple and for other shapes than arrays.
    pub fn read(text: &'t str) -> Option<WrittenShape<'t>> {
        let (element, rest) = text.split_once('[')?;
        let is_type = !element.is_empty() && element.bytes().all(|b| b.is_ascii_alphanumeric());
        let (dimensions, rest) = rest.split_once(']').filter(|_| is_type)?;
        let inside = rest.strip_prefix('{').unwrap_or_default();
        let order = inside.split([':', '}']).next().unwrap_or_default();
        Some(WrittenShape { element, dimensions, order })
    }

    pub fn extents(&self) -> impl Iterator<Item = &'t str> + Clone {
        self.dimensions.split(',').filter(|extent| !extent.is_empty())
    }

    pub fn rank(&self) -> usize {
        self.extents().count()
    }

    /// `row-major`, `column-major`, or `of the layout {0,2,1}`.
    pub fn layout(&self) -> String {
        let order: Vec<usize> = self.order.split(',').filter_map(|n| n.trim().parse().ok()).collect();
        match self.rank() {
            2 if order == [0, 1] => "column-major".into(),
            rank if order.is_empty() || order.iter().copied().eq((0..rank).rev()) => "row-major".into(),
            _ => format!("of the layout {{{}}}", self.order),
        }
    }

    /// Whether elements are in the same order in memory.
    pub fn has_layout_of(&self, other: &WrittenShape<'_>) -> bool {
        self.layout() == other.layout()
    }

    /// The bits of the digits in the name of the element type: 16 of `bf16`, 8 of `f8e4m3fn`; 1 of `pred`.
    pub fn bits(&self) -> u32 {
        let digits = self.element.trim_start_matches(|c: char| !c.is_ascii_digit());
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse().unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_read() {
        let shape = |text| WrittenShape::read(text).expect("an array");
        assert_eq!(shape("f32[8,4]{0,1}").layout(), "column-major");
        assert_eq!(shape("f32[8,4]{1,0:T(8,128)}").layout(), "row-major");
        assert_eq!(shape("f32[8,4]").layout(), "row-major");
        assert_eq!(shape("f32[]").layout(), "row-major");
        assert_eq!(shape("f32[8,4,2]{0,2,1}").layout(), "of the layout {0,2,1}");
        assert_eq!(shape("f32[8,4,2]{0,2,1}").rank(), 3);
        assert_eq!((shape("bf16[]").bits(), shape("f8e4m3fn[]").bits(), shape("pred[]").bits()), (16, 8, 1));
        for text in ["", "(f32[8], f32[8])", "token[", "[8]", "f32 [8", "{"] {
            assert_eq!(WrittenShape::read(text), None, "{text}");
        }
    }
}
