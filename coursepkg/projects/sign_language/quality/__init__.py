"""What is wrong with the clips of a data set, and a plan that cleans what a model learns from."""
