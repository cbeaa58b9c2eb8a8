"""
A graph whose nodes have names
==============================

Your graph comes from networkx and its nodes have names. Perhaps there are features of
the nodes, perhaps there is nothing but the graph. How is it embedded, and how is it
drawn?
"""

# %%
# Who appears with whom
# ---------------------
#
# The characters of *Les Misérables*, linked if they appear in a chapter together;
# the weight is the number of chapters. ``Graph`` takes it as it is, names included.

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd

from graphfold import Graph, GraphKernelPCA, LaplacianEigenmaps, plot, quality

network = nx.les_miserables_graph()
graph = Graph(network)
print(graph)

# %%
# The graph alone
# ---------------
