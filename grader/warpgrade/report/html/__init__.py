"""Pages of HTML that stand alone: frame, style and elements; one module and one template a section."""
