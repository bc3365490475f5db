// This file is empty: it lets functions without a body be linked to by name.
