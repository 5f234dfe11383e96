"""WebShop (Yao et al., 2022): search, pages, goals and reward, exact and without Java."""
