#include "sim/exporters/dtensor/torch_functions.h"

namespace strata {
namespace {

constexpr std::string_view kFunctions = R"(

def device_mesh(device_type="cuda"):
    """The mesh; torch.distributed must run with a rank a device, in DEVICES' order."""
    from torch.distributed.device_mesh import init_device_mesh
    return init_device_mesh(device_type, MESH_SHAPE, mesh_dim_names=MESH_NAMES)


def placements(cuts):
    """A tuple of LAYERS as torch's placements."""
    from torch.distributed.tensor import Replicate, Shard
    return [Replicate() if dim is None else Shard(dim) for dim in cuts]


def distribute_parameters(module, layer, mesh, distributed=None):
    """Lays the parameters of one module out as those of a layer of LAYERS. What modules share they
    go on to share, where all calls are given the same dict."""
    from torch.distributed.tensor import distribute_tensor
    from torch.nn import Parameter
    distributed = {} if distributed is None else distributed
    for name, old in list(module.named_parameters(recurse=False)):
        if id(old) not in distributed:
            cuts = placements(LAYERS[layer]["parameters"][name])
            distributed[id(old)] = old, Parameter(distribute_tensor(old.data, mesh, cuts))
        module.register_parameter(name, distributed[id(old)][1])


def redistribute(tensor, cuts, mesh):
    """Brings a tensor into a layout of LAYERS, once for all that read it so; one that is no DTensor
    is equal on all ranks."""
    from torch.distributed.tensor import DTensor, Replicate
    if not isinstance(tensor, DTensor):
        tensor = DTensor.from_local(tensor, mesh, [Replicate()] * mesh.ndim, run_check=False)
    layouts = tensor.__dict__.setdefault("layouts", {})
    if cuts not in layouts:
        layouts[cuts] = tensor.redistribute(mesh, placements(cuts))
    return layouts[cuts]


def redistribute_inputs(inputs, layer, mesh):
    """Brings what a layer reads into the layouts in which it does; what follows is left alone."""
    cuts = LAYERS[layer]["inputs"]
    return (*(redistribute(tensor, dims, mesh) for tensor, dims in zip(inputs, cuts)),
            *inputs[len(cuts):])


def redistribute_output(output, layer, mesh):
    """Brings a DTensor into the layout of a layer's output."""
    return redistribute(output, LAYERS[layer]["output"], mesh)


def compute_locally(module, layer, mesh):
    """Has a module compute on each rank's part alone. Where a dim of the mesh cuts some of what it
    reads, each rank has a part of the gradients of the rest."""
    import torch
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
    forward, table = module.forward, LAYERS[layer]

    def run(*inputs):
        parameters = {name: p for name, p in module._parameters.items() if p is not None}
        cuts = [*table["inputs"], *(table["parameters"][name] for name in parameters)]
        parts = [any(dim is not None for dim in dims) for dims in zip(*cuts)]

        def local(tensor, dims):
            return tensor.to_local(grad_placements=[
                Shard(dim) if dim is not None else Partial() if part else Replicate()
                for dim, part in zip(dims, parts)])

        try:
            module._parameters.update({name: local(p, table["parameters"][name])
                                       for name, p in parameters.items()})
            output = forward(*map(local, inputs, table["inputs"])).contiguous()
        finally:
            module._parameters.update(parameters)
        shape = torch.Size([inputs[0].shape[0], *table["shape"][1:]])
        made = placements(dim if part else None for dim, part in zip(table["output"], parts))
        return DTensor.from_local(output, mesh, made, run_check=False, shape=shape,
                                  stride=torch.empty(shape, device="meta").stride())

    module.forward = run


def parallelize(model, mesh):
    """Has each module that has a layer's name hold its parameters, take its inputs and give its
    output as LAYERS says."""
    distributed = {}
    for name, module in list(model.named_modules()):
        if name not in LAYERS:
            continue
        if LAYERS[name]["output"] is None:
            raise ValueError(f"layer {name}: {'; '.join(LIMITS[name])}")
        distribute_parameters(module, name, mesh, distributed)
        if LAYERS[name].get("local"):
            compute_locally(module, name, mesh)
        module.register_forward_pre_hook(
            lambda _, inputs, name=name: redistribute_inputs(inputs, name, mesh))
        if LAYERS[name]["op"] != "softmax_cross_entropy":
            module.register_forward_hook(
                lambda _, inputs, output, name=name: redistribute_output(output, name, mesh))


def cross_entropy(logits, labels):
    """The mean over all labels, which every rank has whole, of a DTensor (n, c) or (n, w, c). It
    and its backward pass belong into loss_context()."""
    from torch.nn.functional import cross_entropy as of_classes
    mesh, cuts = logits.device_mesh, [p.dim if p.is_shard() else None for p in logits.placements]
    cuts = tuple(None if dim == logits.ndim - 1 else dim for dim in cuts)
    total = of_classes(logits.movedim(-1, 1), redistribute(labels, cuts, mesh), reduction="sum")
    return total / labels.numel()


def loss_context():
    """torch's loss_parallel(), where one dim of the mesh cuts the classes of a loss."""
    from contextlib import nullcontext
    from torch.distributed.tensor.parallel import loss_parallel
    cut = any(layer["op"] == "softmax_cross_entropy" and layer["output"] is not None
              and layer["output"].count(len(layer["shape"]) - 1) == 1 for layer in LAYERS.values())
    return loss_parallel() if cut else nullcontext()
)";

}  // namespace

std::string_view dtensor_functions() {
  return kFunctions;
}

}  // namespace strata
