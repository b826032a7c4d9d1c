//! Parts of the grammar on their own: what `parse` and `print` accept as `entry`.

use super::lexer::Token;
use super::parser::Parser;
use crate::SyntaxError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fragment {
    Shape,
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

/// The errors of `text` read as one `fragment`, which must take up all of it.
pub fn check_fragment(text: &str, fragment: Fragment) -> Vec<SyntaxError> {
    use super::vocabulary::AttributeKey as Key;
    let mut parser = Parser::new(text);
    let result = match fragment {
        Fragment::Shape => parser.shape().map(|_| ()),
        Fragment::Sharding => parser.sharding(),
        Fragment::FrontendAttributes => parser.frontend_attributes(),
        Fragment::ReplicaGroups => parser.replica_groups(),
        Fragment::ConvolutionDimensionNumbers => parser.attribute_value(Key::DimLabels, None).map(|_| ()),
        Fragment::PaddingConfig => parser.attribute_value(Key::Padding, None).map(|_| ()),
        Fragment::Window => parser.attribute_value(Key::Window, None).map(|_| ()),
        Fragment::JsonDict => parser.balanced(),
    };
    if result.is_ok() && !parser.at(Token::End) {
        let _ = parser.fail::<()>("expects the end of the text");
    }
    parser.out.errors
}
