"""What runs inside Triton: models, backends and the code they share. Imports no Qt."""
