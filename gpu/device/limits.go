package device

// SetLimitsForTest makes the device look smaller than it is, so that what small devices need can be tested on any.
func (d *Device) SetLimitsForTest(l Limits) { d.setLimits(l) }
