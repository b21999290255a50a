-- Algorithms that are exact by the norm and not by the element, such as Strassen's products: an error may be as large as the rounding of the
-- largest elements, and lie in any row. Kinds of inputs whose rows have different sizes, or that hold NaN, say nothing of such a kernel.
return { verify = { battery = { "mixed", "integers", "edges" }, huge = { "mixed" } },
         tolerance = { row = 64, far = 0.05, part = 512, slight = 0.2, small = 0.2, few = 0 } }
