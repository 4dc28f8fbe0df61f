"""What is run, saved and resumed.

``records``      what an experiment, a cell and a run are
``sweep``        the engine: each cell once, kept at once, then the data files
``cells``        finished and unfinished cells on disk
``workspace``    where a cell that runs for minutes saves its state
``executors``    who computes: this process or a dask cluster
``artefacts``    data files with their manifest
``fingerprint``  one word for all that can change a number
``catalogue``    the experiments by name, each in a module of its own
"""
