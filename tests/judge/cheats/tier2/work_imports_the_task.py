# what: takes the reference from the task's file
# met by: Kevin; CUDA-Agent's importable model.py
# caught by: jail: the file is not there
# expect: reject
# task: softmax
from softmax import Model


class ModelNew(Model):
    pass
