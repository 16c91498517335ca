import type { State } from '../state/store';
import type { Call } from '../state/types';
import type { CallOutcome } from './completions';

/** Record fields that only an answered call has. */
const NOT_ANSWERED = {
	duration_seconds: 0,
	call_ended_by: null,
	call_ended_reason: null,
	tag: null,
	call_picked_at: null,
	summary: null,
	data_captured: {},
	post_call_analysis: null,
} as const;

/**
 * The outcome of a call by the last digit of its number: 7 answers from the second call on, 8 never answers, the line
 * of 9 is busy at the first call, and all others answer.
 */
export function outcomeByNumber(state: State, call: Call): CallOutcome {
	const isFirst = !isCalledBefore(state, call);
	const digit = call.phone.at(-1);
	if (digit === '8' || (digit === '7' && isFirst)) return notPicked();
	if (digit === '9' && isFirst) return busy();
	// A call that asks for data points gets one value for each of them.
	return call.request?.data_extraction === undefined ? answered(call) : {};
}

function isCalledBefore(state: State, { callId, phone }: Call): boolean {
	for (const earlier of state.calls.values()) {
		// Calls are in the order of their creation.
		if (earlier.callId === callId) return false;
		if (earlier.phone === phone) return true;
	}
	return false;
}

export function notPicked(): CallOutcome {
	return {
		...NOT_ANSWERED,
		status: 'not_picked',
		call_ended_reason_message: 'Nobody picked up the call',
	};
}

export function busy(): CallOutcome {
	return { ...NOT_ANSWERED, status: 'failed', call_ended_reason_message: 'The line was busy' };
}

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'];

function answered({ phone, callerName }: Call): CallOutcome {
	const digit = Number(phone.at(-1));
	const name = callerName ?? 'The contact';
	if (digit % 3 === 2) {
		return { summary: `${name} isn't interested.`, data_captured: { interested: 'no' } };
	}
	const day = DAYS[digit % DAYS.length] ?? '';
	return {
		summary: `${name} is interested and wants to visit on ${day}.`,
		data_captured: { interested: 'yes', visit_day: day },
	};
}
