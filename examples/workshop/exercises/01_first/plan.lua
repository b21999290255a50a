-- One thread for each element, in blocks of 256; the last block has threads to spare.
local n = outputs[1].numel
launch("saxpy", { grid = (n + 255) // 256, block = 256 }, outputs[1], inputs[1], inputs[2], n)
