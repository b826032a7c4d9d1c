//! Instructions with one wrong number or operand: which of them have no map, and why.

use expect_test::expect;
use generators::hlo;
use indexing::{Rules, input_to_output_by, output_to_input_by};
use random::Rng;
use test_files::Tally;

use crate::power::measure;

const INSTRUCTIONS: u64 = 10_000;

/// Numbers are left out of the reasons. A check that is missing gives maps to more instructions.
#[test]
fn reasons_and_maps_are_those_recorded() {
    let opcodes = hlo::opcodes();
    let (mut maps, mut reasons) = (Tally::default(), Tally::default());
    for seed in 0..INSTRUCTIONS {
        let opcode = opcodes[seed as usize % opcodes.len()];
        let Some(op) = hlo::nearly_valid_op(opcode, &mut Rng::new(seed)) else { continue };
        let outputs = eval::leaves(&op.shape).len();
        let forth = (0..outputs).map(|k| output_to_input_by(&op, k, Rules::Exact));
        let back = (0..op.operand_shapes.len()).map(|i| input_to_output_by(&op, i, Rules::Exact));
        for answer in forth.chain(back) {
            for access in answer.operands.iter().flatten().filter(|access| access.map.is_undefined()) {
                let note = access.note.as_deref().expect("a reason");
                reasons.add(note.replace(|c: char| c.is_ascii_digit(), ""), 1);
            }
            measure(&mut maps, answer, Rules::Exact);
        }
    }
    maps.check(expect![[r#"
        accesses: 36234
        constraints: 1246
        empty: 4498
        nodes: 4887
        notes: 14505
        range variables: 6691
        runtime variables: 1105
        undefined: 8113
        upper bounds: 1975
        values of variables: 752347
    "#]]);
    reasons.check(expect![[r#"
         elements cannot become : 90
         indices for  dimensions: 146
        a and b do not fit together: 4
        a batch or contracting dimension  is named twice: 32
        a batch or contracting dimension  is not a dimension of : 192
        a batch or contracting dimension - is not a dimension of : 20
        a batching dimension does not fit: 12
        a batching dimension has an index, too: 10
        a dimension is both batch and contracting: 44
        a dimension of the operand and its dimension of the output differ in size: 30
        a scale's size does not divide its operand's: 16
        batch-norm-grad takes  operands: 396
        batch-norm-inference takes  operands: 76
        batch-norm-training takes  operands: 240
        bitcast takes  operand: 16
        broadcast takes  operands, not : 16
        collapsed_slice_dims  is not a dimension of : 4
        collapsed_slice_dims - is not a dimension of : 4
        convolution takes  operands, not : 16
        dim_labels is missing or broken: 12
        dimension  is collapsed, but its slice is larger than : 4
        dimensions  is named twice: 32
        dimensions  is not a dimension of : 534
        dimensions - is not a dimension of : 94
        dimensions must be one dimension: 40
        dot takes two operands: 8
        feature_index  is not a dimension of : 274
        feature_index - is not a dimension of : 30
        gather takes two operands: 54
        index_vector_dim is not a dimension of the indices: 36
        input  has other sizes than input : 16
        inserted_window_dims  is named twice: 6
        inserted_window_dims  is not a dimension of : 6
        lhs_ragged_dims  is not a dimension of : 6
        num_carries does not fit the operands: 8
        offset_dims  is named twice: 8
        offset_dims  is not a dimension of : 20
        offset_dims - is not a dimension of : 4
        offset_dims has too few entries: 4
        operand  and the output differ in more than dimension : 124
        operand  does not fit: 270
        operand  has other sizes than the output: 100
        operand  is missing: 25
        operand  is not square: 26
        output and operand differ in rank: 30
        output dimension  is not as large as its slice: 28
        pad takes  operands, not : 35
        padding does not name one entry per dimension: 8
        paired dimensions differ in size: 222
        ragged-dot takes three operands: 64
        reduce takes inputs and as many init values: 170
        reduce-window takes inputs and as many init values: 164
        reshape takes  operands, not : 24
        reverse takes  operands, not : 12
        rhs_group_dims does not fit the ragged dimension: 18
        scaled-dot takes four operands: 64
        scatter takes n operands, indices, and n updates: 176
        scatter_dims_to_operand_dims  is named twice: 6
        scatter_dims_to_operand_dims  is not a dimension of : 38
        scatter_dims_to_operand_dims does not fit the index vector: 18
        select-and-scatter takes three operands: 80
        slice takes  operands, not : 4
        start_index_map  is named twice: 8
        start_index_map  is not a dimension of : 8
        start_index_map - is not a dimension of : 4
        start_index_map does not fit the index vector: 16
        start_indices_batching_dims  is not a dimension of : 8
        the index vector cannot be a batching dimension: 10
        the operand has  dimensions: 16
        the operand has no such element: 20
        the operand is a tuple: 3
        the operands do not add up to the output: 168
        the operands of a sort differ in size: 136
        the operands of an all-to-all differ in size: 90
        the output does not fit the operand: 766
        the output has other steps than the inputs: 62
        the output is not the operand transposed: 44
        the output's batch dimensions are not those of the indices: 36
        the output's rows are not the operand's: 98
        the output's sizes are not the operand's: 1174
        the output's sizes are not those of b: 88
        the output's sizes are not those of batch and free dimensions: 254
        the output's sizes are not those of the kept dimensions: 116
        the padding does not give the output's size in dimension : 156
        the shapes of this bitcast-convert do not fit the element widths: 30
        the sizes of input, kernel, window and output do not fit together: 68
        the sizes of output and operand do not fit the number of replicas: 98
        the slice and the array differ in rank: 24
        the slice does not fit the operand in dimension : 8
        the slice is larger than the array in dimension : 82
        the slice leaves the operand in dimension : 22
        the stride in dimension  is not positive: 8
        the updates' scatter dimensions are not those of the indices: 32
        this operand only orders: 54
        transpose takes  operands, not : 12
        triangular-solve takes two operands: 48
        update_window_dims  is not a dimension of : 18
        update_window_dims - is not a dimension of : 6
        window dimension  has a stride or dilation that is not positive: 50
        window does not have one entry per dimension: 6
    "#]]);
}
