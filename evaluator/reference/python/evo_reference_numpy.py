"""Arguments as NumPy arrays. Real values are handed over as float64, so that the reference computes in double precision unless it
asks for less; integers keep their types."""
import numpy as np
from evo_reference_check import check

REAL = {'f64': np.float64, 'f32': np.float32, 'f16': np.float16}
INTEGER = {'i64': np.int64, 'i32': np.int32, 'i16': np.int16, 'i8': np.int8,
           'u64': np.uint64, 'u32': np.uint32, 'u16': np.uint16, 'u8': np.uint8}


class NumpyArrays:
    def of_input(self, body, dtype, shape):
        if dtype == 'bf16':
            halves = np.frombuffer(body, np.uint16)
            return (halves.astype(np.uint32) << 16).view(np.float32).astype(np.float64).reshape(shape)
        if dtype in REAL:
            return np.frombuffer(body, REAL[dtype]).astype(np.float64).reshape(shape)
        return np.frombuffer(body, INTEGER[dtype]).reshape(shape)

    def call(self, function, given):
        # The gate tries inputs at which functions overflow; what that makes of the answer is looked at, so that a warning for each
        # would only fill the memory of what was printed.
        with np.errstate(all='ignore'):
            return function(**given)

    def is_finite(self, value):
        return not isinstance(value, np.ndarray) or value.dtype.kind != 'f' or bool(np.isfinite(value).all())

    def to_doubles(self, value, dtype, shape):
        if hasattr(value, 'detach'):
            value = value.detach().cpu().numpy()
        array = np.asarray(value)
        check(array.dtype.name, array.dtype.kind, tuple(array.shape), dtype, tuple(shape), 'remove the conversion to it')
        return np.ascontiguousarray(array.reshape(shape), dtype=np.float64)

    def first_nan(self, doubles):
        if not np.isnan(doubles).any():
            return None
        return [int(i) for i in np.unravel_index(int(np.isnan(doubles).argmax()), doubles.shape)]

    def to_bytes(self, doubles):
        return memoryview(doubles).cast('B')
