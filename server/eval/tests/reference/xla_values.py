#!/usr/bin/env python3
"""Makes xla_values.txt.gz and xla_expanded_values.txt.gz: what XLA's CPU backend answers, for tests/reference/xla.rs. The
argument names the file. Needs jax and jaxlib: the first was made with 0.12.0.1, the second with 0.10.2.

Left out, because XLA has no answer on the CPU: inverse and hyperbolic functions of complex numbers but tanh (the compiler
crashes), cbrt of complex numbers, mulhi. Left out, because XLA's formula loses all digits: atan2 of complex numbers."""

import gzip, os, random, sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax, ml_dtypes, numpy as np
from jax._src import compiler
from jax._src.interpreters import mlir as jax_mlir
from jaxlib import _hlo, _jax, xla_client
from jaxlib.mlir import ir

jax.config.update("jax_enable_x64", True)
random.seed(7)
device = jax.devices()[0]

TYPES = {
    "pred": np.bool_, "s2": ml_dtypes.int2, "u2": ml_dtypes.uint2, "s4": ml_dtypes.int4, "u4": ml_dtypes.uint4,
    "s8": np.int8, "u8": np.uint8, "s16": np.int16, "u16": np.uint16, "s32": np.int32, "u32": np.uint32,
    "s64": np.int64, "u64": np.uint64, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32,
    "f64": np.float64, "c64": np.complex64, "c128": np.complex128, "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3": ml_dtypes.float8_e4m3, "f8e3m4": ml_dtypes.float8_e3m4, "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz, "f4e2m1fn": ml_dtypes.float4_e2m1fn,
}
SCALE = {"f8e8m0fnu": ml_dtypes.float8_e8m0fnu}
PACKED = {"s2": 2, "u2": 2, "s4": 4, "u4": 4, "f4e2m1fn": 4}
INTEGERS = ["s2", "u2", "s4", "u4", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"]
SHORT = [name for name in TYPES if name.startswith(("f8", "f4"))]
FLOATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
COMPLEX = {"c64": "f32", "c128": "f64"}
DIRECTIONS = ["EQ", "NE", "LT", "LE", "GT", "GE"]
lines = []


def run(text, *arguments):
    module = _hlo.hlo_module_from_text(text)
    code = _jax.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())
    context = jax_mlir.make_ir_context()
    options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    with context:
        devices = xla_client.DeviceList((device,))
        program = device.client.compile_and_load(ir.Module.parse(code, context), devices, options, [])
    results = program.execute_sharded([jax.device_put(a) for a in arguments])
    return [np.asarray(arrays[0]) for arrays in results.disassemble_into_single_device_arrays()]


def width(name):
    return PACKED.get(name) or np.dtype({**TYPES, **SCALE}[name]).itemsize * 8


def bits(array, name):
    array = np.ascontiguousarray(array)
    size, data = array.dtype.itemsize, array.tobytes()
    codes = (int.from_bytes(data[i * size : (i + 1) * size], "little") for i in range(array.size))
    return " ".join(format(code & ((1 << width(name)) - 1), "x") for code in codes)


def shape(name, array):
    return f"{name}[{','.join(map(str, array.shape))}]"


# Computations that ops name; tests/reference/xla.rs has the same.
CALLED = """sum {
 a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b)
}
running {
 x = f32[] parameter(0)
 carry = f32[] parameter(1)
 next = f32[] add(x, carry)
 ROOT both = (f32[], f32[]) tuple(next, next)
}
weighed {
 x = s32[3] parameter(0)
 y = s32[3] parameter(1)
 carry = s32[3] parameter(2)
 product = s32[3] multiply(x, y)
 next = s32[3] add(product, carry)
 ROOT all = (s32[3], s32[3], s32[3]) tuple(product, carry, next)
}
"""


def case(op, result, *operands, expect=None):
    """`result`: a shape, or a list of those of a tuple. `expect`: arrays, where XLA's CPU backend lacks the op."""
    tuple_ = isinstance(result, list)
    text = f"({', '.join(result)})" if tuple_ else result
    body = "".join(f" {'abcde'[i]} = {shape(name, a)} parameter({i})\n" for i, (name, a) in enumerate(operands))
    try:
        called = CALLED if "to_apply" in op else ""
        module = f"HloModule m\n{called}ENTRY e {{\n{body} ROOT r = {text} {op}\n}}\n"
        arrays = expect or run(module, *(a for _, a in operands))
    except Exception as error:
        print(f"not run: {text} {op}: {str(error).splitlines()[0]}", file=sys.stderr)
        return
    for i, array in enumerate(arrays):
        name = (result[i] if tuple_ else result).split("[")[0]
        inputs = [f"{shape(n, a)} {bits(a, n)}" for n, a in operands]
        lines.append(" | ".join([f"{text} {i}" if tuple_ else text, op, *inputs, bits(array, name)]))


def elementwise(op, name, *operands, cap=72):
    count = len(operands[0][1])
    keep = sorted(random.sample(range(count), min(cap, count)))
    case(op, f"{name}[{len(keep)}]", *((n, a[keep]) for n, a in operands))


def from_codes(name, codes):
    unsigned = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[max(8, width(name))]
    return np.array(codes, unsigned).view(TYPES[name])


def floats(name):
    if name in SHORT:
        return from_codes(name, list(range(1 << width(name))))
    exponent, mantissa = FLOATS[name]
    infinity, one = ((1 << exponent) - 1) << mantissa, ((1 << (exponent - 1)) - 1) << mantissa
    codes = [0, 1, 2, (1 << mantissa) - 1, 1 << mantissa, (1 << mantissa) + 1, infinity - 1, infinity]
    codes += [infinity | 1 << (mantissa - 1), one, one + 1, one - 1]
    codes += [random.randrange(1 << (exponent + mantissa)) for _ in range(24)]
    plain = [0.5, 1.5, 2, 2.5, 3, -0.75, 1 / 3, np.pi, np.pi / 2, 10, 17.25, 88, 100.5, 255.5, 1000, 65504, 1e-3, 1e-5]
    plain += [1e5, 7.7, 0.1, 0.25, 0.9, 4.5, 8, 11, 12.3, 30, 0.99, 1.01, 1e-8, 1e8, 1e15, 1e30, 1e-30, 127.5, 6e18]
    with np.errstate(all="ignore"):
        both = np.concatenate([from_codes(name, codes), np.array(plain, np.float64).astype(TYPES[name])])
        return np.concatenate([both, -both])


def integers(name):
    if name == "pred":
        return np.array([False, True])
    size = width(name)
    low, high = (-(1 << (size - 1)), (1 << (size - 1)) - 1) if name[0] == "s" else (0, (1 << size) - 1)
    if size <= 4:
        return np.array(range(low, high + 1), np.int64).astype(TYPES[name])
    some = {low, low + 1, high, high - 1, 0, 1, 2, 3, 7, size - 1, size, size + 1, high // 2, 100, 31, 63, 64, -1, -2, -7}
    some |= {random.randrange(low, high + 1) for _ in range(12)}
    return np.array([n for n in sorted(some) if low <= n <= high], TYPES[name])


def complexes(name):
    part = np.finfo(TYPES[COMPLEX[name]])
    large, small = (1e30, 1e-30) if name == "c64" else (1e300, 1e-300)
    parts = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan, small, -large, part.max, part.tiny]
    parts += [1e-4, -30.0, 100.0, 710.0]
    return np.array([complex(a, b) for a in parts for b in parts], TYPES[name])


def values(name):
    return complexes(name) if name in COMPLEX else integers(name) if name in INTEGERS + ["pred"] else floats(name)


def pairs(name, count=64):
    some = values(name)
    left, right = ([random.randrange(len(some)) for _ in range(count)] for _ in range(2))
    return (name, some[left]), (name, some[right])


def elements():
    unary = """abs acos acosh asin asinh atanh cbrt ceil cosine cosh erf exponential exponential-minus-one floor log
        log-plus-one logistic negate round-nearest-afz round-nearest-even rsqrt sign sine sinh sqrt tan tanh""".split()
    precisions = [(5, 10), (4, 8), (8, 7), (4, 3), (5, 2), (2, 1), (1, 0), (8, 0), (3, 20), (11, 32), (10, 5)]
    for name in [*FLOATS, *SHORT]:
        operand = (name, floats(name))
        for op in unary:
            elementwise(f"{op}(a)", name, operand)
        elementwise("is-finite(a)", "pred", operand)
        for e, m in precisions:
            elementwise(f"reduce-precision(a), exponent_bits={e}, mantissa_bits={m}", name, operand)
        a, b = pairs(name)
        for op in "add subtract multiply divide remainder maximum minimum power atan2".split():
            elementwise(f"{op}(a, b)", name, a, b)
        for direction in DIRECTIONS:
            elementwise(f"compare(a, b), direction={direction}", "pred", a, b)
        elementwise("clamp(a, b, c)", name, a, b, (name, a[1][::-1].copy()))
    for name, part in COMPLEX.items():
        operand = (name, complexes(name))
        for op in """cosine exponential exponential-minus-one log log-plus-one logistic negate rsqrt sign sine sqrt tan
                tanh""".split():
            elementwise(f"{op}(a)", name, operand, cap=120)
        for op in ["abs", "real", "imag"]:
            elementwise(f"{op}(a)", part, operand)
        a, b = pairs(name, 200)
        for op in "add subtract multiply divide power".split():
            elementwise(f"{op}(a, b)", name, a, b, cap=200)
        elementwise("compare(a, b), direction=EQ", "pred", a, b)
        elementwise("compare(a, b), direction=NE", "pred", a, b)
        elementwise("complex(a, b)", name, (part, a[1].real.copy()), (part, b[1].real.copy()))
    for name in ["pred", *INTEGERS]:
        operand, (a, b) = (name, integers(name)), pairs(name)
        for op in "abs negate sign not popcnt count-leading-zeros".split():
            elementwise(f"{op}(a)", name, operand)
        for op in """add subtract multiply divide remainder maximum minimum power and or xor shift-left
                shift-right-logical shift-right-arithmetic""".split():
            elementwise(f"{op}(a, b)", name, a, b)
        for direction in DIRECTIONS:
            elementwise(f"compare(a, b), direction={direction}", "pred", a, b)
    for source in TYPES:
        for target in TYPES:
            # XLA's compiler crashes on complex to pred.
            if source != target and not (target == "pred" and source in COMPLEX):
                elementwise("convert(a)", target, (source, values(source)), cap=48)


def bits_of_generators():
    states = [np.array(words, np.uint64) for words in ([1, 2], [2**64 - 1, 2**64 - 2], [7, 2**64 - 1, 2**63 + 5])]
    for algorithm in ["rng_three_fry", "rng_philox", "rng_default"]:
        for state in states[: 2 if algorithm == "rng_three_fry" else 3]:
            for name in "u4 u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64".split():
                for dims in ["5", "", "2,3", "3,3", "3,4,5", "1", "7,1,3", "0"]:
                    if name in ("u32", "u64") or dims in ("5", "3,4,5"):
                        op = f"rng-bit-generator(a), algorithm={algorithm}"
                        case(op, [f"u64[{len(state)}]", f"{name}[{dims}]"], ("u64", state))


def transforms_and_decompositions():
    random_ = np.random.default_rng(5)
    for name, part in COMPLEX.items():
        def normal(*dims):
            return (random_.standard_normal(dims) + 1j * random_.standard_normal(dims)).astype(TYPES[name])

        for lengths in [[n] for n in (1, 2, 3, 4, 5, 7, 12, 13, 16, 30, 49, 97, 128)] + [[4, 5], [3, 4, 5]]:
            *outer, last = lengths
            half = last // 2 + 1
            x = normal(2, *lengths)
            text = f"fft_length={{{','.join(map(str, lengths))}}}"
            full, halved = (",".join(map(str, [2, *outer, n])) for n in (last, half))
            case(f"fft(a), fft_type=FFT, {text}", f"{name}[{full}]", (name, x))
            case(f"fft(a), fft_type=IFFT, {text}", f"{name}[{full}]", (name, x))
            case(f"fft(a), fft_type=RFFT, {text}", f"{name}[{halved}]", (part, x.real.copy()))
            case(f"fft(a), fft_type=IRFFT, {text}", f"{part}[{full}]", (name, x[..., :half].copy()))
        for t in (name, part):
            for n in (1, 2, 3, 6):
                m, r = normal(2, n, n), normal(2, n, 3)
                m = m @ m.conj().swapaxes(1, 2) + n * np.eye(n)
                m, r = (a if t == name else a.real for a in (m, r))
                m, r = m.astype(TYPES[t]), r.astype(TYPES[t])
                bad = m.copy()
                bad[1, n - 1, n - 1] = -1
                for lower in ("true", "false"):
                    case(f"cholesky(a), lower={lower}", f"{t}[2,{n},{n}]", (t, m))
                    case(f"cholesky(a), lower={lower}", f"{t}[2,{n},{n}]", (t, bad))
                    for transpose in ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]:
                        for unit in ["true", "false"]:
                            rest = f"lower={lower}, unit_diagonal={unit}, transpose_a={transpose}"
                            op = f"triangular-solve(a, b), left_side=true, {rest}"
                            case(op, f"{t}[2,{n},3]", (t, m), (t, r))
                            op = f"triangular-solve(a, b), left_side=false, {rest}"
                            case(op, f"{t}[2,3,{n}]", (t, m), (t, r.swapaxes(1, 2).copy()))


def batch_norms():
    random_ = np.random.default_rng(3)
    for name in FLOATS:
        for dims, feature in [((4,), 0), ((3, 5), 1), ((2, 3, 4), 1), ((2, 3, 2, 2), 0), ((1, 2), 1)]:
            def normal(*dims):
                return random_.standard_normal(dims).astype(TYPES[name])

            x, grad, each = normal(*dims), normal(*dims), dims[feature]
            scale, offset, mean = (normal(each) for _ in range(3))
            variance = np.abs(normal(each))
            rest = f"epsilon=0.001, feature_index={feature}"
            all_, one = f"{name}[{','.join(map(str, dims))}]", f"{name}[{each}]"
            x, grad, scale, offset, mean, variance = ((name, a) for a in (x, grad, scale, offset, mean, variance))
            case(f"batch-norm-training(a, b, c), {rest}", [all_, one, one], x, scale, offset)
            case(f"batch-norm-inference(a, b, c, d, e), {rest}", all_, x, scale, offset, mean, variance)
            case(f"batch-norm-grad(a, b, c, d, e), {rest}", [all_, one, one], x, scale, mean, variance, grad)


def top_ks():
    random_ = np.random.default_rng(4)
    for name in "f16 bf16 f32 f64 s8 u8 s32 u32 s64".split():
        for dims, k in [((7,), 3), ((7,), 7), ((2, 40), 5), ((3, 2, 6), 1), ((4, 3), 0)]:
            some = values(name)
            x = some[random_.integers(0, len(some), dims)]
            for largest in ("true", "false"):
                out = ",".join(map(str, [*dims[:-1], k]))
                case(f"topk(a), k={k}, largest={largest}", [f"{name}[{out}]", f"s32[{out}]"], (name, x))


def scans():
    random_ = np.random.default_rng(6)
    x = ("f32", random_.integers(-9, 9, 13).astype(np.float32))
    zero = ("f32", np.array(0.5, np.float32))
    both = [("s32", random_.integers(-99, 99, (4, 3)).astype(np.int32)) for _ in range(2)]
    sideways = [(name, np.ascontiguousarray(a.T)) for name, a in both]
    start = ("s32", np.array([1, -2, 3], np.int32))
    for reverse in ("true", "false"):
        rest = f"is_reverse={reverse}, num_carries=1"
        case(f"scan(a, b), dimensions={{0}}, {rest}, to_apply=running", ["f32[13]", "f32[]"], x, zero)
        for dim, shape_, pair in [(0, "s32[4,3]", both), (1, "s32[3,4]", sideways)]:
            op = f"scan(a, b, c), dimensions={{{dim}}}, {rest}, to_apply=weighed"
            case(op, [shape_, shape_, "s32[3]"], *pair, start)


def stochastic_converts():
    randoms = {"f16": "u16", "bf16": "u16", "f32": "u32", "f64": "u64"}
    for name, random_name in randoms.items():
        x = np.concatenate([floats(name), np.linspace(-9, 9, 64).astype(TYPES[name])])
        some = np.array([random.randrange(1 << width(random_name)) for _ in x], TYPES[random_name])
        for target in "s8 s16 s32 s64".split():
            elementwise("stochastic-convert(a, b)", target, (name, x), (random_name, some))


def scales():
    """To and from powers of two."""
    every = np.arange(256, dtype=np.uint8).view(SCALE["f8e8m0fnu"])
    for name in ["f16", "bf16", "f32", "f64"]:
        case("convert(a)", f"{name}[256]", ("f8e8m0fnu", every))
        x = np.concatenate([floats(name), np.array([2.9, 3, 3.1, 5, 6, 7, 12, 24, 0.75, 0.374], TYPES[name])])
        elementwise("convert(a)", "f8e8m0fnu", (name, x), cap=128)
    two = every[100:150]
    for op in ("multiply", "divide", "add", "maximum"):
        case(f"{op}(a, b)", "f8e8m0fnu[50]", ("f8e8m0fnu", two), ("f8e8m0fnu", two[::-1].copy()))


def ragged_dots():
    """XLA's CPU backend lacks the op: jax.lax expands it."""
    random_ = np.random.default_rng(8)
    attributes = "lhs_contracting_dims={%s}, rhs_contracting_dims={%s}, lhs_ragged_dims={%s}"
    for sizes in ([1, 2, 1], [0, 3, 0], [4, 1, 1], [0, 0, 0]):
        gs = ("s32", np.array(sizes, np.int32))
        for kind, m, k in [("f32", 6, 3), ("s32", 6, 2)]:
            def number(*dims):
                return (kind, random_.integers(-5, 6, dims).astype(TYPES[kind]))

            a, b = number(m, k), number(3, k, 2)
            numbers = jax.lax.RaggedDotDimensionNumbers((([1], [1]), ([], [])), [0], [0])
            expect = jax.lax.ragged_dot_general(a[1], b[1], gs[1], numbers)
            op = f"ragged-dot(a, b, c), {attributes % (1, 1, 0)}, rhs_group_dims={{0}}"
            case(op, f"{kind}[{m},2]", a, b, gs, expect=[np.asarray(expect)])
            a, b = number(k, m), number(m, 2)
            numbers = jax.lax.RaggedDotDimensionNumbers((([1], [0]), ([], [])), [1], [])
            expect = jax.lax.ragged_dot_general(a[1], b[1], gs[1], numbers)
            op = f"ragged-dot(a, b, c), {attributes % (1, 0, 1)}"
            case(op, f"{kind}[3,{k},2]", a, b, gs, expect=[np.asarray(expect)])


def alone():
    """Collectives of one device."""
    x = ("f32", np.array([[3, 1, -0.0], [np.nan, np.inf, 7]], np.float32))
    rest = "replica_groups={{0}}"
    case(f"all-reduce(a), {rest}, to_apply=sum", "f32[2,3]", x)
    case("all-reduce(a), replica_groups={}, to_apply=sum", "f32[2,3]", x)
    case(f"all-gather(a), {rest}, dimensions={{0}}", "f32[2,3]", x)
    case(f"reduce-scatter(a), {rest}, dimensions={{1}}, to_apply=sum", "f32[2,3]", x)
    case(f"all-to-all(a), {rest}, dimensions={{0}}", "f32[2,3]", x)
    case("collective-permute(a), source_target_pairs={{0,0}}", "f32[2,3]", x)
    case("collective-permute(a), source_target_pairs={}", "f32[2,3]", x)


FILES = {
    "xla_values.txt.gz": [elements, bits_of_generators, transforms_and_decompositions],
    "xla_expanded_values.txt.gz": [batch_norms, top_ks, scans, stochastic_converts, scales, ragged_dots, alone],
}
for group in FILES[os.path.basename(sys.argv[1])]:
    group()
with gzip.GzipFile(sys.argv[1], "wb", 9, mtime=0) as file:
    file.write("".join(line + "\n" for line in lines).encode())
