//! Compiles the generated parsers.

fn main() {
    for language in ["hlo", "mlir", "ptx"] {
        let source = format!("{language}/src/parser.c");
        println!("cargo::rerun-if-changed={source}");
        // Not our code: its warnings are for the generator.
        let include = format!("{language}/src");
        cc::Build::new()
            .include(include)
            .file(source)
            .warnings(false)
            .std("c11")
            .compile(&format!("tree-sitter-{language}"));
    }
}
