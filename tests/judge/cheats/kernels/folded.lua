local x, w = inputs[1], params["fc.weight"]
launch("folded", { grid = { w.shape[1] // 32, x.shape[1] }, block = 32 }, outputs[1], x, w, params["fc.bias"], params["norm.running_mean"],
       params["norm.running_var"], params["norm.weight"], params["norm.bias"], w.shape[1], w.shape[2])
