-- PyTorch's modelled times, from operator graphs made by hand: what is read and written, once
-- or more often, by an operator and by a fused kernel.

local check = dofile "tests/support/check.lua"
local compiled = require "cawb.torch.torch_compile"
local core = require "cawb.core"
local eager = require "cawb.torch.eager"
local inductor = require "cawb.torch.inductor"
local libraries = require "cawb.torch.libraries"
local model = require "cawb.torch.modelled"

local rates = { launch = 0.0, dram = 1.0, fp32 = 1e30 }       -- so that seconds are bytes
local sms = 132

local function tensor(source, ...) return { source = source, dtype = "float32", shape = { ... } } end

local function op(number, name, kind, inputs, output, args, traits)
  local read = 0
  for _, t in ipairs(inputs) do
    local n = 4
    for _, s in ipairs(t.shape) do n = n * s end
    read = read + n
  end
  local written = 4
  for _, s in ipairs(output) do written = written * s end
  return { number = number, op = "aten." .. name .. ".default", name = name, kind = kind, traits = traits, inputs = inputs, args = args or {},
    outputs = { { dtype = "float32", shape = output } }, bytes_read = read, bytes_written = written, flops = 1 }
end

local function near(got, want, what)
  if not (math.abs(got - want) <= 1e-9 * want) then check.equal(got, want, what) end
end

local x = tensor("input:1", 64, 1000)
local n = 4 * 64 * 1000

check.test("a fused kernel reads each tensor once and keeps what it makes", function()
  local graph = { op(1, "sigmoid", "pointwise", { x }, { 64, 1000 }),
                  op(2, "mul", "pointwise", { x, tensor("op:1", 64, 1000) }, { 64, 1000 }) }
  local t = model.times(graph, rates, sms)
  near(t.eager, 2 * n + 3 * n)
  near(t.compile, 2 * n)
end)

check.test("rows that a block does not keep are read again", function()
  local long = 64 << 10
  local function softmax(cols)
    return model.times({ op(1, "_softmax", "normalization", { tensor("input:1", 8, cols) }, { 8, cols }, { dim = -1 },
      { passes = 3 }) }, rates, sms)
  end
  local short = softmax(1000).eager
  assert(short >= 2 * 4 * 8 * 1000 and short < 2.1 * 4 * 8 * 1000, "short")
  near(softmax(long).eager, 4 * 4 * 8 * long, "eager: the largest, the sum, the quotient")
  near(softmax(long).compile, 3 * 4 * 8 * long)
  local norm = { op(1, "norm", "reduction", { tensor("input:1", 8, long) }, { 8, 1 }),
                 op(2, "div", "pointwise", { tensor("input:1", 8, long), tensor("op:1", 8, 1) }, { 8, long }) }
  near(model.times(norm, rates, sms).compile, 3 * 4 * 8 * long / inductor.rates.reduction)
end)

check.test("a scan is slower by itself and fuses with what feeds it", function()
  local graph = { op(1, "mul", "pointwise", { x }, { 64, 1000 }),
                  op(2, "cumsum", "other", { tensor("op:1", 64, 1000) }, { 64, 1000 }, {}, { cumulative = true }) }
  local t = model.times(graph, rates, sms)
  near(t.compile, 2 * n)
  near(t.eager, 2 * n + 2 * n / eager.reached.scan)
end)

local gpu = { launch = 4e-6, dram = 3e12, fp32 = 67e12 }

local function mm(m, n, k)
  local one = op(1, "mm", "matmul", { tensor("input:1", m, k), tensor("input:2", k, n) }, { m, n })
  one.flops = 2.0 * m * n * k
  return model.times({ one }, gpu, sms).eager
end

check.test("large products reach what they reach; small ones fill neither tiles nor waves; few terms wait for the store", function()
  local flops = 2 * 8192.0 ^ 3
  assert(math.abs(mm(8192, 8192, 8192) / (flops / gpu.fp32 / libraries.reached.matmul) - 1) < 0.03)
  assert(mm(512, 512, 512) > 2 * 2 * 512.0 ^ 3 / gpu.fp32 / libraries.reached.matmul + gpu.launch, "16 tiles on 132 multiprocessors")
  assert(mm(1025, 1025, 8192) > 1.05 * mm(1024, 1024, 8192), "a row more is a tile more")
  local thin = mm(32768, 32768, 64)
  assert(thin > 2 * 32768.0 ^ 2 * 64 / gpu.fp32 / libraries.reached.matmul + 4 * 32768.0 ^ 2 / gpu.dram, "the store overlaps")
end)

local function convolution(shape, weight, out, args, flops)
  local one = op(1, "convolution", "convolution", { tensor("input:1", table.unpack(shape)), tensor("param:w", table.unpack(weight)) }, out, args)
  one.flops = flops
  return model.times({ one }, gpu, sms)
end

check.test("a transposed convolution is far from a forward one; compile turns planes around, and pays for it", function()
  local plain, strided = { groups = 1, stride = { 1, 1 } }, { groups = 1, stride = { 2, 2 }, transposed = true }
  local flops = 2.0 * 16 * 64 * 256 * 256 * 64 * 9
  local forward = convolution({ 16, 64, 258, 258 }, { 64, 64, 3, 3 }, { 16, 64, 256, 256 }, plain, flops)
  local back = convolution({ 16, 64, 128, 128 }, { 64, 64, 3, 3 }, { 16, 64, 256, 256 }, strided, flops / 4)
  assert(back.eager > forward.eager, "a quarter of the operations, and longer")
  local turned = 4.0 * 16 * 64 * (258 * 258 + 256 * 256) / gpu.dram
  assert(forward.compile - forward.eager > 2 * turned, "channels last cost nothing")
  local alone = convolution({ 16, 64, 258, 258 }, { 64, 1, 3, 3 }, { 16, 64, 256, 256 }, { groups = 64, stride = { 1, 1 } }, flops / 64)
  assert(alone.compile > 3 * alone.eager)
  check.equal(next(model.times({}, gpu, sms)), nil)
end)

check.test("a short reduction waits longer than its bytes take, eager's more than compile's", function()
  local t = model.times({ op(1, "sum", "reduction", { tensor("input:1", 64, 1000) }, { 64, 1 }) }, gpu, sms)
  assert(t.eager > t.compile and t.eager > 1.5 * gpu.launch and t.compile < 1.2 * gpu.launch)
end)

check.test("a launch that follows another is no first one", function()
  local a, b = op(1, "relu", "pointwise", { x }, { 64, 1000 }), op(2, "mm", "matmul", { tensor("op:1", 64, 1000), x }, { 64, 64 })
  local both, alone = model.times({ a, b }, gpu, sms).eager, model.times({ a }, gpu, sms).eager + model.times({ b }, gpu, sms).eager
  near(alone - both, gpu.launch - model.next)
end)

check.test("a dirty L2 is written back as for a candidate: a reduction pays for it, what writes as much as it reads does not", function()
  local dirty = { launch = 0.0, dram = 1.0, fp32 = 1e30, cache = 1e9, dirty = 0.5 }
  local function both(one)
    local clean, other = model.times({ one }, rates, sms), model.times({ one }, dirty, sms)
    return other.eager - clean.eager, other.compile - clean.compile
  end
  local eager_more, compile_more = both(op(1, "sum", "reduction", { x }, { 64, 1 }))
  near(eager_more, (n + 4 * 64) / 2 - 4 * 64)
  near(compile_more, eager_more)
  near(core.times.left_over(dirty.cache, dirty.dirty, n + 4 * 64, 4 * 64), eager_more)
  check.equal(both(op(1, "relu", "pointwise", { x }, { 64, 1000 })), 0.0)
  local small = { launch = 0.0, dram = 1.0, fp32 = 1e30, cache = n / 8, dirty = 0.5 }
  local one = op(1, "sum", "reduction", { x }, { 64, 1 })
  near(model.times({ one }, small, sms).eager - model.times({ one }, rates, sms).eager, n / 16 - 4 * 64)
  local chain = { op(1, "relu", "pointwise", { x }, { 64, 1000 }), op(2, "tanh", "pointwise", { tensor("op:1", 64, 1000) }, { 64, 1000 }) }
  near(model.times(chain, rates, sms).eager - model.times(chain, dirty, sms).eager, n / 2)
end)

-- ---- torch.compile's kernels

local wide = { launch = 0.0, dram = 1e30, fp32 = 1e30 }        -- so that seconds are those of steps

check.test("what torch.compile leaves to eager takes as long as in eager", function()
  local lstm = op(1, "lstm", "other", { tensor("input:1", 10, 512, 128) }, { 10, 512, 256 }, { batch_first = true, num_layers = 2 }, { left = true })
  local t = model.times({ lstm }, gpu, sms)
  near(t.compile, t.eager)
  local function mean(stride)
    return model.times({ op(1, "avg_pool2d", "other", { tensor("input:1", 16, 64, 512, 512) }, { 16, 64, 64, 64 },
      { kernel_size = { 8, 8 }, stride = stride }) }, gpu, sms)
  end
  near(mean({ 7, 7 }).compile, mean({ 7, 7 }).eager)
  assert(mean({ 8, 8 }).compile > mean({ 8, 8 }).eager, "a loop with indices computed anew")
end)

check.test("a window of more than 25 places is a loop, whose indices are wider for a large input", function()
  local function pool(side, h)
    return model.times({ op(1, "max_pool2d_with_indices", "other", { tensor("input:1", 64, 64, h, 1024) }, { 64, 64, 128, 128 },
      { kernel_size = { side, side }, stride = { side, side } }) }, wide, sms).compile
  end
  near(pool(6, 256) / pool(5, 256), 36 * inductor.costs.loop / (25 * inductor.costs.window))
  near(pool(6, 512) / pool(6, 256), inductor.costs.wide)
end)

local plane = { 4, 8, 32, 32 }
local function at(source) return tensor(source, table.unpack(plane)) end
local function window(number, source) return op(number, "avg_pool2d", "other", { at(source) }, { 4, 8, 16, 16 }, { kernel_size = { 2, 2 }, stride = { 2, 2 } }) end
local function pointwise(number, shape, ...)
  local inputs = { ... }
  return op(number, "add", "pointwise", inputs, shape)
end

check.test("a window is in a kernel with what follows it, and with what it can compute anew for each of its places", function()
  local small = { 4, 8, 16, 16 }
  local after = pointwise(3, small, tensor("op:2", table.unpack(small)))
  check.equal(#compiled.kernels { pointwise(1, plane, at "input:1"), window(2, "op:1"), after }, 1, "one tensor is read")
  check.equal(#compiled.kernels { pointwise(1, plane, at "input:1", tensor "input:2"), window(2, "op:1"), after }, 1, "a number is no tensor")
  check.equal(#compiled.kernels { pointwise(1, plane, at "input:1", at "input:2"), window(2, "op:1"), after }, 2, "two tensors are read")
  check.equal(#compiled.kernels { pointwise(0, plane, at "input:1"), pointwise(1, plane, at "op:0", at "input:1"), window(2, "op:1"), after }, 1, "twice the same")
  check.equal(#compiled.kernels { window(1, "input:1"), window(2, "op:1") }, 2, "a window of a window")
  check.equal(#compiled.kernels { op(1, "sum", "reduction", { at "input:1" }, plane), window(2, "op:1") }, 2, "a sum is written")
end)

check.test("a convolution's bias is added by the kernel behind it, which no window computes anew", function()
  local function behind(...)
    return #compiled.kernels { op(1, "convolution", "convolution", { at "input:1", tensor("param:w", 8, 8, 3, 3), ... }, plane), pointwise(2, plane, at "op:1"), window(3, "op:2") }
  end
  check.equal(behind(), 2)
  check.equal(behind(tensor("param:b", 8)), 3)
end)

check.test("a batch norm in training reads its channels twice, in use it reads once", function()
  local x_ = tensor("input:1", 64, 4, 256, 256)
  local function norm(training)
    return model.times({ op(1, "native_batch_norm", "normalization", { x_ }, x_.shape, { training = training }, { passes = 2 }) }, rates, sms).compile
  end
  near(norm(true) / norm(false), 1.5)
end)

check.test("rows that begin anywhere are read one element at a time, and so is what is turned around", function()
  local function sum(cols)
    return model.times({ op(1, "sum", "reduction", { tensor("input:1", 4096, cols) }, { 4096, 1 }) }, rates, sms).compile / (cols + 1)
  end
  near(sum(4095) / sum(4096), inductor.rates.reduction / inductor.rates.uneven)
  local function flip(number, source) return op(number, "flip", "other", { tensor(source, 64, 1000) }, { 64, 1000 }) end
  local sums = op(2, "cumsum", "other", { tensor("op:1", 64, 1000) }, { 64, 1000 }, {}, { cumulative = true })
  near(model.times({ flip(1, "input:1"), sums, flip(3, "op:2") }, rates, sms).compile, 2 * 2 * n / inductor.rates.uneven)
end)

check.test("a kernel's steps and its bytes take little more than the longer of the two; steps of short rows are many", function()
  local function softmax(count, cols, r)
    return model.times({ op(1, "_softmax", "normalization", { tensor("input:1", count, cols) }, { count, cols }, { dim = -1 }) }, r, sms).compile
  end
  assert(softmax(2 ^ 16, 1024, wide) > 3 * softmax(2 ^ 10, 2 ^ 16, wide))
  check.equal(softmax(16, 2 ^ 22, wide), compiled.least)          -- rows are cut
  local sharp = { launch = 0.0, dram = 8 * 2 ^ 26 / softmax(2 ^ 14, 4096, wide), fp32 = 1e30, sharpness = 2 }
  near(softmax(2 ^ 14, 4096, sharp), math.sqrt(2) * softmax(2 ^ 14, 4096, wide))
end)

-- ---- kernels that are more than one pass

local function seconds(one, memory) return model.times({ one }, gpu, sms, memory).eager end

check.test("an elementwise kernel that computes places is slower than one that loads four at once", function()
  local fast = { launch = 4e-6, dram = 1e15, fp32 = 67e12 }
  local shape = { 4096, 64, 1024 }
  local plain = op(1, "mul", "pointwise", { tensor("input:1", table.unpack(shape)) }, shape)
  local broadcast = op(1, "mul", "pointwise", { tensor("input:1", table.unpack(shape)), tensor("input:2", 1024) }, shape)
  assert(model.times({ broadcast }, fast, sms).eager > 2 * model.times({ plain }, fast, sms).eager)
  local dense = { strides = { 65536, 1024, 1 }, offset = 0 }
  local function at(strides)
    return { operators = { { inputs = { { strides = strides, offset = 0 } }, outputs = { dense } } } }
  end
  near(seconds(plain, at(dense.strides)), seconds(plain))
  assert(seconds(plain, at { 65536, 1, 64 }) > 1.5 * seconds(plain), "turned")
  assert(seconds(plain, at { 65536 * 8, 1024 * 8, 8 }) > 3 * seconds(plain), "one element of a sector")
end)

check.test("PyTorch's own norm by root mean squares is one kernel; a module's, on lines of its own, is six", function()
  local shape, n = { 65536, 1024 }, 4 * 65536 * 1024
  local function rms(dim, lines)
    local list = {
      op(1, "pow", "pointwise", { tensor("input:1", 65536, 1024) }, shape, { exponent = 2 }),
      op(2, "mean", "reduction", { tensor("op:1", 65536, 1024) }, { 65536, 1 }, { dim = { dim }, keepdim = true }),
      op(3, "add", "pointwise", { tensor("op:2", 65536, 1) }, { 65536, 1 }, { other = 1e-6 }),
      op(4, "rsqrt", "pointwise", { tensor("op:3", 65536, 1) }, { 65536, 1 }),
      op(5, "mul", "pointwise", { tensor("input:1", 65536, 1024), tensor("op:4", 65536, 1) }, shape),
      op(6, "mul", "pointwise", { tensor("op:5", 65536, 1024), tensor("param:w", 1024) }, shape),
      op(7, "relu", "pointwise", { tensor("op:6", 65536, 1024) }, shape) }
    local memory = { operators = {} }
    for i, one in ipairs(list) do
      local function places(k) return { { strides = k } } end
      memory.operators[i] = { line = lines[i], inputs = {}, outputs = places { 1024, 1 } }
      if one.outputs[1].shape[2] == 1 then memory.operators[i].outputs = places { 1, 1 } end
    end
    return model.times(list, gpu, sms, memory)
  end
  local own, apart, negative = rms(1, { 9, 9, 9, 9, 9, 9, 10 }), rms(1, { 9, 9, 10, 10, 10, 11, 12 }), rms(-1, { 9, 9, 9, 9, 9, 9, 10 })
  check.equal(#own.parts, 2)
  check.equal(own.parts[1][1], "_fused_rms_norm")
  assert(own.eager < 6 * n / gpu.dram, "read and written twice, as a whole")
  check.equal(#apart.parts, 7)
  check.equal(#negative.parts, 7)
  assert(apart.eager > 1.5 * own.eager)
end)

check.test("a batch norm of few channels keeps few multiprocessors busy", function()
  local function norm(channels, hw, weights)
    local inputs = { tensor("input:1", 2 ^ 26 // channels // hw, channels, hw) }
    for i = 2, weights and 3 or 1 do inputs[i] = tensor("param:" .. i, channels) end
    return seconds(op(1, "native_batch_norm", "normalization", inputs, inputs[1].shape, { training = true }))
  end
  assert(norm(16, 1024, true) > 3 * norm(512, 1024, true))
  assert(norm(16, 64, true) > 1.5 * norm(16, 1024, true), "small planes")
end)

check.test("a kernel for each image, a thread for each place, a block for each plane: what is serial takes its time", function()
  local function columns(images, side)
    return seconds(op(1, "im2col", "other", { tensor("input:1", images, 4, side, side) }, { images, 36, side * side }, { kernel_size = { 3, 3 } }))
  end
  assert(columns(8192, 16) > 5 * columns(512, 64), "as many bytes")
  local function resized(side)
    return seconds(op(1, "upsample_bilinear2d", "other", { tensor("input:1", 2048, 48, 16, 16) }, { 2048, 48, side, side }))
  end
  assert(resized(2) > 0.02 and resized(16) < 1.5 * resized(2), "64 times the results, and hardly longer")
  local function pooled(name, side)
    return seconds(op(1, name, "other", { tensor("input:1", 128, 128, 128, 128) }, { 128, 128, side, side }, { output_size = { side, side } }))
  end
  assert(pooled("_adaptive_avg_pool2d", 2) > 1.5 * pooled("_adaptive_avg_pool2d", 16), "four threads of a block")
  assert(pooled("adaptive_max_pool2d", 2) > 1.3 * pooled("_adaptive_avg_pool2d", 2))
end)

check.test("a norm of rows that are no multiple of four takes two kernels of a block a row", function()
  local function norm(n)
    local x_ = tensor("input:1", 2 ^ 26 // n, n)
    return seconds(op(1, "native_layer_norm", "normalization", { x_ }, x_.shape, { normalized_shape = { n } }))
  end
  assert(norm(14) > 3 * norm(16))
  assert(norm(1024) < norm(64))
end)

check.test("a softmax along columns goes through them again, the more the longer they are; a few long columns wait for memory", function()
  local function softmax(shape, dim)
    local x_ = tensor("input:1", table.unpack(shape))
    return seconds(op(1, "_softmax", "normalization", { x_ }, shape, { dim = dim }))
  end
  local rows, near_, far = softmax({ 65536, 1024 }, 1), softmax({ 8192, 16, 512 }, 1), softmax({ 128, 1024, 512 }, 1)
  assert(rows < near_ and near_ < far)
  assert(softmax({ 32768, 2048 }, 0) > 5 * far)
end)

check.test("a scan of the last dimension costs as much for a short row as for a long one", function()
  local function scan(name, n)
    local x_ = tensor("input:1", 2 ^ 26 // n, n)
    return seconds(op(1, name, "other", { x_ }, x_.shape, { dim = 1 }))
  end
  assert(scan("cumsum", 32) > 3 * scan("cumsum", 128))
  assert(scan("cummin", 32) > 1.5 * scan("cumsum", 32))
end)

check.test("logarithms of a softmax along columns take less than the softmax; a loss of logits, distances of rows are many kernels", function()
  local x_ = tensor("input:1", 2048, 256, 512)
  local function along(name) return seconds(op(1, name, "normalization", { x_ }, x_.shape, { dim = 1 })) end
  assert(along "_log_softmax" < 0.7 * along "_softmax")
  local once = seconds(op(1, "sigmoid", "pointwise", { x_ }, x_.shape))
  local loss = seconds(op(1, "binary_cross_entropy_with_logits", "reduction", { x_, x_ }, x_.shape))
  assert(loss > 4 * once)
  local wide, few = tensor("input:1", 65536, 4096), tensor("input:2", 16, 4096)
  assert(seconds(op(1, "_euclidean_dist", "other", { wide, few }, { 65536, 16 })) > 3 * seconds(op(1, "sigmoid", "pointwise", { wide }, wide.shape)))
end)

check.test("a recurrent layer takes one step after the other, in each layer and direction", function()
  local function layers(count, both)
    local one = op(1, "lstm", "other", { tensor("input:1", 10, 512, 128) }, { 10, 512, 256 },
      { batch_first = true, num_layers = count, bidirectional = both })
    return seconds(one)
  end
  assert(layers(6, false) > 5 * layers(1, false) and layers(6, true) > 1.8 * layers(6, false))
  assert(layers(1, false) > 512 * 5e-6)
end)

check.test("parts of a cat that begin within a sector are copied one element at a time", function()
  local function cat(a, b)
    return seconds(op(1, "cat", "other", { tensor("input:1", 65536, a), tensor("input:2", 65536, b) }, { 65536, a + b }, { dim = 1 }))
  end
  assert(cat(1, 1023) > 1.5 * cat(512, 512))
end)

return check.done()
