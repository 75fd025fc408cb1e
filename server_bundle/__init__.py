"""What runs inside Triton: models, backends and the code they share. No Qt, nothing of `desktop`."""
