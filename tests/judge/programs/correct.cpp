#include "right.hpp"
