//! Parts of the grammar that `parse` and `print` accept on their own as `entry`.

use super::lexer::Token;
use super::parser::{Parsed, Parser};
use super::tree::{Parse, ValueNode};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fragment {
    Shape,
    Layout,
    Sharding,
    FrontendAttributes,
    ReplicaGroups,
    ConvolutionDimensionNumbers,
    PaddingConfig,
    Window,
    JsonDict,
}

impl Fragment {
    pub fn from_name(name: &str) -> Option<Fragment> {
        Some(match name {
            "shape" => Fragment::Shape,
            "layout" => Fragment::Layout,
            "sharding" => Fragment::Sharding,
            "frontend_attributes" => Fragment::FrontendAttributes,
            "replica_groups" | "collective_device_list" => Fragment::ReplicaGroups,
            "convolution_dimension_numbers" => Fragment::ConvolutionDimensionNumbers,
            "padding_config" => Fragment::PaddingConfig,
            "window" => Fragment::Window,
            "json_dict" => Fragment::JsonDict,
            _ => return None,
        })
    }
}

/// Parses all of `text` as one `fragment`. Returns the errors and pools, and the value if there is one.
pub fn parse_fragment(text: &str, fragment: Fragment) -> (Parse, Option<ValueNode>) {
    use super::vocabulary::AttributeKey as Key;
    let mut parser = Parser::new(text);
    let text_of = |result: Parsed| result.map(|()| ValueNode::Text);
    let result = match fragment {
        Fragment::Shape => parser.shape().map(ValueNode::Shape),
        Fragment::Layout => {
            let order = text.split([':', '}']).next().unwrap_or_default().trim_start_matches(['{', ' ']);
            let rank = if order.trim().is_empty() { 0 } else { order.split(',').count() };
            text_of(parser.layout(rank, super::vocabulary::ElementType::F32).map(|_| ()))
        }
        Fragment::Sharding => text_of(parser.sharding()),
        Fragment::FrontendAttributes => text_of(parser.frontend_attributes()),
        Fragment::ReplicaGroups => text_of(parser.replica_groups()),
        Fragment::ConvolutionDimensionNumbers => parser.attribute_value(Key::DimLabels, None),
        Fragment::PaddingConfig => parser.attribute_value(Key::Padding, None),
        Fragment::Window => parser.attribute_value(Key::Window, None),
        Fragment::JsonDict => text_of(parser.balanced()),
    };
    if result.is_ok() && !parser.at(Token::End) {
        let _ = parser.fail::<()>("expects the end of the text");
    }
    (parser.out, result.ok())
}
