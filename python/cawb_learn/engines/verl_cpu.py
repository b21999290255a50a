"""A plug-in for tests: verl 0.9.1 on a processor. verl imports it where VERL_USE_EXTERNAL_MODULES names it. It registers a
platform, a rollout that generates with transformers, and a critic without flash-attn."""
import contextlib
import types

import ray
import torch
import verl.utils.device
import verl.utils.distributed
import verl.utils.model
from verl.plugin.platform import PlatformBase, PlatformRegistry
from verl.workers.rollout import base, replica

NAME = "hf"


def answers(value):
    """A function that says the same to everybody."""
    return lambda *_, **__: value


def module():
    """torch.cpu, and what verl asks of a GPU's module beside."""
    m = types.ModuleType("cpu_device")
    m.__dict__.update({key: value for key, value in vars(torch.cpu).items() if not key.startswith("__")})
    for name, value in {"get_device_name": "cpu", "mem_get_info": (1 << 34, 1 << 34), "is_available": True, "device_count": 1,
                        "current_device": 0, "memory_allocated": 0, "memory_reserved": 0, "max_memory_allocated": 0,
                        "max_memory_reserved": 0, "reset_peak_memory_stats": None, "empty_cache": None, "set_device": None,
                        "synchronize": None, "manual_seed": None, "manual_seed_all": None, "ipc_collect": None}.items():
        setattr(m, name, answers(value))
    m.get_rng_state, m.set_rng_state = torch.get_rng_state, torch.set_rng_state
    return m


@PlatformRegistry.register(platform="cpu")
class Processor(PlatformBase):
    """Ray knows the resource GPU only, so that its cluster pretends to have some."""
    device_name, vendor_name, device_module = "cpu", "cpu", module()
    is_available, is_ipc_supported = answers(True), answers(False)
    current_device, device_count = answers("cpu"), answers(1)
    set_device = synchronize = manual_seed_all = set_allocator_settings = empty_cache = answers(None)
    profiler_start = profiler_stop = cudart = answers(None)
    get_device_capability = answers((None, None))
    communication_backend_name, visible_devices_envvar = answers("gloo"), answers("CUDA_VISIBLE_DEVICES")
    ray_resource_name = answers("GPU")

    def ray_noset_envvars(self):
        return ["RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"]

    def manual_seed(self, seed):
        torch.manual_seed(seed)

    @contextlib.contextmanager
    def nvtx_range(self, msg):
        yield


# ---- one process group: "cpu:gloo,cpu:gloo" is refused

_init_process_group = torch.distributed.init_process_group


def init_process_group(backend=None, *args, **more):
    return _init_process_group("gloo" if backend == "cpu:gloo,cpu:gloo" else backend, *args, **more)


torch.distributed.init_process_group = init_process_group

# ---- the rollout: a server that generates, and what sends weights to it


@ray.remote
class Server:
    def __init__(self, path):
        from transformers import AutoModelForCausalLM
        torch.set_num_threads(1)
        self.model, self.steps = AutoModelForCausalLM.from_pretrained(path, attn_implementation="eager"), 0

    def load(self, weights, steps):
        self.model.load_state_dict({name: w.to(torch.float32) for name, w in weights.items()}, strict=False)
        self.steps = steps or 0

    async def generate(self, prompt_ids, sampling_params, **_):
        """Tokens after a prompt, drawn, with the logarithms of their probabilities."""
        most = sampling_params.get("max_tokens") or sampling_params.get("max_new_tokens") or 1
        heat, ids, new, sure = sampling_params.get("temperature", 1.0), list(prompt_ids), [], []
        with torch.no_grad():
            for _ in range(most):
                logits = self.model(torch.tensor([ids])).logits[0, -1].float()
                chances = (logits / heat).log_softmax(-1) if heat > 0 else logits.log_softmax(-1)
                token = torch.multinomial(chances.exp(), 1).item() if heat > 0 else chances.argmax().item()
                ids.append(token)
                new.append(token)
                sure.append(chances[token].item())
                if token == self.model.config.eos_token_id:
                    break
        return replica.TokenOutput(token_ids=new, log_probs=sure, stop_reason="completed", extra_fields={"global_steps": self.steps})

    def nothing(self, *_, **__):
        """What a server with a cache and a GPU's memory has to do."""

    wake_up = sleep = abort_all_requests = resume_generation = clear_kv_cache = release_kv_cache = resume_kv_cache = nothing


class Replica(replica.RolloutReplica):
    async def launch_servers(self):
        name = "cawb_server_%d" % self.replica_rank
        self._server_handle = Server.options(name=name, num_cpus=0, max_concurrency=self.max_concurrency).remote(self.model_config.path)
        self.servers, self._server_address = [self._server_handle], name


class Adapter(base.BaseRollout):
    def __init__(self, config, model_config, device_mesh, replica_rank=-1):
        super().__init__(config, model_config, device_mesh)
        self.rank = max(0, replica_rank)

    async def resume(self, tags):
        pass

    async def release(self):
        pass

    async def update_weights(self, weights, wire_format="named_tensors", global_steps=None, **_):
        copied = {name: w.detach().cpu().clone() for name, w in weights}
        await ray.get_actor("cawb_server_%d" % self.rank).load.remote(copied, global_steps)


base._ROLLOUT_REGISTRY[(NAME, "async")] = "verl_cpu.Adapter"
replica.RolloutReplicaRegistry.register(NAME, lambda: Replica)

# ---- the critic: verl's own asks for flash-attn, and for a class that TRL has no more


def load_valuehead_model(local_path, torch_dtype, model_config, trust_remote_code):
    from transformers import AutoModelForTokenClassification
    return AutoModelForTokenClassification.from_pretrained(local_path, dtype=torch_dtype, config=model_config, attn_implementation="eager")


verl.utils.model.load_valuehead_model = load_valuehead_model
