-- No rule at all: only what verification itself finds. To show the difference.
return { rules = {} }
