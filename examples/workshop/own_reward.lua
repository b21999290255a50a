-- A reward of one's own: any function of what was measured.
return { reward = function(facts) return facts.ok and 1e-6 / facts.time_s.median or -1 end }
