-- explained: mutants of the grammar that were not rejected and need not be, each with the reason. A row: a pattern of what
-- a mutant says of itself, and why. Lines are those of the ladders and of what compose writes today.

local near = "any number near a row's largest serves softmax and logsumexp: it only keeps exp() from overflowing"
local same_number = "all lanes hold the sum after a butterfly of shuffles: another one writes the same number"
local zero_beside = "beyond the edge the other factor's tile holds zeros, and a product with them is none"

local shift = "an estimate that all values are moved by before they are squared; what it is off by is added up and taken off again"
local one_warp = "at this size only one warp's values are exchanged: the simulator would have named a race between two"
local own_array = "each kind of sum has an array of its own in shared memory, which is written once: nothing waits to be read"

local beyond = "at this size the loop's later turns lie beyond the row's end"
local left_over = "the sum of what is left beside the mean, which is nothing but rounding"

local own_numbers = "in windows of one element a thread reads what it wrote itself"

local known = {
  { "^compose %d on layernorm: line 5[789], [is]", shift }, { "^compose %d on variance: line 57, initial value", shift },
  { "^compose %d on variance: line %d+, wrong constant: '%d+%.0f'", shift },
  { "^compose %d on layernorm: line 142, unread operand", "the sum of what is left beside the mean, which is nothing but rounding" },
  { "^scan/v[45]_%S+: line %d+, missing synchronisation", one_warp },
  { "^compose %d on %S+: line [24][479], missing synchronisation", own_array },
  { "^compose %d on %S+: line 28, missing synch", own_array }, { "^compose %d on %S+: line 30, missing synch", own_array },
  { "^compose %d on column_sum: line 45, missing synch", own_array },
  { "^compose 3 on cumsum_reverse: line 65, missing synch", one_warp }, { "^compose %d on cumsum_masked: line 70, missing synch", one_warp },
  { "^compose %d on cumsum_%S+: line %d+, skipped element.*if %(i == %(4%) %* %d / %d%) continue.*\"cols\":%d%d[,}]", beyond },
  { "^compose 3 on cumsum_masked: line 89, skipped element.*5 / 8.*\"cols\":188", beyond },
  { "^compose %d on layernorm: line 6[126], precision", shift }, { "^compose 1 on normed: line 63, precision", shift },
  { "^compose 1 on layernorm: line 87, wrong constant", left_over }, { "^compose 3 on normed: line 95, precision", left_over },
  { "^compose %d on logsumexp: line %d+, initial value: 'INFINITY'", "it guards infinite rows, which no kind in the default has" },
  { "^compose 3 on argmax: line 62, wrong comparison: '=='", "it decides between NaN, which no kind gives to what chooses an index" },
  { "^compose 4 on masked: line 57, shortened loop", near }, { "^compose 3 on masked: line 75, precision", near },
  { "^honest/logsumexp: line 4, ", near }, { "^honest/wide_softmax: line 23, precision", near },
  { "^honest/softmax: line 23, skipped", near }, { "^honest/softmax: line %d+, precision", near },
  { "^softmax/v5_registers: line 24, precision", near },
  { "^reduce/v5_split: line 34, wrong lanes", same_number }, { "^layernorm/v4_registers: line 44, wrong lanes", same_number },
  { "^matmul/v5_vector: line 33, wrong identity", zero_beside },
  { "^columns/v4_split: line 42, wrong comparison", "of a largest or smallest nothing is lost: what is added is zero" },
  { "^reduce/v4_vector: line 77, wrong comparison", same_number },
  { "^compose %d on %S+: line 22, wrong lanes: '32' became '16'", same_number },
  { "^honest/largest_place: line 3, initial value", "the first element is taken whatever stands there" },
  { "^softmax/v2_%S+: line 19, ", near }, { "^softmax/v3_%S+: line 27, ", near }, { "^honest/softmax: line 8, precision", near },
  { "^honest/masked: line 6, precision", near }, { "^compose %d on allowed: line 66, precision", near },
  { "^columns/v4_split: line 37, .*'%-='", "the sign of what is kept of roundings: without it the error is that of a plain sum, which passes" },
  { "^columns/v4_split: line 42, dropped guard", "the guard is about infinite sums, which are not compared" },
  { "relu: .*wrong comparison: '<' became '<='", "they differ at 0, which either side returns" },
  { "wrong comparison: '>' became '>='", "they differ between equal elements, of which either is the largest" },
  { "^reduce/v3_shuffle: line 43, wrong comparison: '=='", same_number },
  { "^reduce/v5_split: line 34, wrong comparison: '=='", same_number },
  { "^compose 2 on transposed: line 67, wrong comparison: '=='", same_number },
  { "^compose 3 on row_sum: line 73, wrong comparison: '=='", same_number },
  { "^reduce/v4_vector: line 77, dropped guard", same_number },
  { "^linear/v2_tiled: line 2[45], wrong identity", zero_beside },
  { "^matmul/v3_tiled: line 1[89], wrong identity", zero_beside },
  { "^honest/choice: line 2, initial value", "each score is larger by the same number: the largest stays where it is" },
  { "skipped element: .*if %(first == ", "the loop's variable never has this value" },
  { "softmax: line 23, shortened loop", near }, { "^softmax/v[%d]_%S+: line 1[236], ", near },
  { "^softmax/v3_shuffle: line 22, wrong lanes", near }, { "^softmax/v4_online: line 14, wrong operator", near },
  { "^softmax/v6_cluster: line 51, precision", near }, { "^honest/masked: line 6, skipped element", near },
  { "^compose %d on w?i?d?e?_?softmax: line %d+, [sdp][hrkre][ioei]", near }, { "^compose %d on logsumexp: line 67, [dp]", near },
  { "^layernorm/v5_split: line 4[57], missing synchronisation.*\"cols\":%d%d%d?[,}]", one_warp },
  { "^compose 3 on linear_mean: line 105, missing synchronisation", own_numbers },
  { "^compose %d on layernorm: line 61, stale neighbour", shift }, { "^compose %d on affine: line 65, precision", shift },
  { "^compose 4 on layernorm: line 145, wrong constant", left_over },
  { "^compose 4 on normed: line 75, wrong comparison: '=='", same_number },
  { "^compose 3 on linear: line 44, shortened loop", zero_beside },
  { "^compose %d on of_one: line %d+, initial value: 'INFINITY'", "it guards infinite rows, which no kind in the default has" },
  { "^compose 2 on of_one: line 57, shortened loop", near }, { "^honest/wide_softmax: line 23, skipped", near },
  { "^honest/shifted_softmax: line 1[23], [sp]", near }, { "^honest/shifted_softmax: line 4, precision", near },
  { "^compose 2 on cumsum_masked: line 62, wrong comparison: '=='", same_number },
  { "^compose 2 on layernorm: line 144, wrong constant", left_over }, { "^compose 1 on affine: line 97, wrong constant", left_over },
  { "^honest/wide_max: line 11, skipped element.*5 / 8.*\"cols\":1?[0-5]?%d[,}]", "at this size that warp has no element" },
  { "^scan/v5_split: line 174, missing synchronisation", "at this size a block is one warp, and nothing is exchanged" },
}

--- The reason why a mutant may pass, or nil.
return function(says)
  for _, row in ipairs(known) do
    if says:find(row[1]) then return row[2] end
  end
end
