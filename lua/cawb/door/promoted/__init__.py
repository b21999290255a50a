"""A promoted operator: kernels that were checked on the shapes in promoted.json, in the place of a module.

    from PACKAGE import Module               # this folder's parent on sys.path; PACKAGE is the folder's name
    model = Module(...)                      # the constructor, parameters and state of the reference's Model
    model.load_state_dict(state)
    y = model(x)

`run(*inputs, *parameters)` is the operator alone, torch.ops.PACKAGE.NAME. Only what was verified runs the kernels: these shapes,
types and strides, on this kind of GPU. For everything else `otherwise` decides: "reference" runs the reference, "warn" runs it and
says so once for each reason, "refuse" raises. `why_not(*inputs, *parameters)` says why the reference would run.

Under torch.compile the operator is one opaque step without a graph break. Gradients are the reference's, which is executed again
on the way back; there are no second derivatives. Under autocast it computes in the type of its inputs.
Needs PyTorch 2.4 or newer and, once, a C compiler. Nothing of cawb.
"""
from .launch import ABOUT, CHOICES, NAME, PARAMS, otherwise, why_not
from .module import MODEL, Module, reference, run

__all__ = ["ABOUT", "CHOICES", "MODEL", "Module", "NAME", "PARAMS", "otherwise", "reference", "run", "why_not"]
