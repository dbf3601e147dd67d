"""What the katas with several heads share: steps, layers, probes, mistakes and checks."""
