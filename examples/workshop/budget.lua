-- What a run may spend: two turns. Also seconds, and under `budget` tokens, dollars, device_seconds.
return { turns = 2 }
