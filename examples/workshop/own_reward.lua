-- A reward of one's own: any function of what was measured. This one likes kernels with few registers. Is it a good one?
return { reward = function(facts) return facts.ok and 100 / facts.kernels[1].registers or -1 end }
