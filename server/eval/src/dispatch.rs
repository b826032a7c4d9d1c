//! Dispatches ops that are not elementwise to the evaluation of their opcode.

use std::rc::Rc;
use std::sync::Arc;

use ir::{Graph, Op, OpId, Opcode, Shape};

use super::column::Column;
use super::evaluator::{Evaluator, kind_of, leaf_shape, named};
use super::frames::Binding;
use super::positions::{Batch, array, count};
use super::{
    called, collectives, contractions, decompositions, expansions, extents, indexed, moves, ragged,
    random_bits, reductions, rng, scans, scatters, sorting, transforms, windows,
};
use crate::checks::{Checked, Reason};

/// A request for elements of one array of an op's result.
pub(crate) struct Asked<'a> {
    pub(crate) frame: usize,
    pub(crate) graph: &'a Arc<Graph>,
    pub(crate) id: OpId,
    pub(crate) op: &'a Op,
    pub(crate) leaf: usize,
    pub(crate) batch: &'a Rc<Batch>,
}

impl Asked<'_> {
    pub(crate) fn operands(&self) -> &[OpId] {
        &self.graph.operands[self.id as usize]
    }

    pub(crate) fn operand(&self, i: usize) -> Checked<OpId> {
        self.operands().get(i).copied().ok_or_else(|| format!("operand {i} is missing").into())
    }

    pub(crate) fn operand_shape(&self, i: usize) -> Checked<&Shape> {
        self.op.operand_shapes.get(i).ok_or_else(|| format!("operand {i} is missing").into())
    }
}

impl<'a> Evaluator<'a> {
    pub(crate) fn boundary(
        &mut self,
        frame: usize,
        graph: &Arc<Graph>,
        id: OpId,
        leaf: usize,
        batch: &Rc<Batch>,
    ) -> Checked<Rc<Column>> {
        let op = &graph.ops[id as usize];
        let elements = count(array(leaf_shape(&op.shape, leaf)?)?);
        if batch.positions.iter().any(|p| !(0..elements).contains(p)) {
            return Err(format!("an element outside of {}", graph.names[id as usize]).into());
        }
        if batch.positions.is_empty() {
            return Ok(Rc::new(Column::none(kind_of(leaf_shape(&op.shape, leaf)?)?)));
        }
        self.spend(batch.positions.len())?;
        let given = Asked { frame, graph, id, op, leaf, batch };
        if extents::is_exposed(op) {
            let why = format!("{} of dimensions whose size is not static is not evaluated", op.opcode);
            return Err(named(graph, id, why.into()));
        }
        let result = match op.opcode {
            Opcode::Parameter => return self.parameter(frame, op, leaf, batch),
            Opcode::Tuple => return called::tuple(self, &given),
            Opcode::GetTupleElement => return called::element(self, &given),
            Opcode::Fusion | Opcode::Call => return called::call(self, &given),
            Opcode::Conditional => return called::conditional(self, &given),
            Opcode::BatchNormTraining
            | Opcode::BatchNormInference
            | Opcode::BatchNormGrad
            | Opcode::Topk
            | Opcode::ScaledDot => {
                return expansions::expanded(self, &given).map_err(|why| named(graph, id, why));
            }
            Opcode::AllReduce
            | Opcode::AllReduceStart
            | Opcode::AllReduceDone
            | Opcode::AllGather
            | Opcode::AllGatherStart
            | Opcode::AllGatherDone
            | Opcode::AllToAll
            | Opcode::ReduceScatter
            | Opcode::CollectiveBroadcast
            | Opcode::CollectiveReduce
            | Opcode::CollectivePermute
            | Opcode::CollectivePermuteStart
            | Opcode::CollectivePermuteDone => {
                return collectives::collective(self, &given).map_err(|why| named(graph, id, why));
            }
            Opcode::CopyStart | Opcode::CopyDone => return collectives::copied(self, &given),
            Opcode::AsyncStart | Opcode::AsyncUpdate | Opcode::AsyncDone => {
                return collectives::asynchronous(self, &given).map_err(|why| named(graph, id, why));
            }
            Opcode::PartitionId | Opcode::ReplicaId => collectives::number(self, &given),
            Opcode::Rng => rng::random(self, &given),
            Opcode::Scan => scans::scan(self, &given),
            Opcode::RaggedDot => self.known(&given, ragged::ragged_dot),
            Opcode::DynamicReshape => extents::reshaped(self, &given),
            Opcode::While => called::while_loop(self, &given),
            Opcode::Map => called::map(self, &given),
            Opcode::OptBarrier | Opcode::Domain | Opcode::AddDependency | Opcode::Copy => {
                return self.eval(frame, given.operand(0)?, leaf, batch);
            }
            Opcode::Reduce => self.known(&given, reductions::reduce),
            Opcode::ReduceWindow => self.known(&given, windows::reduce_window),
            Opcode::SelectAndScatter => self.known(&given, windows::select_and_scatter),
            Opcode::Dot => self.known(&given, contractions::dot),
            Opcode::Convolution => self.known(&given, contractions::convolution),
            Opcode::Scatter => self.known(&given, scatters::scatter),
            Opcode::Sort => self.known(&given, sorting::sort),
            Opcode::RngBitGenerator => random_bits::generate(self, &given),
            Opcode::Fft => self.as_whole(&given, transforms::fft),
            Opcode::Cholesky => self.as_whole(&given, decompositions::cholesky),
            Opcode::TriangularSolve => self.as_whole(&given, decompositions::triangular_solve),
            Opcode::GetDimensionSize => extents::size_of(self, &given),
            Opcode::SetDimensionSize => extents::resized(self, &given),
            Opcode::Constant => moves::constant(&given),
            Opcode::Iota => moves::iota(&given),
            Opcode::Broadcast => moves::broadcast(self, &given),
            Opcode::Transpose | Opcode::Reverse | Opcode::Slice => moves::strided(self, &given),
            Opcode::Shuffle => moves::rotated(self, &given),
            Opcode::Reshape => moves::reshaped(self, &given),
            Opcode::Bitcast => moves::bitcast(self, &given),
            Opcode::BitcastConvert => moves::bitcast_convert(self, &given),
            Opcode::Concatenate => moves::concatenate(self, &given),
            Opcode::Pad => moves::pad(self, &given),
            Opcode::DynamicSlice => indexed::dynamic_slice(self, &given),
            Opcode::DynamicUpdateSlice => indexed::dynamic_update_slice(self, &given),
            Opcode::Gather => indexed::gather(self, &given),
            // Their results come from other programs, the device or other devices, or are tokens.
            Opcode::AfterAll
            | Opcode::CustomCall
            | Opcode::Infeed
            | Opcode::Outfeed
            | Opcode::RaggedAllToAll
            | Opcode::Recv
            | Opcode::RecvDone
            | Opcode::RngGetAndUpdateState
            | Opcode::Send
            | Opcode::SendDone
            // Elementwise ops come here if operands and result differ in shape.
            | ir::elementwise!() => Err(format!("{} is not evaluated", op.opcode).into()),
        };
        result.map(Rc::new).map_err(|why| named(graph, id, why))
    }

    fn parameter(&mut self, frame: usize, op: &Op, leaf: usize, batch: &Rc<Batch>) -> Checked<Rc<Column>> {
        let number = op.parameter.ok_or("a parameter without a number")?;
        let binding = self.frames[frame].parameters.get(number as usize).cloned();
        match binding.ok_or_else(|| Reason::from(format!("parameter {number} has no value")))? {
            Binding::Input(number) => {
                let column = (self.inputs)(number, leaf, &batch.positions)?;
                let kind = kind_of(leaf_shape(&op.shape, leaf)?)?;
                if column.len() != batch.positions.len() || column.kind != kind {
                    return Err(format!("the value of parameter {number} does not have its shape").into());
                }
                Ok(Rc::new(column))
            }
            Binding::Outer(frame, op) => self.eval(frame, op, leaf, batch),
            Binding::Held(leaves) => {
                let whole = leaves.get(leaf).ok_or("a tuple has too few elements")?;
                let indices: Vec<u32> = batch.positions.iter().map(|&p| p as u32).collect();
                if indices.iter().any(|&i| i as usize >= whole.len()) {
                    return Err("a parameter does not have the shape of its argument".into());
                }
                Ok(Rc::new(whole.pick(&indices)))
            }
        }
    }
}
