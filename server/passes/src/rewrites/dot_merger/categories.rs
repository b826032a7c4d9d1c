//! What a dot does with each dimension of an operand.
//!
//! Source: XLA `service/matmul_indexing_utils.cc`, `DotOperandDims`.

use syntax::hlo::{AttributeKey, Opcode};

use crate::module::{InstructionId, Module};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Category {
    Batch,
    Free,
    Contracting,
}

/// The dimensions of an operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Operand {
    pub(in super::super) dims: Vec<i64>,
    pub(in super::super) categories: Vec<Category>,
}

impl Operand {
    /// `None` where the numbers of a category are not in order.
    pub(in super::super) fn of(module: &Module, dot: InstructionId, side: usize) -> Option<Operand> {
        let (batch, contracting) = match side {
            0 => (AttributeKey::LhsBatchDims, AttributeKey::LhsContractingDims),
            _ => (AttributeKey::RhsBatchDims, AttributeKey::RhsContractingDims),
        };
        let attributes = module[dot].attributes();
        let (batch, contracting) = (attributes.ints(batch), attributes.ints(contracting));
        let dims = module[module.operand(dot, side)].dims().to_vec();
        let category = |dim: i64| match () {
            () if batch.contains(&dim) => Category::Batch,
            () if contracting.contains(&dim) => Category::Contracting,
            () => Category::Free,
        };
        let categories = (0..dims.len() as i64).map(category).collect();
        (batch.is_sorted() && contracting.is_sorted()).then_some(Operand { dims, categories })
    }

    pub(in super::super) fn indices(&self, category: Category) -> Vec<usize> {
        (0..self.dims.len()).filter(|&dim| self.categories[dim] == category).collect()
    }

    pub(in super::super) fn sizes(&self, category: Category) -> Vec<i64> {
        self.indices(category).into_iter().map(|dim| self.dims[dim]).collect()
    }

    pub(in super::super) fn size(&self, category: Category) -> i64 {
        self.sizes(category).iter().fold(1, |product, &size| product.saturating_mul(size))
    }

    /// The dimensions with batch first, then contracted and other ones.
    pub(in super::super) fn order(&self, contracts_last: bool) -> Vec<usize> {
        let (second, third) = match contracts_last {
            true => (Category::Free, Category::Contracting),
            false => (Category::Contracting, Category::Free),
        };
        [Category::Batch, second, third].into_iter().flat_map(|category| self.indices(category)).collect()
    }

    pub(in super::super) fn without_units(&self) -> Operand {
        let kept = (0..self.dims.len()).filter(|&dim| self.dims[dim] != 1);
        let (dims, categories) = kept.map(|dim| (self.dims[dim], self.categories[dim])).unzip();
        Operand { dims, categories }
    }

    /// With the dimensions of a category as one, if they are next to each other.
    pub(in super::super) fn with_joined(&self, category: Category) -> Operand {
        let indices = self.indices(category);
        let is_run = indices.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let mut joined = self.clone();
        if let Some((&first, rest)) = indices.split_first()
            && is_run
        {
            joined.dims[first] = self.size(category);
            joined.dims.drain(first + 1..first + 1 + rest.len());
            joined.categories.drain(first + 1..first + 1 + rest.len());
        }
        joined
    }

    /// The dimensions before a transpose or reshape; `None` where that mixes categories.
    pub(in super::super) fn before(&self, module: &Module, id: InstructionId) -> Option<Operand> {
        let source = module[module.operand(id, 0)].dims().to_vec();
        if module[id].opcode() == Opcode::Transpose {
            let mut categories = self.categories.clone();
            for (&from, &category) in module[id].dimensions().iter().zip(&self.categories) {
                *categories.get_mut(from as usize)? = category;
            }
            return Some(Operand { dims: source, categories });
        }
        let mut merged: Vec<(i64, Category)> = Vec::new();
        let small = self.without_units();
        for (&size, &category) in small.dims.iter().zip(&small.categories) {
            match merged.last_mut().filter(|last| last.1 == category) {
                Some(last) => last.0 *= size,
                None => merged.push((size, category)),
            }
        }
        if merged.is_empty() {
            let categories = vec![Category::Free; source.len()];
            return Some(Operand { dims: source, categories });
        }
        let mut categories = Vec::with_capacity(source.len());
        let mut place = 0;
        for (size, category) in merged {
            let mut product = 1;
            while product < size && place < source.len() {
                product *= source[place];
                place += 1;
                categories.push(category);
            }
            if product != size {
                return None;
            }
        }
        let last = *categories.last()?;
        categories.resize(source.len(), last);
        Some(Operand { dims: source, categories })
    }

    /// The order that moves the dimensions of a category behind the others, unless they are next to each other.
    pub(in super::super) fn with_last(&self, category: Category) -> Vec<usize> {
        let indices = self.indices(category);
        let all = 0..self.dims.len();
        if indices.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
            return all.collect();
        }
        all.filter(|dim| !indices.contains(dim)).chain(indices.iter().copied()).collect()
    }

    pub(in super::super) fn permuted(&self, order: &[usize]) -> Operand {
        let (dims, categories) = order.iter().map(|&dim| (self.dims[dim], self.categories[dim])).unzip();
        Operand { dims, categories }
    }
}
