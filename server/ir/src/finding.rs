use syntax::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

/// Something wrong with the meaning of a text, at a place of its piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub span: Span,
    pub severity: Severity,
    /// Stable kebab-case name.
    pub code: &'static str,
    pub message: String,
    /// Other places of the same piece.
    pub related: Vec<(Span, String)>,
}

impl Finding {
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Finding {
        Finding { span, severity: Severity::Error, code, message: message.into(), related: Vec::new() }
    }

    pub fn with_related(mut self, span: Span, message: impl Into<String>) -> Finding {
        self.related.push((span, message.into()));
        self
    }
}
