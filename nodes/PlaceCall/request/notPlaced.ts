/** Values of `not_placed_reason`. */
export const NOT_PLACED_REASONS = {
	callingHours: 'outside_calling_hours',
	callLimit: 'call_limit_reached',
} as const;
