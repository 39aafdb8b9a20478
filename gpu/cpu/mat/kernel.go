package mat

func mulQuant(t *task) { mulGo(t) }

func quantize(dst []uint32, c, w int, x []float32) { quantizeGo(dst, c, w, x) }
