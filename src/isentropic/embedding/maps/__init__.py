"""How a new row is placed: by a linear map, by eigenvectors, by geodesics."""
