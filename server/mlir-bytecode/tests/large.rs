//! Texts larger than what one type or attribute may take, and texts that have no end.

/// A number in its longest form.
fn number(number: u64) -> Vec<u8> {
    [&[0][..], &number.to_le_bytes()].concat()
}

fn list(numbers: &[u64]) -> Vec<u8> {
    let mut out = number(numbers.len() as u64);
    out.extend(numbers.iter().flat_map(|&item| number(item)));
    out
}

fn section(id: u8, bytes: &[u8]) -> Vec<u8> {
    [&[id][..], &number(bytes.len() as u64), bytes].concat()
}

/// Bytecode of version 0 with `count` ops `builtin.op {name = attribute 1, name = attribute 2, …}`. Attribute 0 is the unknown
/// location, type 0 is `tensor<…xi8>`.
fn file(attributes: &[Vec<u8>], extent: u64, count: u64) -> Vec<u8> {
    let strings: [&[u8]; 3] = [b"builtin", b"op", b"name"];
    let mut strings_section = number(3);
    strings.iter().rev().for_each(|string| strings_section.extend(number(string.len() as u64 + 1)));
    strings.iter().for_each(|string| strings_section.extend([string, &b"\0"[..]].concat()));

    let dialects = [list(&[0]), number(0), list(&[1])].concat();

    let name = [number(2), number(2)].concat();
    let mut entries = vec![number(15), name];
    entries.extend_from_slice(attributes);
    let members: Vec<u64> = (0..attributes.len() as u64).flat_map(|n| [1, n + 2]).collect();
    let mut dictionary = [number(1), number(attributes.len() as u64)].concat();
    dictionary.extend(members.iter().flat_map(|&index| number(index)));
    entries.push(dictionary);
    let dictionary_index = entries.len() as u64 - 1;
    // Extents are in the zigzag form.
    let types =
        [[number(13), list(&[extent << 1]), number(1)].concat(), [number(0), number(8 << 2)].concat()];
    let mut offsets = [number(entries.len() as u64), number(2)].concat();
    for group in [&entries[..], &types[..]] {
        offsets.extend([number(0), number(group.len() as u64)].concat());
        group.iter().for_each(|entry| offsets.extend(number((entry.len() as u64) << 1 | 1)));
    }

    let mut ops = number(count << 1);
    for _ in 0..count {
        ops.extend([&number(0)[..], &[1], &number(0), &number(dictionary_index)].concat());
    }
    let entries: Vec<u8> = entries.iter().chain(&types).flatten().copied().collect();
    let sections = [(0, strings_section), (1, dialects), (2, entries), (3, offsets), (4, ops)];
    let mut out = b"ML\xefR\x01test\0".to_vec();
    sections.iter().for_each(|(id, bytes)| out.extend(section(*id, bytes)));
    out
}

fn dense(bytes: &[u8]) -> Vec<u8> {
    [&number(18)[..], &number(0), &number(bytes.len() as u64), bytes].concat()
}

#[test]
fn modules_may_have_much_text() {
    let unit = number(7);
    let text = mlir_bytecode::module_text(&file(&[unit.clone(), unit], 1, 200_000)).expect("a text");
    assert!(text.len() > 5 << 20, "{}", text.len());
    assert!(text.starts_with("\"builtin.op\"() {name, name} : () -> ()\n"), "{:.80}", text);
    assert_eq!(text.lines().count(), 200_000);
}

#[test]
fn constants_may_have_much_text() {
    let bytes: Vec<u8> = (0..3 << 20).map(|n| n as u8).collect();
    let file = file(&[dense(&bytes), dense(&bytes[1..]), number(7)], bytes.len() as u64, 1);
    let error = mlir_bytecode::module_text(&file).expect_err("one element is missing");
    assert!(error.message.starts_with("a constant of 3145728 elements has 3145727 bytes"), "{error}");
    let file = self::file(&[dense(&bytes), dense(&bytes), number(7)], bytes.len() as u64, 1);
    let text = mlir_bytecode::module_text(&file).expect("a text");
    assert!(text.len() > 4 * bytes.len(), "{}", text.len());
    assert!(text.ends_with("FDFEFF\"> : tensor<3145728xi8>, name} : () -> ()\n"));
}

#[test]
fn attributes_that_repeat_others_have_a_largest_text() {
    // Each list has the previous one 16 times.
    let lists = (0..12).map(|n| [number(0), list(&[n + 1; 16])].concat());
    let error = mlir_bytecode::module_text(&file(&lists.collect::<Vec<_>>(), 1, 1)).unwrap_err();
    assert_eq!(error.message, "a type or an attribute has a text of more than 4 MB");
}

#[test]
fn a_location_in_its_own_metadata_is_an_error() {
    let itself = [number(13), list(&[0]), number(2)].concat();
    let error = mlir_bytecode::module_text(&file(&[itself], 1, 1)).unwrap_err();
    assert_eq!(error.message, "types and attributes are nested more than 64 deep");
}
