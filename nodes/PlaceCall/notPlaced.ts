import { LeftOut } from '../core/claims/deliveries';

/**
 * Why the output says that a call wasn't placed, and when it's possible. `would_call_at`: `now`, or the time as it would be
 * sent. `duplicate_of`: the index of the item that has the number, or null for one of another branch.
 */
type NotPlacedReason =
	| { not_placed_reason: 'outside_calling_hours'; next_opening: string }
	| { not_placed_reason: 'call_limit_reached'; next_call_possible_at: string }
	| { not_placed_reason: 'check_only'; would_call_at: string }
	| { not_placed_reason: 'duplicate_number'; duplicate_of: number | null };

/** The call was deliberately not placed. */
export class NotPlaced extends LeftOut {
	override readonly name = 'NotPlaced';

	/** @param isFinal whether a model must not ask for the call again */
	constructor(message: string, resolution: string, reason: NotPlacedReason, isFinal = false) {
		super(message, resolution, { placed: false, call_id: null, ...reason }, { isFinal });
	}
}

/** A call that is possible at this time. */
export function onlyChecked(would_call_at: string): NotPlaced {
	return new NotPlaced(
		"The call wasn't placed, because 'What to Do' is 'Check Only'",
		`In n8n, set 'What to Do' to 'Place Calls'. The request is valid (time of the call: ${would_call_at}).`,
		{ not_placed_reason: 'check_only', would_call_at },
		true,
	);
}
