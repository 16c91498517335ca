import { istTimestamp } from '../clock';
import { isNonEmptyString, isObject, type JsonObject } from '../json';
import { CUSTOMER_ROLE } from '../state/fixtures';
import type { Agent, Call, State, TranscriptTurn } from '../state/state';
import type { CallOutcome } from './completions';

/** Default record fields of a finished call. */
export function usualOutcome(call: Call, agent: Agent | undefined, now: number): JsonObject {
	return {
		status: 'picked',
		call_type: 'outbound',
		channel: 'sip',
		duration_seconds: 42,
		call_ended_by: 'agent',
		call_ended_reason: 'assistant-ended-call',
		call_ended_reason_message: 'The assistant ended the call after saying goodbye',
		tag: { id: 7, name: 'Interested', color_code: '#2E7D32' },
		call_picked_at: istTimestamp(now - 42_000),
		summary: `${call.callerName ?? 'The contact'} was reached and is interested.`,
		data_captured: captured(call.request),
		...(agent?.postCallAnalysis === true
			? { post_call_analysis: { sentiment: 'positive', callback_required: false } }
			: {}),
	};
}

/** One value for each data point that was asked for. */
function captured(request: JsonObject | null): JsonObject {
	const points = Array.isArray(request?.data_extraction) ? request.data_extraction : [];
	return Object.fromEntries(
		points
			.filter(isObject)
			.map((point, index) => [
				isNonEmptyString(point.key) ? point.key : `point_${index + 1}`,
				`answer ${index + 1}`,
			]),
	);
}

export function usualTranscript(now: number): TranscriptTurn[] {
	const lines = [
		['assistant', 'Hello, do you have a minute?'],
		[CUSTOMER_ROLE, 'Yes, go ahead.'],
		['assistant', 'Thank you. Goodbye.'],
	] as const;
	return lines.map(([role, content], index) => ({
		role,
		content,
		timestamp: istTimestamp(now - 42_000 + index * 5000),
	}));
}

/** A short, silent, valid WAV file. */
export function usualRecording(): Buffer {
	const samples = Buffer.alloc(1600, 128);
	const header = Buffer.alloc(44);
	header.write('RIFF', 0);
	header.writeUInt32LE(36 + samples.length, 4);
	header.write('WAVEfmt ', 8);
	header.writeUInt32LE(16, 16);
	header.writeUInt16LE(1, 20);
	header.writeUInt16LE(1, 22);
	header.writeUInt32LE(8000, 24);
	header.writeUInt32LE(8000, 28);
	header.writeUInt16LE(1, 32);
	header.writeUInt16LE(8, 34);
	header.write('data', 36);
	header.writeUInt32LE(samples.length, 40);
	return Buffer.concat([header, samples]);
}

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

export const NOT_PICKED: CallOutcome = {
	...NOT_ANSWERED,
	status: 'not_picked',
	call_ended_reason_message: 'Nobody picked up the call',
};

export const BUSY: CallOutcome = {
	...NOT_ANSWERED,
	status: 'failed',
	call_ended_reason_message: 'The line was busy',
};

/**
 * The outcome of a call by the last digit of its number: 7 answers from the second call on, 8 never answers, the line
 * of 9 is busy at the first call, and all others answer.
 */
export function outcomeByNumber({ calls }: State, call: Call): CallOutcome {
	// Calls are in the order of their creation.
	const first = [...calls.values()].find(({ phone }) => phone === call.phone);
	const isFirst = first?.callId === call.callId;
	const digit = call.phone.at(-1);
	if (digit === '8' || (digit === '7' && isFirst)) return NOT_PICKED;
	if (digit === '9' && isFirst) return BUSY;
	// A call that asks for data points gets one value for each of them.
	return call.request?.data_extraction === undefined ? answered(call) : {};
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
