//! A module prints as the text that it was read from.

use generators::hlo::random_graph;
use random::Rng;

use crate::{canonical, module, print};

#[track_caller]
fn check(text: &str) {
    assert_eq!(print(&module(text)), canonical(text));
}

#[test]
fn all_that_a_module_can_hold_is_kept() {
    check(
        "HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, buffer_donor={ (1, {}) }, \
         entry_computation_layout={(f32[4]{0}, f32[4,2]{0,1})->(f32[4]{0}, f32[])}, replica_count=2, new_key={1}\n\n\
         add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n\n\
         f {\n  p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p)\n}\n\n\
         ENTRY e {\n  x = f32[4] parameter(0), metadata={op_name=\"x\"}\n  y = f32[4,2]{0,1} parameter(1)\n  \
         zero = f32[] constant(0), origin={{\"z\"}}\n  \
         fusion = f32[4] fusion(x), kind=kLoop, calls=f, backend_config={\"a\":{\"b\":1}}\n  \
         r = f32[] reduce(y, zero), dimensions={0,1}, to_apply=add, control-predecessors={fusion}\n  \
         start = (f32[4], f32[4], u32[]) copy-start(fusion)\n  done = f32[4] copy-done(start)\n  \
         odd = f32[4] new-opcode(done), new_attribute={1,2}\n  \
         c = f32[4] custom-call(odd), custom_call_target=\"t\", called_computations={add}\n  \
         ROOT t = (f32[4], f32[]) tuple(c, r)\n}\n",
    );
}

#[test]
fn nested_instructions_and_compact_elements_become_instructions() {
    let text = "HloModule m\n\nENTRY e {\n  p = (f32[2], s32[]) parameter(0)\n  ROOT a = f32[2] add(p#0, f32[2] negate(p#0))\n}\n";
    check(text);
    assert_eq!(module(text).count(module(text).entry()), 4);
}

#[test]
fn random_modules_print_as_they_were_read() {
    for case in 0..generators::cases(300) {
        let generated = random_graph(&mut Rng::new(generators::seed(case)));
        assert_eq!(print(&module(&generated.text)), canonical(&generated.text), "{}", generated.text);
    }
}

#[test]
fn modules_that_xla_dumped_print_as_they_were_read() {
    for path in test_files::below(test_files::dump_folder(), ".txt") {
        let text = std::fs::read_to_string(&path).expect("it is readable");
        if text.starts_with("HloModule") {
            assert_eq!(print(&module(&text)), canonical(&text), "{}", path.display());
        }
    }
}
