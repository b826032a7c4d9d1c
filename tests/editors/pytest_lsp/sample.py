"""A small module with most of what names can stand for. Marks (`|`) are added with `marked`."""

MODULE = """HloModule sample, entry_computation_layout={(f32[8,128]{1,0}, f32[8,128]{1,0})->f32[8,128]{1,0}}

%fused_computation (param_0: f32[8,128], param_1: f32[8,128]) -> f32[8,128] {
  %param_0 = f32[8,128]{1,0} parameter(0)
  %param_1 = f32[8,128]{1,0} parameter(1)
  ROOT %multiply.1 = f32[8,128]{1,0} multiply(%param_0, %param_1)
}

ENTRY %main (x: f32[8,128], y: f32[8,128]) -> f32[8,128] {
  %x = f32[8,128]{1,0} parameter(0)
  %y = f32[8,128]{1,0} parameter(1), metadata={op_name="é😀" source_file="sample.py" source_line=3}
  %fusion.1 = f32[8,128]{1,0} fusion(%x, %y), kind=kLoop, calls=%fused_computation
  ROOT %add.1 = f32[8,128]{1,0} add(%fusion.1, %y), control-predecessors={%x}
}
"""


def marked(*needles: str) -> str:
    """The module with a mark; each needle contains it as `|` and stands in the module exactly once without it."""
    text = MODULE
    for needle in needles:
        plain = needle.replace("|", "")
        assert text.count(plain) == 1, plain
        text = text.replace(plain, needle)
    return text
