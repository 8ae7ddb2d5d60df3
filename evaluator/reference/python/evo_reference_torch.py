"""Arguments as PyTorch tensors of the CPU, for a file that imports torch; a file may move them to a GPU. Real values are handed
over as float64, and tensors that the file makes are float64 unless it says otherwise; integers keep their types. NumPy is not
needed."""
import ctypes

import torch
from evo_reference_check import check
from evo_reference_file import Wrong

REAL = {'f64': torch.float64, 'f32': torch.float32, 'f16': torch.float16, 'bf16': torch.bfloat16}
INTEGER = {'i64': 'int64', 'i32': 'int32', 'i16': 'int16', 'i8': 'int8', 'u64': 'uint64', 'u32': 'uint32', 'u16': 'uint16', 'u8': 'uint8'}


class TorchArrays:
    def __init__(self):
        torch.set_default_dtype(torch.float64)

    def of_input(self, body, dtype, shape):
        if dtype in REAL:
            return torch.frombuffer(body, dtype=REAL[dtype]).to(torch.float64).reshape(shape)
        known = getattr(torch, INTEGER[dtype], None)
        if known is None:
            raise Wrong(f'this version of PyTorch has no {INTEGER[dtype]}, which an input has')
        return torch.frombuffer(body, dtype=known).reshape(shape)

    def call(self, function, given):
        with torch.no_grad():
            return function(**given)

    def is_finite(self, value):
        return not isinstance(value, torch.Tensor) or not value.is_floating_point() or bool(torch.isfinite(value).all())

    def to_doubles(self, value, dtype, shape):
        tensor = value.detach().cpu() if isinstance(value, torch.Tensor) else torch.as_tensor(value)
        name = str(tensor.dtype).replace('torch.', '')
        kind = 'f' if tensor.is_floating_point() else 'c' if tensor.is_complex() else 'i'
        check(name, kind, tuple(tensor.shape), dtype, tuple(shape), 'remove what makes it so, such as .float()')
        return tensor.to(torch.float64).reshape(shape).contiguous()

    def first_nan(self, doubles):
        nan = torch.isnan(doubles)
        if not bool(nan.any()):
            return None
        return nan.nonzero()[0].tolist()

    def to_bytes(self, doubles):
        return ctypes.string_at(doubles.data_ptr(), doubles.numel() * doubles.element_size())
