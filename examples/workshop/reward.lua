-- What a turn is worth: here the logarithm of the speed-up, in place of four tiers.
return { reward = "reward-log-speedup" }
