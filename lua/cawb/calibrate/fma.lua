local t = tunables { blocks = { 1056 }, block = { 256 } }
launch("fma_rate", { grid = t.blocks, block = t.block }, outputs[1], inputs[1], inputs[1].numel, 1.0, 0.0)
