//! The output of `nvdisasm -c -gp`: instructions, preceded by comments that name their PTX line.

use super::Sass;

/// Keeps instructions and labels; drops directives and line comments.
pub fn read(text: &str) -> Sass {
    let mut sass = Sass::default();
    let mut from = None;
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(comment) = trimmed.strip_prefix("//##") {
            let number = comment.rsplit_once("line ").map(|(_, rest)| rest);
            let digits = number.map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or(""));
            from = digits.and_then(|digits| digits.parse::<usize>().ok()?.checked_sub(1));
            continue;
        }
        let is_instruction = trimmed.starts_with("/*");
        let is_label = trimmed.ends_with(':') && !trimmed.starts_with(".text");
        if !is_instruction && !is_label {
            continue;
        }
        if is_label {
            from = None;
        }
        sass.text.push_str(&shown(trimmed, is_label));
        sass.text.push('\n');
        sass.lines.push(from);
    }
    sass
}

/// Formats a line with the address and the code in separate columns.
fn shown(line: &str, is_label: bool) -> String {
    match line.split_once("*/") {
        Some((address, code)) if !is_label => format!("  {address}*/  {}", code.trim()),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_lead_to_the_ptx() {
        let text = "\t.headerflags\t@\"X\"\n\n.text.f:\nf:\n\t//## File \".nv_debug_ptx_txt\", line 11\n        \
             /*0000*/                   LDC R1, c[0x0][0x28] ;\n        /*0010*/                   NOP ;\n.L_x_0:\n        \
             /*0020*/                   BRA `(.L_x_0);\n\t//## File \"x\", line 3 inlined\n\t/*0030*/ EXIT ;\n";
        let sass = read(text);
        let expect = "f:\n  /*0000*/  LDC R1, c[0x0][0x28] ;\n  /*0010*/  NOP ;\n.L_x_0:\n  /*0020*/  BRA `(.L_x_0);\n  \
             /*0030*/  EXIT ;\n";
        assert_eq!(sass.text, expect);
        assert_eq!(sass.lines, [None, Some(10), Some(10), None, None, Some(2)]);
    }
}
