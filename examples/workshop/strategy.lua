-- How candidates are found: another strategy's loop. Try react, single, repair, best_of_n, evolve, beam.
return { base = "ladder" }
