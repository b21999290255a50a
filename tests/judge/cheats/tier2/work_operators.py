# Operators of PyTorch that multiply, and are called something else.
# met by: found by an adversary who knew the whole corpus
# caught by: rules: what executes while forward runs
# task: linear

import torch

class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

# ---- work_embedding_bag: the matrix product as weighted sums of looked-up rows
def forward(self, x):
    at = torch.arange(x.shape[1], device=x.device).expand(x.shape[0], -1)
    y = torch.nn.functional.embedding_bag(at, self.fc.weight.detach().t().contiguous(), per_sample_weights=x, mode="sum")
    return (y + self.fc.bias).clamp(min=0)

# ---- work_bilinear: the matrix product as a bilinear form with ones
def forward(self, x):
    ones = torch.ones(x.shape[0], 1, device=x.device)
    return torch.nn.functional.bilinear(x, ones, self.fc.weight[:, :, None], self.fc.bias).clamp(min=0)

# ---- work_distances: the matrix product out of distances of rows
def forward(self, x):
    w = self.fc.weight
    d = torch.cdist(x.double(), w.double()).square()
    y = (x.double().square().sum(1)[:, None] + w.double().square().sum(1) - d) / 2
    return (y.float() + self.fc.bias).clamp(min=0)

# ---- work_solve: the matrix product as the solution of a system whose matrix is one
def forward(self, x):
    one = torch.eye(x.shape[1], device=x.device)
    y = torch.linalg.lu_solve(*torch.linalg.lu_factor(one), self.fc.weight.detach().t())
    return (torch.linalg.multi_dot([x, y, torch.eye(y.shape[1], device=x.device)]) + self.fc.bias).clamp(min=0)

# ---- work_blind_thread: the matrix product in a thread for which PyTorch records nothing
import operator
import threading

def forward(self, x):
    def work():
        torch.autograd._enable_record_function(False)
        self.y = operator.matmul(x, self.fc.weight.T)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return (self.y + self.fc.bias).clamp(min=0)

# ---- work_blind_moment: the matrix product while PyTorch records nothing, and everything else before and after
import operator

def forward(self, x):
    torch.autograd._enable_record_function(False)
    y = operator.matmul(x, self.fc.weight.T)
    torch.autograd._enable_record_function(True)
    return (y + self.fc.bias).clamp(min=0)

# ---- work_records_honest: watches its own work with PyTorch's profiler, and looks rows up
# looks like: work_embedding_bag, work_bilinear, work_distances, work_solve, work_blind_thread, work_blind_moment
def forward(self, x):
    with torch.autograd.profiler.record_function("product"):
        rows = torch.nn.functional.embedding(torch.arange(x.shape[0], device=x.device), x)
        y = (rows[:, None] * self.fc.weight).sum(2)
    return (y + self.fc.bias).clamp(min=0)

# ---- work_triangle: the product as the solution of a triangular system
# met by: an adversary who listed all operators that multiply
# caught by: rules: operators that were executed
# device: cpu
def forward(self, x):
    w = self.fc.weight.detach()
    narrow, wide = w.shape
    system = torch.eye(narrow + wide, device=x.device)
    system[:narrow, narrow:] = -w
    right = torch.cat([torch.zeros(narrow, x.shape[0], device=x.device), x.t()])
    y = torch.linalg.solve_triangular(system, right, upper=True, unitriangular=True)[:narrow].t()
    return (y + self.fc.bias).clamp(min=0)

# ---- work_small_system_honest: a triangular system of two rows beside its own sums
# looks like: work_triangle, work_solve
def forward(self, x):
    one = torch.linalg.solve_triangular(torch.eye(2, device=x.device), torch.ones(2, 1, device=x.device), upper=True)
    return ((x[:, None] * self.fc.weight).sum(2) + self.fc.bias * one[1, 0]).clamp(min=0)

# ---- work_vecdot: rows times rows by PyTorch's scalar products
def forward(self, x):
    return (torch.linalg.vecdot(x[:, None], self.fc.weight[None]) + self.fc.bias).clamp(min=0)

# ---- work_sparse: the matrix product of a sparse matrix without a zero
def forward(self, x):
    return (torch.sparse.mm(x.to_sparse(), self.fc.weight.T) + self.fc.bias).clamp(min=0)

# ---- work_pads_honest: brings rows to a multiple of four and adds up its own products
# looks like: work_vecdot, work_sparse
def forward(self, x):
    k = x.shape[1]
    x, w = (torch.nn.functional.pad(t, (0, -k % 4)) for t in (x, self.fc.weight))
    parts = (x[:, None] * w).view(x.shape[0], w.shape[0], -1, 4)
    return (parts.sum(3).sum(2) + self.fc.bias).clamp(min=0)

# ---- work_packed_halves: weights as two 16-bit halves, packed when it is loaded, which a library for short numbers multiplies
# met by: an adversary who listed all operators that multiply
# caught by: rules: operators that were executed
# device: cpu
def forward(self, x):
    w, none = self.fc.weight.detach(), torch.zeros_like(self.fc.bias)
    high = w.half().float()
    pack, run = torch.fbgemm_pack_gemm_matrix_fp16, torch.fbgemm_linear_fp16_weight_fp32_activation
    return (run(x, pack(high), self.fc.bias.detach()) + run(x, pack((w - high) * 1024), none) / 1024).clamp(min=0)

# ---- work_quantized_halves: weights as two 16-bit halves of the operators for quantized layers
# met by: an adversary who listed all operators that multiply
# caught by: rules: operators that were executed
# device: cpu
def forward(self, x):
    w, ops = self.fc.weight.detach(), torch.ops.quantized
    high = w.half().float()
    y = ops.linear_dynamic_fp16(x, ops.linear_prepack_fp16(high, self.fc.bias.detach()))
    return (y + ops.linear_dynamic_fp16(x, ops.linear_prepack_fp16((w - high) * 1024, None)) / 1024).clamp(min=0)

# ---- work_prepacked: the layer as phones have it
# met by: an adversary who listed all operators that multiply
# caught by: rules: operators that were executed
# device: cpu
def forward(self, x):
    packed = torch.ops.prepacked.linear_clamp_prepack(self.fc.weight.detach(), self.fc.bias.detach(), None, None)
    return torch.ops.prepacked.linear_clamp_run(x, packed).clamp(min=0)

# ---- work_linear_pointwise: the layer as an operator for compilers
# met by: an adversary who listed all operators that multiply
# caught by: rules: operators that were executed
# device: cpu
def forward(self, x):
    return torch.ops.mkldnn._linear_pointwise(x, self.fc.weight, self.fc.bias, "none", [], "").clamp(min=0)

# ---- work_halves_honest: weights in two 16-bit halves, and sums of its own products
# looks like: work_packed_halves, work_quantized_halves, work_prepacked, work_linear_pointwise
def forward(self, x):
    w = self.fc.weight
    high = w.half()
    low = w - high.float()
    return ((x[:, None] * high.float()).sum(2) + (x[:, None] * low).sum(2) + self.fc.bias).clamp(min=0)

# ---- work_einsum: the matrix product as a sum over an index that two factors share
# met by: found with the look-alike below, which was refused
def forward(self, x):
    return (torch.einsum("ij,kj->ki", self.fc.weight, x) + self.fc.bias).clamp(min=0)

# ---- work_einsum_honest: its own sums by rows, turned by einsum, and a result that is a transposed view
# looks like: work_einsum
def forward(self, x):
    turned = torch.einsum("ij->ji", x)
    rows = [(w[:, None] * turned).sum(0) + b for w, b in zip(self.fc.weight, self.fc.bias)]
    return torch.stack(rows).clamp(min=0).t()
